//! Compares the data of two stores: the same keys, and under each the same bytes.

use std::{
    cmp::Ordering,
    ops::ControlFlow,
    path::Path,
    sync::mpsc::{SyncSender, sync_channel},
    thread,
};

use model::{Error, Item, Key, Result, Scan, Store};

use crate::{
    Amount, Place, Progress, Stop,
    dataset::{OwnedKey, push_sorted},
    progress::tick,
};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Keys with the same bytes on both sides.
    pub same: u64,
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
    pub fn is_equal(&self) -> bool {
        self.missing.count + self.extra.count + self.different.count == 0
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    pub count: u64,
    /// The first in key order, at most [`Differences::SHOWN`].
    pub first: Vec<String>,
}

impl Differences {
    pub const SHOWN: usize = 20;

    fn add(&mut self, key: &OwnedKey) {
        self.count += 1;
        if self.first.len() < Self::SHOWN {
            self.first.push(key.as_key().to_string());
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
            let reader = move || hash(store, path, &sender, stop);
            (scope.spawn(reader), receiver.into_iter().flatten())
        });
        let verified = merge(a, b, progress);
        // A reader that failed ends its rows early.
        let digests = [crate::join(left)?, crate::join(right)?];
        Ok(Verified { digests, ..verified })
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Print {
    length: u64,
    digest: blake3::Hash,
}

type Row = (OwnedKey, Print);

const ROWS: usize = 256;

/// Sends the prints of all items; returns the digest of the dataset.
fn hash(
    store: &dyn Store,
    path: &Path,
    sender: &SyncSender<Vec<Row>>,
    stop: &Stop,
) -> Result<String> {
    let mut whole = blake3::Hasher::new();
    let mut rows = Vec::new();
    store.session()?.scan(Scan::ALL, &mut |item| {
        stop.check()?;
        let print = Print { length: item.value.len() as u64, digest: blake3::hash(item.value) };
        absorb(&mut whole, &item, &print);
        push_sorted(&mut rows, item.key, print).map_err(|e| e.context(path.display()))?;
        if rows.len() > ROWS {
            // The last one stays: the next key has to come after it.
            let _ = sender.send(rows.drain(..ROWS).collect());
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let _ = sender.send(rows);
    Ok(whole.finalize().to_hex().to_string())
}

fn absorb(whole: &mut blake3::Hasher, item: &Item<'_>, print: &Print) {
    match item.key {
        Key::Int(key) => whole.update(&key.to_le_bytes()),
        Key::Name(name) => whole.update(&(name.len() as u64).to_le_bytes()).update(name),
    };
    whole.update(&print.length.to_le_bytes()).update(print.digest.as_bytes());
}

fn merge(
    a: impl Iterator<Item = Row>,
    b: impl Iterator<Item = Row>,
    progress: &dyn Progress,
) -> Verified {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    let mut verified = Verified::default();
    for done in 1.. {
        // The lesser of two keys is judged; without one, the other.
        let order = match (a.peek(), b.peek()) {
            (Some((left, _)), Some((right, _))) => left.cmp(right),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => break,
        };
        let left = if order.is_le() { a.next() } else { None };
        let right = if order.is_ge() { b.next() } else { None };
        match (left, right) {
            (Some((_, print)), Some((_, other))) if print == other => {
                verified.same += 1;
                verified.bytes += print.length;
            }
            (Some((key, _)), Some(_)) => verified.different.add(&key),
            (Some((key, _)), None) => verified.missing.add(&key),
            (None, Some((key, _))) => verified.extra.add(&key),
            (None, None) => {}
        }
        tick(progress, done);
    }
    verified
}
