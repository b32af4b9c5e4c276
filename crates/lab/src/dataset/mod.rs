//! The dataset of a run: the keys that are measured, with the length and a checksum of each value, in
//! the order in which passes touch them. 16 bytes a key, and the names themselves if keys are names.

mod deflated;
mod generated;
mod random;
mod sorted_keys;
mod spread;

use std::{
    borrow::Cow,
    io::{self, ErrorKind, Read, Write},
    ops::Range,
};

use model::{DatasetSummary, Error, Item, Key, KeyKind, Order, Result, ValueType};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

pub(crate) use deflated::Sampler;
pub(crate) use generated::Generator;
pub use random::nth_seed;
pub(crate) use random::{Pool, PoolSpec, Use, below, derive, fill, shuffle};
pub(crate) use sorted_keys::push_sorted;
pub(crate) use spread::Part;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The integer itself, or where the name starts in the dataset's names.
    id: i64,
    pub(crate) size: u32,
    /// First four bytes of its BLAKE3 digest; 0 until the value was read.
    pub(crate) check: u32,
}

/// A dataset: keys with the lengths and checksums of their values.
#[derive(Clone, Debug)]
pub(crate) struct Dataset {
    keys: KeyKind,
    entries: Vec<Entry>,
    /// Names back to back, each led by its length in two bytes.
    names: Vec<u8>,
    /// The entries that a round touches; `None` for all.
    round: Option<Range<usize>>,
    /// Size of a sample of the values after DEFLATE over its size.
    pub(crate) deflated: Option<f64>,
}

/// Returns the first four bytes of the BLAKE3 digest: enough to distinguish a wrong value from the
/// right one with one mistake in 4 billion.
pub(crate) fn checksum(value: &[u8]) -> u32 {
    let digest = blake3::hash(value);
    let [a, b, c, d, ..] = *digest.as_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Refuses a value that has no bytes to measure: NULL or a number.
pub(crate) fn check_type(item: &Item<'_>) -> Result<()> {
    match item.value_type {
        ValueType::Bytes | ValueType::Text => Ok(()),
        of => Err(Error::usage(format!(
            "the value of key {} is {of}; storemark measures values of bytes",
            item.key
        ))),
    }
}

/// Refuses a value that is no bytes, which an update would make of it, or leave a text that is none.
pub(crate) fn check_bytes(item: &Item<'_>) -> Result<()> {
    if item.value_type == ValueType::Bytes {
        return Ok(());
    }
    Err(Error::usage(format!(
        "the value of key {} is {}, and --in-place writes bytes; without it a scratch copy is written to",
        item.key, item.value_type
    )))
}

/// Returns the length of a value. Fails at 4 GiB or more.
pub(crate) fn value_size(key: Key<'_>, length: usize) -> Result<u32> {
    u32::try_from(length).map_err(|_| Error::usage(format!("key {key}: a value of 4 GiB or more")))
}

impl Dataset {
    pub(crate) fn new(keys: KeyKind) -> Self {
        Self { keys, entries: Vec::new(), names: Vec::new(), round: None, deflated: None }
    }

    /// Adds a key; keys come in ascending order.
    pub(crate) fn push(&mut self, key: Key<'_>, value: &[u8]) -> Result<()> {
        self.enter(key, value_size(key, value.len())?, checksum(value))
    }

    /// Adds a key whose value is not written yet.
    pub(crate) fn push_sized(&mut self, key: Key<'_>, size: u32) -> Result<()> {
        self.enter(key, size, 0)
    }

    fn enter(&mut self, key: Key<'_>, size: u32, check: u32) -> Result<()> {
        let id = match key {
            Key::Int(key) => key,
            Key::Name(name) => self.keep(name)?,
        };
        self.entries.push(Entry { id, size, check });
        Ok(())
    }

    fn keep(&mut self, name: &[u8]) -> Result<i64> {
        let at = i64::try_from(self.names.len()).expect("memory is smaller than 2^63 bytes");
        let length = u16::try_from(name.len())
            .map_err(|_| Error::usage("a name of 64 KiB or more is not a path"))?;
        self.names.extend(length.to_le_bytes());
        self.names.extend(name);
        Ok(at)
    }

    #[inline]
    pub(crate) fn key(&self, entry: &Entry) -> Key<'_> {
        match self.keys {
            KeyKind::Integers => Key::Int(entry.id),
            KeyKind::Names => Key::Name(self.name(entry).expect("a named entry has its name here")),
        }
    }

    /// Returns the name of an entry; `None` if there is none of that length at that place.
    fn name(&self, entry: &Entry) -> Option<&[u8]> {
        let rest = self.names.get(usize::try_from(entry.id).ok()?..)?;
        let (length, name) = rest.split_first_chunk()?;
        name.get(..usize::from(u16::from_le_bytes(*length)))
    }

    pub(crate) fn keys(&self) -> KeyKind {
        self.keys
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the entries of the round for which the dataset was arranged.
    pub(crate) fn round_entries(&self) -> &[Entry] {
        self.round.clone().map_or(&self.entries, |round| &self.entries[round])
    }

    /// Returns the keys of the round alone, in their order, behind `lead` other keys. Where a round touches
    /// all keys, there are no others.
    pub(crate) fn of_round(&self, lead: usize) -> Cow<'_, Self> {
        let Some(round) = self.round.clone() else { return Cow::Borrowed(self) };
        let mut part = Self { deflated: self.deflated, ..Self::new(self.keys) };
        let others = self.entries[..round.start].iter().rev();
        let others = others.chain(self.entries[round.end..].iter().rev()).take(lead);
        for entry in others.chain(&self.entries[round]) {
            let entered = part.enter(self.key(entry), entry.size, entry.check);
            entered.expect("a name that fitted once fits again");
        }
        Cow::Owned(part)
    }

    /// Notes the length and the checksum of the value of the entry at `place`.
    pub(crate) fn note_value(&mut self, place: usize, length: usize, sum: u32) -> Result<()> {
        let key = self.key(&self.entries[place]);
        let size = value_size(key, length)?;
        let entry = &mut self.entries[place];
        (entry.size, entry.check) = (size, sum);
        Ok(())
    }

    /// Notes the length alone.
    pub(crate) fn note_size(&mut self, place: usize, size: u32) {
        self.entries[place].size = size;
    }

    /// Keeps the first `count` entries.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.entries.truncate(count);
    }

    pub(crate) fn summary(&self) -> DatasetSummary {
        let sizes = || self.entries.iter().map(|entry| u64::from(entry.size));
        DatasetSummary {
            keys: self.keys,
            count: self.entries.len() as u64,
            bytes: sizes().sum(),
            smallest: sizes().min().unwrap_or(0),
            largest: sizes().max().unwrap_or(0),
            half_in: Some(self.half_in()),
            deflated: self.deflated,
        }
    }

    /// Returns the smallest number of values that have half of the bytes or more.
    fn half_in(&self) -> u64 {
        let mut sizes: Vec<u32> = self.entries.iter().map(|entry| entry.size).collect();
        sizes.sort_unstable();
        let bytes: u64 = sizes.iter().map(|size| u64::from(*size)).sum();
        let sums = sizes.iter().rev().scan(0, |sum, size| {
            *sum += u64::from(*size);
            Some(*sum)
        });
        sums.take_while(|sum| *sum < bytes.div_ceil(2)).count() as u64 + u64::from(bytes > 0)
    }

    pub(crate) fn limit(&mut self, max: i64) {
        self.entries.retain(|entry| entry.id <= max);
    }

    /// Puts the entries into the order of one round; in place, so that an order costs no memory.
    /// `start` is the first key of a fixed order, which continues with the first key at its end,
    /// as kvtest's does. If keys are drawn at random (`op_stream`), they are in key order. In a random
    /// order a round touches a `part` of the keys only, which is shuffled within itself.
    pub(crate) fn arrange(&mut self, order: Order, start: Option<i64>, part: Part, seed: u64) {
        self.round = None;
        if order == Order::Permutation {
            let range = part.range(self.entries.len());
            let random = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
            shuffle(&mut self.entries[range.clone()], random);
            self.round = (part.of > 1).then_some(range);
            return;
        }
        // Names too: their ids ascend with them.
        self.entries.sort_unstable_by_key(|entry| entry.id);
        let descending = order == Order::Desc;
        if descending {
            self.entries.reverse();
        }
        if let (Order::Asc | Order::Desc, Some(start)) = (order, start) {
            let is_before = |e: &Entry| if descending { e.id > start } else { e.id < start };
            let first = self.entries.partition_point(is_before);
            self.entries.rotate_left(first);
        }
    }

    /// Returns the metadata that precedes what [`Self::send`] writes.
    pub(crate) fn metadata(&self) -> DatasetMetadata {
        let (entries, name_bytes) = (self.entries.len() as u64, self.names.len() as u64);
        let round = self.round.as_ref().map(|round| (round.start as u64, round.end as u64));
        DatasetMetadata { keys: self.keys, entries, name_bytes, round }
    }

    /// Writes it for another process: its entries in their order, 16 bytes each, then the names.
    pub(crate) fn send(&self, to: &mut impl Write) -> io::Result<()> {
        for Entry { id, size, check } in &self.entries {
            to.write_all(&id.to_le_bytes())?;
            to.write_all(&size.to_le_bytes())?;
            to.write_all(&check.to_le_bytes())?;
        }
        to.write_all(&self.names)
    }

    /// Reads what [`Self::send`] wrote.
    pub(crate) fn receive(metadata: DatasetMetadata, from: &mut impl Read) -> io::Result<Self> {
        let mut dataset = Self::new(metadata.keys);
        for _ in 0..metadata.entries {
            dataset.entries.push(Entry {
                id: i64::from_le_bytes(next(from)?),
                size: u32::from_le_bytes(next(from)?),
                check: u32::from_le_bytes(next(from)?),
            });
        }
        let read = from.take(metadata.name_bytes).read_to_end(&mut dataset.names)?;
        let named = |entry| dataset.keys == KeyKind::Integers || dataset.name(entry).is_some();
        let whole = read as u64 == metadata.name_bytes && dataset.entries.iter().all(named);
        let place = |place| usize::try_from(place).unwrap_or(usize::MAX);
        dataset.round = metadata.round.map(|(start, end)| place(start)..place(end));
        let round = dataset.round.clone().unwrap_or_default();
        let is_in = round.start <= round.end && round.end <= dataset.entries.len();
        if whole && is_in { Ok(dataset) } else { Err(ErrorKind::InvalidData.into()) }
    }
}

/// A cursor over a worker's share of the entries, which starts again after the last one.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    entries: &'a [Entry],
    next: usize,
}

impl<'a> Cursor<'a> {
    /// Walks `entries`, which must not be empty, in their order, from the one at `skip` on.
    pub(crate) fn new(entries: &'a [Entry], skip: usize) -> Self {
        Self { entries, next: skip % entries.len() }
    }

    #[inline]
    pub(crate) fn advance(&mut self) -> &'a Entry {
        let at = self.next;
        self.next = if at + 1 == self.entries.len() { 0 } else { at + 1 };
        &self.entries[at]
    }
}

/// The metadata of a dataset that is sent to another process, before its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DatasetMetadata {
    keys: KeyKind,
    entries: u64,
    name_bytes: u64,
    /// The entries that a round touches; `None` for all.
    round: Option<(u64, u64)>,
}

fn next<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod order_tests {
    use model::{Key, KeyKind};

    use super::*;

    fn dataset(keys: impl IntoIterator<Item = i64>) -> Dataset {
        let mut dataset = Dataset::new(KeyKind::Integers);
        for key in keys {
            dataset.push(Key::Int(key), b"value").unwrap();
        }
        dataset
    }

    fn keys(dataset: &Dataset) -> Vec<i64> {
        dataset.entries.iter().map(|entry| entry.id).collect()
    }

    #[test]
    fn a_permutation_touches_every_key_once_and_is_not_the_order_of_insertion() {
        let mut set = dataset(1..=1000);
        set.arrange(Order::Permutation, None, Part::ALL, 1);
        let shuffled = keys(&set);
        assert_ne!(shuffled, (1..=1000).collect::<Vec<_>>());
        set.arrange(Order::Asc, None, Part::ALL, 1);
        assert_eq!(keys(&set), (1..=1000).collect::<Vec<_>>());
    }

    #[test]
    fn the_same_seed_gives_the_same_order_and_another_seed_another() {
        let arranged = |seed| {
            let mut set = dataset(1..=100);
            set.arrange(Order::Permutation, None, Part::ALL, seed);
            keys(&set)
        };
        assert_eq!(arranged(7), arranged(7));
        assert_ne!(arranged(7), arranged(8));
    }

    #[test]
    fn fixed_orders_start_where_asked_and_wrap_around() {
        let mut set = dataset([1, 3, 5, 7]);
        set.arrange(Order::Asc, Some(4), Part::ALL, 0);
        assert_eq!(keys(&set), [5, 7, 1, 3]);
        set.arrange(Order::Desc, Some(4), Part::ALL, 0);
        assert_eq!(keys(&set), [3, 1, 7, 5]);
    }

    #[test]
    fn a_shuffle_favours_no_order() {
        // 6 orders of 3 items, 6000 shuffles: each comes about 1000 times; 5 standard
        // deviations are 144.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, &mut random);
            *seen.entry(items).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|count: &i32| (count - 1000).abs() < 150), "{seen:?}");
    }

    #[test]
    fn the_largest_values_that_hold_half_of_the_bytes_are_counted() {
        let half_in = |sizes: &[u32]| {
            let mut set = Dataset::new(KeyKind::Integers);
            (0..).zip(sizes).for_each(|(key, size)| set.push_sized(Key::Int(key), *size).unwrap());
            set.summary().half_in
        };
        assert_eq!(half_in(&[10, 10, 10, 10]), Some(2));
        assert_eq!(half_in(&[10, 10, 10]), Some(2));
        assert_eq!(half_in(&[1, 100, 1, 1]), Some(1));
        assert_eq!(half_in(&[0, 7, 0]), Some(1));
        assert_eq!(half_in(&[0, 0]), Some(0));
        assert_eq!(half_in(&[]), Some(0));
    }

    #[test]
    fn a_cursor_wraps_around() {
        let set = dataset([10, 20, 30]);
        let mut cursor = Cursor::new(&set.entries, 0);
        let walked: Vec<_> = (0..5).map(|_| cursor.advance().id).collect();
        assert_eq!(walked, [10, 20, 30, 10, 20]);
    }
}

#[cfg(test)]
mod carried_tests {
    use model::{Key, Order};

    use super::*;

    fn sent(dataset: &Dataset) -> Vec<u8> {
        let mut bytes = Vec::new();
        dataset.send(&mut bytes).unwrap();
        bytes
    }

    fn named() -> Dataset {
        let mut dataset = Dataset::new(KeyKind::Names);
        for name in ["a", "b/c", ""] {
            dataset.push(Key::Name(name.as_bytes()), name.as_bytes()).unwrap();
        }
        dataset
    }

    #[test]
    fn it_arrives_in_its_order() {
        let mut integers = Dataset::new(KeyKind::Integers);
        for key in -50..50_i64 {
            integers.push(Key::Int(key), &key.to_le_bytes()).unwrap();
        }
        for mut dataset in [named(), integers] {
            dataset.arrange(Order::Permutation, None, Part::ALL, 7);
            let arrived = Dataset::receive(dataset.metadata(), &mut &*sent(&dataset)).unwrap();
            assert_eq!(arrived.entries(), dataset.entries());
            let keys = |d: &Dataset| -> Vec<_> {
                d.entries().iter().map(|entry| d.key(entry).to_string()).collect()
            };
            assert_eq!(keys(&arrived), keys(&dataset));
        }
    }

    #[test]
    fn damage_is_refused_or_harmless() {
        let dataset = named();
        for bytes in host::mutilations(&sent(&dataset)) {
            if let Ok(arrived) = Dataset::receive(dataset.metadata(), &mut &*bytes) {
                arrived.entries().iter().for_each(|entry| drop(arrived.key(entry).to_string()));
            }
        }
        let endless = DatasetMetadata { entries: u64::MAX, ..dataset.metadata() };
        assert!(Dataset::receive(endless, &mut &*sent(&dataset)).is_err());
    }
}
