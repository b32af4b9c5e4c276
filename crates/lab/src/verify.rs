//! Compares the data of two stores: the same keys, and under each the same bytes.

use std::{
    ops::ControlFlow,
    path::Path,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::{self, ScopedJoinHandle},
};

use model::{Error, Item, Key, Result, Scan, Store};

use crate::{
    Amount, Place, Progress, Stop,
    dataset::sorted_keys::{SortedKeys, ascending},
    progress::tick,
};

/// What two stores have in common, and what differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Keys with the same bytes on both sides.
    pub same: u64,
    /// Those bytes, counted once.
    pub bytes: u64,
    /// Keys that only the first store has.
    pub missing: Differences,
    /// Keys that only the second store has.
    pub extra: Differences,
    /// Keys whose bytes differ.
    pub different: Differences,
    /// The digest of either dataset, in hex, to compare across machines. It is the BLAKE3 hash
    /// of every item in key order: the key (an integer as 8 bytes; a name after its length),
    /// the length of the value, the BLAKE3 hash of the value. Lengths are 8 bytes; numbers are
    /// little-endian.
    pub digests: [String; 2],
}

impl Verified {
    /// Whether both hold the same.
    pub fn is_equal(&self) -> bool {
        self.missing.count + self.extra.count + self.different.count == 0
    }
}

/// Keys of one kind of difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// All of them.
    pub count: u64,
    /// The first in key order, at most [`Differences::SHOWN`].
    pub first: Vec<String>,
}

impl Differences {
    /// How many keys are named.
    pub const SHOWN: usize = 20;

    fn add(&mut self, key: Key<'_>) {
        self.count += 1;
        if self.first.len() < Self::SHOWN {
            self.first.push(key.to_string());
        }
    }
}

/// Compares two stores key by key, by the BLAKE3 hashes of their values. Modes and times of
/// named values are not compared: not every engine keeps them.
/// A store that reading would change is read as a copy, in `scratch` (default: next to it).
pub fn verify(
    [a, b]: [&Place; 2],
    scratch: Option<&Path>,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Verified> {
    let readable = |place: &Place| {
        place.check_room(scratch)?;
        place.readable(scratch, progress, stop)
    };
    let places = [readable(a)?, readable(b)?];
    let stores = [places[0].place.open()?, places[1].place.open()?];
    let [kind, other] = [stores[0].keys(), stores[1].keys()];
    let paths = [&*a.path, &*b.path];
    let shown = paths.map(Path::display);
    if kind != other {
        return Err(Error::usage(format!(
            "{} holds {kind} and {} holds {other}; only keys of one kind can be compared",
            shown[0], shown[1]
        )));
    }
    progress.stage("counting", None);
    let count = Amount::of(&*stores[0], stop)?.count;
    progress.stage(&format!("comparing {} with {}", shown[0], shown[1]), Some(count));
    let verified = compare([(&*stores[0], paths[0]), (&*stores[1], paths[1])], progress, stop)?;
    for store in stores {
        store.close()?;
    }
    Ok(verified)
}

/// Each store is read and hashed on a thread of its own; this one merges.
fn compare(
    stores: [(&dyn Store, &Path); 2],
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Verified> {
    thread::scope(|scope| {
        let [(left, a), (right, b)] = stores.map(|(store, path)| {
            let (sender, receiver) = sync_channel(4);
            (scope.spawn(move || hash(store, path, &sender, stop)), Column::new(receiver, path))
        });
        let merged = merge(a, b, progress);
        // A reader that failed ends its column early: its error is the cause.
        let digests = [finish(left)?, finish(right)?];
        Ok(Verified { digests, ..merged? })
    })
}

fn finish<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// What identifies a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Print {
    length: u64,
    digest: blake3::Hash,
}

/// Rows per message between threads.
const ROWS: usize = 256;

/// Sends the prints of all items; returns the digest of the dataset.
fn hash(
    store: &dyn Store,
    path: &Path,
    sender: &SyncSender<SortedKeys<Print>>,
    stop: &Stop,
) -> Result<String> {
    let mut whole = blake3::Hasher::new();
    let mut sheet = SortedKeys::new();
    store.session()?.scan(Scan::ALL, &mut |item| {
        stop.check()?;
        let print = Print { length: item.value.len() as u64, digest: blake3::hash(item.value) };
        absorb(&mut whole, &item, &print);
        sheet.push(item.key, print).map_err(|e| e.context(path.display()))?;
        if sheet.len() == ROWS
            && sender.send(std::mem::replace(&mut sheet, SortedKeys::new())).is_err()
        {
            // The merging thread has failed, and returns why.
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let _ = sender.send(sheet);
    Ok(whole.finalize().to_hex().to_string())
}

fn absorb(whole: &mut blake3::Hasher, item: &Item<'_>, print: &Print) {
    match item.key {
        Key::Int(key) => whole.update(&key.to_le_bytes()),
        Key::Name(name) => whole.update(&(name.len() as u64).to_le_bytes()).update(name),
    };
    whole.update(&print.length.to_le_bytes()).update(print.digest.as_bytes());
}

/// One store's rows as they arrive, in key order.
struct Column<'p> {
    path: &'p Path,
    receiver: Receiver<SortedKeys<Print>>,
    sheet: SortedKeys<Print>,
    row: usize,
}

impl<'p> Column<'p> {
    fn new(receiver: Receiver<SortedKeys<Print>>, path: &'p Path) -> Self {
        Self { path, receiver, sheet: SortedKeys::new(), row: 0 }
    }

    /// Waits until there is a row, or the store has no more.
    fn fill(&mut self) -> Result<()> {
        while self.row == self.sheet.len()
            && let Ok(next) = self.receiver.recv()
        {
            if let (Some(before), Some((after, _))) = (self.sheet.last(), next.get(0)) {
                ascending(before, after).map_err(|e| e.context(self.path.display()))?;
            }
            (self.sheet, self.row) = (next, 0);
        }
        Ok(())
    }

    fn peek(&self) -> Option<(Key<'_>, &Print)> {
        self.sheet.get(self.row)
    }
}

fn merge(mut a: Column<'_>, mut b: Column<'_>, progress: &dyn Progress) -> Result<Verified> {
    let mut verified = Verified::default();
    for done in 1.. {
        a.fill()?;
        b.fill()?;
        let (left, right) = match (a.peek(), b.peek()) {
            (None, None) => break,
            (left, right) => one(left, right, &mut verified),
        };
        a.row += usize::from(left);
        b.row += usize::from(right);
        tick(progress, done);
    }
    Ok(verified)
}

/// Judges the lesser of two keys; returns which columns it was taken from.
fn one(
    a: Option<(Key<'_>, &Print)>,
    b: Option<(Key<'_>, &Print)>,
    verified: &mut Verified,
) -> (bool, bool) {
    match (a, b) {
        (Some((key, print)), Some((other, its))) if key == other => {
            if print == its {
                verified.same += 1;
                verified.bytes += print.length;
            } else {
                verified.different.add(key);
            }
            (true, true)
        }
        (Some((key, _)), other) if other.is_none_or(|(other, _)| key < other) => {
            verified.missing.add(key);
            (true, false)
        }
        (_, Some((key, _))) => {
            verified.extra.add(key);
            (false, true)
        }
        (_, None) => (false, false),
    }
}
