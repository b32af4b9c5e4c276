//! The operations of a pass where they are drawn: what is done, with which key, how far a scan
//! goes. All of it is drawn before any clock starts, from the round's seed, so that every target
//! is asked for the same operations in the same order; 24 bytes an operation.
//!
//! A worker's keys are its own: every so many-th of the dataset, and those that it inserts. So
//! which are there is known at each step, and one that is not found is an error.

pub(super) mod keys;

use std::collections::BTreeMap;

use model::{Action, BlobWork, Error, Key, KeyKind, LONGEST_SCAN, Mix, Operation, Result};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Op;
use crate::dataset::{Dataset, Entry, below};
use keys::{KeyChooser, one_of};

/// An operation that was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DrawnOp {
    /// Index of the key: in the dataset, in key order, or beyond it in the keys that are inserted.
    key: u32,
    /// The entry of the key, copied so that a pass goes through memory from start to end.
    entry: Entry,
    action: Action,
    /// Items of a scan at most.
    items: u8,
    /// Items of a scan that always exist.
    least: u8,
}

/// The ops of all workers of a round.
pub(crate) struct OpStream {
    workers: Vec<Vec<DrawnOp>>,
    /// Keys that are inserted.
    fresh: Dataset,
    /// Keys of the dataset.
    keys: u32,
}

impl OpStream {
    /// Draws `counts` operations of each worker over `dataset`, whose entries are in key order.
    pub(crate) fn draw(
        work: BlobWork,
        dataset: &Dataset,
        counts: &[u64],
        seed: u64,
    ) -> Result<Self> {
        let keys = u32::try_from(dataset.entries().len()).map_err(|_| too_many())?;
        let among = Among { keys, workers: u32::try_from(counts.len()).map_err(|_| too_many())? };
        let mut workers = (0..among.workers)
            .zip(counts)
            .map(|(worker, count)| {
                let seed = seed ^ u64::from(worker) << 48;
                among.ops(worker, work, *count, seed)
            })
            .collect::<Result<Vec<_>>>()?;
        let inserted = |ops: &Vec<DrawnOp>| ops.iter().map(|op| op.key).max();
        let last = workers.iter().filter_map(inserted).max().unwrap_or(0);
        let inserts = (u64::from(last) + 1).saturating_sub(keys.into());
        let fresh = match inserts {
            0 => Dataset::new(dataset.keys()),
            inserts => dataset.fresh(inserts, seed)?,
        };
        for op in workers.iter_mut().flatten() {
            let inserted = op.key.checked_sub(keys);
            let set = if inserted.is_none() { dataset } else { &fresh };
            op.entry = set.entries()[inserted.unwrap_or(op.key) as usize];
        }
        Ok(Self { workers, fresh, keys })
    }

    /// Returns the first `count` operations of `worker`.
    #[expect(clippy::cast_possible_truncation, reason = "as many as are in memory at most")]
    pub(crate) fn ops<'a>(
        &'a self,
        dataset: &'a Dataset,
        worker: usize,
        count: u64,
    ) -> impl Iterator<Item = Op<'a>> + Clone {
        self.workers[worker][..count as usize].iter().map(move |op| {
            let set = if op.key < self.keys { dataset } else { &self.fresh };
            let key = set.key(&op.entry);
            Op { action: op.action, key, size: op.entry.size, items: op.items, least: op.least }
        })
    }

    /// Returns the keys that the first `counts` operations of the workers leave changed: those to
    /// remove, and those to put back, each with its length.
    pub(crate) fn changed<'a>(
        &'a self,
        dataset: &'a Dataset,
        counts: impl Iterator<Item = u64>,
    ) -> Vec<Changed<'a>> {
        let mut changed = BTreeMap::new();
        for (ops, count) in self.workers.iter().zip(counts) {
            for (op, _) in ops.iter().zip(0..count) {
                if matches!(op.action, Action::Insert | Action::Delete) {
                    changed.insert(op.key, op);
                }
            }
        }
        let keys = changed.into_values().filter_map(|op| {
            let (added, fresh) = (op.action == Action::Insert, op.key >= self.keys);
            let set = if fresh { &self.fresh } else { dataset };
            let change = || Changed { key: set.key(&op.entry), size: op.entry.size, added };
            (added == fresh).then(change)
        });
        keys.collect()
    }
}

/// A key that is there though it should not be, or the other way round.
pub(crate) struct Changed<'a> {
    pub(crate) key: Key<'a>,
    pub(crate) size: u32,
    pub(crate) added: bool,
}

/// The start of the names of inserted values, unless a name of the dataset starts with it.
const PREFIX: &str = "new-";

impl Dataset {
    /// Creates `count` keys that this dataset does not have, as long as some of its values:
    /// integers follow its largest, names start as none of its own does.
    #[expect(clippy::cast_possible_truncation, reason = "below the number of entries")]
    fn fresh(&self, count: u64, seed: u64) -> Result<Self> {
        let greatest = || match self.entries().iter().map(|entry| self.key(entry)).max() {
            Some(Key::Int(greatest)) => greatest,
            _ => 0,
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut fresh = Self::new(self.keys());
        let (greatest, prefix) = match self.keys() {
            KeyKind::Integers => (greatest(), String::new()),
            KeyKind::Names => (0, self.unused_prefix()),
        };
        for number in 1..=count {
            let like = below(&mut random, self.entries().len() as u64) as usize;
            let name = format!("{prefix}{number:08}");
            let key = match self.keys() {
                KeyKind::Integers => {
                    Key::Int(greatest.checked_add_unsigned(number).ok_or_else(|| {
                        Error::usage(format!("no key is left to insert beyond {greatest}"))
                    })?)
                }
                KeyKind::Names => Key::Name(name.as_bytes()),
            };
            fresh.push_sized(key, self.entries()[like].size)?;
        }
        Ok(fresh)
    }

    pub(in crate::workload) fn unused_prefix(&self) -> String {
        let mut prefix = PREFIX.to_owned();
        let used = |prefix: &str| {
            let mut keys = self.entries().iter().map(|entry| self.key(entry));
            keys.any(|key| matches!(key, Key::Name(name) if name.starts_with(prefix.as_bytes())))
        };
        while used(&prefix) {
            prefix.push('-');
        }
        prefix
    }
}

fn too_many() -> Error {
    Error::usage("more than 4 billion keys cannot be drawn at random")
}

/// The division of keys among workers: worker `i` of `n` has the keys `i`, `i + n`, `i + 2n`, …
#[derive(Clone, Copy)]
struct Among {
    keys: u32,
    workers: u32,
}

impl Among {
    /// Returns the number of keys of the dataset that are a worker's own.
    fn own_keys(self, worker: u32) -> u32 {
        (self.keys + self.workers - 1 - worker) / self.workers
    }

    /// Returns the index of a worker's key among all. Worker `i` of `n` has the keys `i`, `i + n`,
    /// `i + 2n`, …, and inserted keys in the same way after those of the dataset.
    fn index(self, worker: u32, key: u32) -> Option<u32> {
        let (first, nth) = match key.checked_sub(self.own_keys(worker)) {
            None => (0, key),
            Some(inserted) => (self.keys, inserted),
        };
        nth.checked_mul(self.workers)?.checked_add(worker)?.checked_add(first)
    }

    fn ops(self, worker: u32, work: BlobWork, count: u64, seed: u64) -> Result<Vec<DrawnOp>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mix = mix(work.operation);
        let mut ops: Vec<DrawnOp> = (0..count).map(|_| blank(mix, &mut random)).collect();
        let inserts = ops.iter().filter(|op| op.action == Action::Insert).count();
        let own = self.own_keys(worker);
        let inserts = u32::try_from(inserts).ok().filter(|n| own.checked_add(*n).is_some());
        let mut keys = KeyChooser::new(own, inserts.ok_or_else(too_many)?, work.order, &mut random);
        for op in &mut ops {
            let key = match op.action {
                Action::Insert => keys.insert(),
                _ => keys.choose(&mut random).ok_or_else(|| used_up(own))?,
            };
            if op.action == Action::Delete {
                keys.delete(key);
            }
            op.key = self.index(worker, key).ok_or_else(too_many)?;
            op.least = self.least(*op, mix);
        }
        Ok(ops)
    }

    /// Items that a scan always finds: its own key; and all beyond it where nobody deletes.
    fn least(self, op: DrawnOp, mix: Mix) -> u8 {
        let beyond =
            if mix.share(Action::Delete) > 0 { 1 } else { self.keys.saturating_sub(op.key).max(1) };
        op.items.min(u8::try_from(beyond).unwrap_or(u8::MAX))
    }
}

/// Returns the actions of an operation with their chances.
fn mix(operation: Operation) -> Mix {
    match operation {
        Operation::Mix(mix) => mix,
        other if other.writes() => Mix::new([(Action::Update, 100)]),
        _ => Mix::new([(Action::Read, 100)]),
    }
}

/// Draws an operation whose key is not chosen yet.
fn blank(mix: Mix, random: &mut impl Rng) -> DrawnOp {
    let mut drawn = below(random, 100);
    let action = mix.actions().find(|action| {
        let share = u64::from(mix.share(*action));
        let here = drawn < share;
        drawn = drawn.saturating_sub(share);
        here
    });
    let action = action.expect("the shares of a mix add up to 100");
    let items = match action {
        Action::Scan => 1 + one_of(LONGEST_SCAN.into(), random),
        _ => 0,
    };
    DrawnOp {
        key: 0,
        entry: Entry::default(),
        action,
        items: u8::try_from(items).unwrap_or(LONGEST_SCAN),
        least: 0,
    }
}

fn used_up(keys: u32) -> Error {
    Error::usage(format!(
        "the mix deletes all {keys} keys of a worker before a pass is over: a smaller --count, or \
         more keys, leaves some"
    ))
}

#[cfg(test)]
mod tests;
