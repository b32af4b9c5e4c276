//! Any sequence of operations leaves a store as it leaves a map in memory.

use std::collections::BTreeMap;

use model::{Access, How, Mode, OwnedKey, Put, Session};

use crate::{
    case::Case,
    ease::{Ease, bytes},
    fault::{Checked, Fault, same, same_items},
};

/// An operation of a sequence. Keys are few, so that most exist.
#[derive(Clone, Copy, Debug)]
enum Op {
    Put {
        key: i64,
        length: usize,
        how: How,
    },
    Delete(i64),
    Get(i64),
    Scan,
    ScanFrom(i64, u64),
    /// Begins a batch, or ends it.
    Batch,
    Reopen,
}

/// The sequences that each case goes through; fewer for a server, which takes longer to start.
const SEQUENCES: u64 = 12;
const OF_SERVER: u64 = 2;
const LONGEST: u64 = 40;
/// The operations of one more sequence, without settings and without closing the store: a fault may come with one
/// delete in thirty.
const LONG: usize = 1000;

/// Numbers that differ from seed to seed, and are the same in every run.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % most
    }

    fn index(&mut self, most: u64) -> usize {
        usize::try_from(self.below(most)).unwrap_or_default()
    }

    fn key(&mut self) -> i64 {
        self.below(6).cast_signed() - 2
    }

    fn op(&mut self) -> Op {
        match self.below(16) {
            0..6 => {
                let how = [How::Upsert, How::Insert, How::Update][self.index(3)];
                Op::Put { key: self.key(), length: self.index(6000), how }
            }
            6 | 7 => Op::Delete(self.key()),
            8..11 => Op::Get(self.key()),
            11 => Op::Scan,
            12 | 13 => Op::ScanFrom(self.key(), self.below(5)),
            14 => Op::Batch,
            _ => Op::Reopen,
        }
    }
}

type Expected = BTreeMap<OwnedKey, Vec<u8>>;

/// Applies operations to a session and to the map.
fn apply(case: &Case, session: &mut dyn Session, ops: &[Op], map: &mut Expected) -> Checked {
    let mut in_batch = false;
    for (n, op) in (0..).zip(ops) {
        match *op {
            Op::Put { key, length, how } => {
                let (key, value) = (case.key(key), bytes(n, length));
                let allowed = match how {
                    How::Upsert => true,
                    How::Insert => !map.contains_key(&key),
                    How::Update => map.contains_key(&key),
                };
                let answer = session.put(key.as_key(), &value, &Put::new(how))?;
                same("the answer of a put", answer, allowed)?;
                if allowed {
                    map.insert(key, value);
                }
            }
            Op::Delete(key) => {
                let key = case.key(key);
                let existed = map.remove(&key).is_some();
                same("the answer of a delete", session.delete(key.as_key())?, existed)?;
            }
            Op::Get(key) => {
                let key = case.key(key);
                same("a value", session.value(&key)?, map.get(&key).cloned())?;
            }
            Op::Scan => is_map(session, map)?,
            Op::ScanFrom(key, limit) => {
                let from = case.key(key);
                let beyond = map.range(&from..).zip(0..limit);
                let expected: Vec<_> = beyond.map(|((k, v), _)| (k.clone(), v.clone())).collect();
                same_items("a scan from a key", &session.items_from(&from, limit)?, &expected)?;
            }
            Op::Batch if in_batch => session.commit()?,
            Op::Batch => session.begin(Mode::Write)?,
            // Sequences are split there.
            Op::Reopen => {}
        }
        in_batch ^= matches!(op, Op::Batch);
    }
    if in_batch {
        session.commit()?;
    }
    Ok(())
}

fn is_map(session: &mut dyn Session, map: &Expected) -> Checked {
    let expected: Vec<_> = map.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    same_items("a scan", &session.items()?, &expected)
}

fn check(case: &Case, ops: &[Op]) -> Checked {
    let place = case.new_folder()?;
    let mut map = Expected::new();
    let mut store = case.create(&place.path)?;
    for ops in ops.split(|op| matches!(op, Op::Reopen)) {
        apply(case, &mut *store.session()?, ops, &mut map)?;
        if case.is_persistent() {
            store.close()?;
            store = case.open(&place.path, Access::Write)?;
        }
    }
    is_map(&mut *store.session()?, &map)
}

/// Leaves out operations as long as what is left still fails, and returns that with its fault.
fn shortest(
    mut ops: Vec<Op>,
    mut fault: Fault,
    fails: impl Fn(&[Op]) -> Option<Fault>,
) -> (Vec<Op>, Fault) {
    let mut at = ops.len();
    while at > 0 {
        at -= 1;
        let mut fewer = ops.clone();
        fewer.remove(at);
        if let Some(other) = fails(&fewer) {
            (ops, fault) = (fewer, other);
        }
    }
    (ops, fault)
}

pub(crate) fn any_sequence_of_operations_equals_a_map(case: &Case) -> Checked {
    let sequences = if case.is_server() { OF_SERVER } else { SEQUENCES };
    for seed in 1..=sequences {
        let mut drawn = Drawn(seed);
        let count = 1 + drawn.below(LONGEST);
        let ops: Vec<_> = (0..count).map(|_| drawn.op()).collect();
        let Err(fault) = check(case, &ops) else { continue };
        let (ops, fault) = shortest(ops, fault, |ops| check(case, ops).err());
        return Err(fault.within(format_args!("after {ops:?}")));
    }
    if case.settings == case.base && !case.is_server() { long_sequence(case) } else { Ok(()) }
}

/// Makes one more sequence, in which a fault may be rare.
fn long_sequence(case: &Case) -> Checked {
    let mut drawn = Drawn(SEQUENCES + 1);
    let ops = std::iter::repeat_with(|| drawn.op()).filter(|op| !matches!(op, Op::Reopen));
    let ops: Vec<_> = ops.take(LONG).collect();
    let Err(fault) = check(case, &ops) else { return Ok(()) };
    let (ops, fault) = beginning(&ops, fault, |ops| check(case, ops).err());
    let count = ops.len();
    Err(fault.within(format_args!(
        "after {count} operations, the last of which is {:?}",
        ops[count - 1]
    )))
}

/// Returns the shortest beginning of `ops` that fails, if no longer one succeeds, with its fault. A fault that comes
/// with every so many operations is not shown by fewer in between.
fn beginning(
    ops: &[Op],
    mut fault: Fault,
    fails: impl Fn(&[Op]) -> Option<Fault>,
) -> (&[Op], Fault) {
    let (mut passes, mut count) = (0, ops.len());
    while passes + 1 < count {
        let middle = passes.midpoint(count);
        match fails(&ops[..middle]) {
            Some(earlier) => (count, fault) = (middle, earlier),
            None => passes = middle,
        }
    }
    (&ops[..count], fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_left_out_of_a_sequence() {
        let fails = |ops: &[Op]| {
            let deletes = ops.iter().position(|op| matches!(op, Op::Delete(1)))?;
            ops[deletes..].iter().any(|op| matches!(op, Op::Scan)).then(|| Fault::new("it"))
        };
        let mut ops = vec![Op::Get(1), Op::Delete(1), Op::Get(2), Op::Batch, Op::Scan, Op::Scan];
        ops.extend([Op::Get(1); 20]);
        let (ops, _) = shortest(ops, Fault::new("it"), fails);
        assert!(matches!(&ops[..], [Op::Delete(1), Op::Scan]), "{ops:?}");
    }

    #[test]
    fn a_long_sequence_ends_with_the_first_operation_that_fails() {
        let ops = [[Op::Get(1); 70].as_slice(), &[Op::Delete(3)], &[Op::Scan; 50]].concat();
        let fails =
            |ops: &[Op]| ops.iter().any(|op| matches!(op, Op::Delete(3))).then(|| Fault::new("it"));
        let (shown, _) = beginning(&ops, Fault::new("it"), fails);
        assert_eq!(shown.len(), 71);
        assert!(matches!(shown.last(), Some(Op::Delete(3))));
    }

    #[test]
    fn sequences_have_operations_of_all_kinds() {
        let mut drawn = Drawn(1);
        let all: Vec<_> = (0..1000).map(|_| drawn.op()).collect();
        let kinds: std::collections::BTreeSet<_> = all
            .iter()
            .map(|op| format!("{op:?}").split(['(', ' ']).next().map(str::to_owned))
            .collect();
        assert_eq!(kinds.len(), 7, "{kinds:?}");
    }
}
