//! Compares the data of two stores: the same keys, and under each the same bytes. Or checks one: all
//! of it can be read, and what its engine has against damage finds none.

use std::{
    cmp::Ordering,
    collections::BTreeMap,
    ops::ControlFlow,
    path::Path,
    sync::mpsc::{SyncSender, sync_channel},
    thread,
};

use model::{
    Entry, EntryKind, Error, ErrorKind, Item, Key, Meta, OwnedKey, Result, Scan, Store, ValueType,
};

use crate::{
    Amount, Progress, Stop, StoreLocation,
    copy::{LARGE, Readable, Suffixed, ValueRoom},
    dataset::push_sorted,
    progress::tick,
};

/// The contents of one side of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreTotals {
    /// Number of values.
    pub values: u64,
    /// Bytes of the values.
    pub bytes: u64,
    /// Entries that are no values ([`Store::left_out`]).
    pub others: u64,
}

/// The result of a comparison of two stores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Keys with the same bytes on both sides, and the same mode and time if both have them.
    pub same: u64,
    /// Bytes of the values that are the same.
    pub bytes: u64,
    /// Keys and other entries that only the first store has.
    pub missing: Differences,
    /// Keys and other entries that only the second store has.
    pub extra: Differences,
    /// Keys whose bytes or types differ, and links that lead elsewhere.
    pub different: Differences,
    /// Keys with the same bytes and another mode or time.
    pub other_meta: Differences,
    /// The contents of each store.
    pub totals: [StoreTotals; 2],
    /// The digest of either dataset, in hex, to compare across machines. It is the BLAKE3 hash
    /// of every item in key order: the key (an integer as 8 bytes; a name after its length),
    /// the length of the value, the BLAKE3 hash of the value, and its type unless that is bytes.
    /// Lengths are 8 bytes; numbers are little-endian.
    pub digests: [String; 2],
    /// The damage that ended the comparison, with its store; nothing else is known then.
    pub damage: Option<String>,
}

impl Verified {
    /// Reports whether both stores have the same keys and bytes.
    pub fn is_equal(&self) -> bool {
        let Self { missing, extra, different, other_meta, damage, .. } = self;
        damage.is_none()
            && [missing, extra, different, other_meta].iter().all(|found| found.count == 0)
    }
}

/// The keys that differ in some way: their number, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Number of keys.
    pub count: u64,
    /// The first in key order, at most [`Differences::SHOWN`].
    pub first: Vec<String>,
}

impl Differences {
    /// The largest number of keys that are named.
    pub const SHOWN: usize = 20;

    fn add(&mut self, what: &impl ToString) {
        self.count += 1;
        if self.first.len() < Self::SHOWN {
            self.first.push(what.to_string());
        }
    }
}

/// Compares two stores key by key: by the BLAKE3 hashes of their values, by types, and by modes and
/// times where both keep them; then what they hold besides values.
/// The keys of the first count with `key_suffix` at their ends, as a copy with that ending has them.
/// A store that reading would change is read as a copy, in `scratch` (default: next to it).
///
/// # Errors
///
/// Fails if a store cannot be opened or read, or the user stops the comparison. Damage that is found while
/// a store is read is returned.
pub fn verify(
    [a, b]: [&StoreLocation; 2],
    key_suffix: Option<&str>,
    scratch: Option<&Path>,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Verified> {
    let [first, second] =
        [readable(a, scratch, progress, stop)?, readable(b, scratch, progress, stop)?];
    let names = |error| first.names(second.names(error));
    let stores = [first.place.open().map_err(names)?, second.place.open().map_err(names)?];
    let verified = verify_open(
        [&first.place, &second.place],
        stores,
        [&a.shown(), &b.shown()],
        key_suffix,
        (progress, stop),
    );
    match verified.map_err(names) {
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            Ok(Verified { damage: Some(error.to_string()), ..Verified::default() })
        }
        verified => verified,
    }
}

fn verify_open(
    places: [&StoreLocation; 2],
    stores: [Box<dyn Store>; 2],
    shown: [&str; 2],
    key_suffix: Option<&str>,
    (progress, stop): (&dyn Progress, &Stop),
) -> Result<Verified> {
    let suffixed = key_suffix.map(|suffix| Suffixed { store: &*stores[0], suffix });
    let first = suffixed.as_ref().map_or(&*stores[0], |first| first as &dyn Store);
    let [kind, other] = [first.keys(), stores[1].keys()];
    if kind != other {
        return Err(Error::usage(format!(
            "{} holds {kind} and {} holds {other}; only keys of one kind can be compared",
            shown[0], shown[1]
        )));
    }
    progress.stage("counting", None);
    let mut sizes = Vec::new();
    for ((place, store), shown) in places.iter().zip(&stores).zip(shown) {
        let size = Size::measure(&**store, stop).map_err(|error| error.within(shown))?;
        place.say_reads(size.amount, progress);
        sizes.push(size);
    }
    let count = sizes[0].amount.count;
    progress.stage(&format!("comparing {} with {}", shown[0], shown[1]), Some(count));
    let [nanoseconds, of_other] = [sizes[0].nanoseconds, sizes[1].nanoseconds];
    let in_order = suffixed.is_none();
    let readers = [
        Reader { store: first, shown: shown[0], in_order, nanoseconds, stop },
        Reader { store: &*stores[1], shown: shown[1], in_order: true, nanoseconds: of_other, stop },
    ];
    let is_large = sizes.iter().any(|size| size.longest > LARGE);
    let mut verified =
        if is_large { compare_in_turn(readers, progress) } else { compare(readers, progress) }?;
    verified.compare_entries([entries(&*stores[0])?, entries(&*stores[1])?]);
    for store in stores {
        store.close()?;
    }
    Ok(verified)
}

fn readable(
    place: &StoreLocation,
    scratch: Option<&Path>,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Readable> {
    place.check_room(scratch)?;
    place.readable(scratch, progress, stop)
}

/// How much a store has to read.
struct Size {
    amount: Amount,
    /// The length of the longest value that memory has as a whole.
    longest: u64,
    /// Whether the list shows nanoseconds of any time: then 0 of them are 0.
    nanoseconds: bool,
}

impl Size {
    /// Lists a store. Fails with the first value that has no room in memory.
    fn measure(store: &dyn Store, stop: &Stop) -> Result<Self> {
        let (mut amount, mut longest, memory) = (Amount::default(), 0, ValueRoom::measure());
        let mut nanoseconds = false;
        store.session()?.scan(Scan::LENGTHS, &mut |item| {
            stop.check()?;
            amount.add(&item);
            nanoseconds |= item.meta.is_some_and(|meta| meta.nanoseconds > 0);
            if !store.has_parts() {
                memory.check(&item)?;
                longest = longest.max(item.length);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(Self { amount, longest, nanoseconds })
    }
}

/// Returns what a store has in addition to values, by name and kind, with what it leads to.
fn entries(store: &dyn Store) -> Result<BTreeMap<(Vec<u8>, EntryKind), Entry>> {
    let is_entry = |entry: &Entry| entry.kind != EntryKind::Further && !entry.kind.is_property();
    let entries = store.left_out()?.into_iter().filter(is_entry);
    Ok(entries.map(|entry| ((entry.name.clone(), entry.kind), entry)).collect())
}

impl Verified {
    /// Folders that values are in are counted, but exist on the other side too.
    fn compare_entries(&mut self, [a, b]: [BTreeMap<(Vec<u8>, EntryKind), Entry>; 2]) {
        for (totals, entries) in self.totals.iter_mut().zip([&a, &b]) {
            totals.others = entries.len() as u64;
        }
        for (key, entry) in a.iter().filter(|(_, entry)| entry.is_single()) {
            match b.get(key) {
                Some(other) if other == entry => {}
                Some(_) => self.different.add(entry),
                None => self.missing.add(entry),
            }
        }
        for (key, entry) in b.iter().filter(|(_, entry)| entry.is_single()) {
            if !a.contains_key(key) {
                self.extra.add(entry);
            }
        }
    }
}

/// The result of checking one store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The contents of the store.
    pub totals: StoreTotals,
    /// The damage, each with its name; empty if everything could be read and the engine's check
    /// found none.
    pub damage: Vec<String>,
    /// The digest, as in [`Verified::digests`]; `None` if the store is damaged.
    pub digest: Option<String>,
}

/// Reads all of a store, after the engine's own check of it.
///
/// # Errors
///
/// Fails if the store cannot be opened or read, or the user stops the check. Damage that the check
/// finds is returned.
pub fn check(
    place: &StoreLocation,
    scratch: Option<&Path>,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Checked> {
    let readable = readable(place, scratch, progress, stop)?;
    let name = place.shown();
    let checked = check_readable(&readable.place, &name, progress, stop);
    match checked.map_err(|error| readable.names(error)) {
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            let damage = vec![error.within(&name).to_string()];
            Ok(Checked { totals: StoreTotals::default(), damage, digest: None })
        }
        checked => checked,
    }
}

fn check_readable(
    place: &StoreLocation,
    shown: &str,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Checked> {
    let store = place.open()?;
    progress.stage("running the engine's own check", None);
    let damage = store.integrity()?.unwrap_or_default();
    if !damage.is_empty() {
        let damage = damage.iter().map(|what| format!("{shown}: {what}")).collect();
        return Ok(Checked { totals: StoreTotals::default(), damage, digest: None });
    }
    let Size { amount, nanoseconds, .. } =
        Size::measure(&*store, stop).map_err(|error| error.within(shown))?;
    place.say_reads(amount, progress);
    let count = amount.count;
    progress.stage(&format!("reading {shown}"), Some(count));
    let (sender, receiver) = sync_channel::<Vec<Row>>(4);
    let (totals, digest) = thread::scope(|scope| {
        let reader = Reader { store: &*store, shown, in_order: true, nanoseconds, stop };
        // The rows end with the sender, which ends with the thread.
        let reader = scope.spawn(move || reader.send(&sender));
        let rows = receiver.into_iter().flatten();
        rows.zip(1..).for_each(|(_, done)| tick(progress, done));
        crate::join(reader)
    })?;
    let totals = StoreTotals { others: entries(&*store)?.len() as u64, ..totals };
    store.close()?;
    Ok(Checked { totals, damage, digest: Some(digest) })
}

/// Compares two stores. Each is read and hashed on a thread of its own; this one merges.
fn compare(readers: [Reader<'_>; 2], progress: &dyn Progress) -> Result<Verified> {
    thread::scope(|scope| {
        let [(left, a), (right, b)] = readers.map(|reader| {
            let (sender, receiver) = sync_channel(4);
            (scope.spawn(move || reader.send(&sender)), receiver.into_iter().flatten())
        });
        let verified = merge(a, b, progress);
        // A reader that failed ends its rows early.
        let ((left, a), (right, b)) = (crate::join(left)?, crate::join(right)?);
        Ok(Verified { totals: [left, right], digests: [a, b], ..verified })
    })
}

/// Compares two stores, one read after the other, so that memory has a value of one of them at a time. All
/// prints are in memory, some 100 bytes each.
fn compare_in_turn(readers: [Reader<'_>; 2], progress: &dyn Progress) -> Result<Verified> {
    let ([first, second], [mut a, mut b]) = (readers, [Vec::new(), Vec::new()]);
    let (left, digest) = first.hash(&mut |rows| a.extend(rows))?;
    let (right, other) = second.hash(&mut |rows| b.extend(rows))?;
    let verified = merge(a.into_iter(), b.into_iter(), progress);
    Ok(Verified { totals: [left, right], digests: [digest, other], ..verified })
}

#[derive(Clone, Copy, Debug)]
struct Print {
    length: u64,
    digest: blake3::Hash,
    of: ValueType,
    meta: Option<Meta>,
    /// Whether its time may have lost nanoseconds.
    whole_seconds: bool,
}

impl Print {
    fn same_value(&self, other: &Self) -> bool {
        let value = |print: &Self| (print.length, print.digest, print.of);
        value(self) == value(other)
    }

    /// Reports whether modes and times agree. Some engines keep none, others whole seconds.
    fn same_meta(&self, other: &Self) -> bool {
        let (Some(a), Some(b)) = (self.meta, other.meta) else { return true };
        let whole = self.whole_seconds || other.whole_seconds;
        (a.mode, a.seconds) == (b.mode, b.seconds) && (whole || a.nanoseconds == b.nanoseconds)
    }
}

type Row = (OwnedKey, Print);

const ROWS: usize = 256;

/// A store that is read and hashed.
struct Reader<'s> {
    store: &'s dyn Store,
    shown: &'s str,
    /// Whether it shows its keys in their order. Otherwise all prints are sorted in memory.
    in_order: bool,
    /// Whether it keeps nanoseconds of times.
    nanoseconds: bool,
    stop: &'s Stop,
}

impl Reader<'_> {
    /// Sends the prints of all items, as [`Self::hash`] shows them.
    fn send(&self, sender: &SyncSender<Vec<Row>>) -> Result<(StoreTotals, String)> {
        // Nobody receives the rest after a failure on the other side.
        self.hash(&mut |rows| drop(sender.send(rows)))
    }

    /// Returns the length and the hash of a value, which is read in parts if the scan did not show it.
    fn digest(&self, item: &Item<'_>) -> Result<(u64, blake3::Hash)> {
        if item.length <= LARGE || !self.store.has_parts() {
            return Ok((item.value.len() as u64, blake3::hash(item.value)));
        }
        let mut hasher = blake3::Hasher::new();
        self.store.session()?.read_parts(item.key, &mut hasher)?;
        Ok((hasher.count(), hasher.finalize()))
    }

    /// Shows the prints of all items in the order of their keys; returns the digest of the dataset.
    fn hash(&self, show: &mut dyn FnMut(Vec<Row>)) -> Result<(StoreTotals, String)> {
        let mut whole = blake3::Hasher::new();
        let (mut rows, mut totals) = (Vec::new(), StoreTotals::default());
        let mut show = |rows: Vec<Row>| {
            for (key, print) in &rows {
                absorb(&mut whole, key.as_key(), print);
            }
            show(rows);
        };
        let longest = if self.store.has_parts() { LARGE } else { u64::MAX };
        let read = self.store.session()?.scan(Scan { longest, ..Scan::ALL }, &mut |item| {
            self.stop.check()?;
            let (length, digest) = self.digest(&item)?;
            let whole_seconds =
                !self.nanoseconds && item.meta.is_some_and(|meta| meta.nanoseconds == 0);
            let meta = item.meta;
            let print = Print { length, digest, of: item.value_type, meta, whole_seconds };
            totals.values += 1;
            totals.bytes += length;
            if !self.in_order {
                rows.push((item.key.into(), print));
                return Ok(ControlFlow::Continue(()));
            }
            push_sorted(&mut rows, item.key, print).map_err(|e| e.at(self.shown))?;
            if rows.len() > ROWS {
                // The last one stays: the next key has to come after it.
                show(rows.drain(..ROWS).collect());
            }
            Ok(ControlFlow::Continue(()))
        });
        read.map_err(|error| match error.kind() {
            ErrorKind::Corrupt => error.within(self.shown),
            _ => error,
        })?;
        if !self.in_order {
            rows.sort_unstable_by(|(key, _), (other, _)| key.cmp(other));
        }
        show(rows);
        Ok((totals, whole.finalize().to_hex().to_string()))
    }
}

fn absorb(whole: &mut blake3::Hasher, key: Key<'_>, print: &Print) {
    match key {
        Key::Int(key) => whole.update(&key.to_le_bytes()),
        Key::Name(name) => whole.update(&(name.len() as u64).to_le_bytes()).update(name),
    };
    whole.update(&print.length.to_le_bytes()).update(print.digest.as_bytes());
    if print.of != ValueType::Bytes {
        whole.update(print.of.as_str().as_bytes());
    }
}

impl Verified {
    fn judge(&mut self, key: &OwnedKey, a: &Print, b: &Print) {
        if !a.same_value(b) {
            self.different.add(&key.as_key());
        } else if !a.same_meta(b) {
            self.other_meta.add(&key.as_key());
        } else {
            self.same += 1;
            self.bytes += a.length;
        }
    }
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
            (Some((key, print)), Some((_, other))) => verified.judge(&key, &print, &other),
            (Some((key, _)), None) => verified.missing.add(&key.as_key()),
            (None, Some((key, _))) => verified.extra.add(&key.as_key()),
            (None, None) => {}
        }
        tick(progress, done);
    }
    verified
}
