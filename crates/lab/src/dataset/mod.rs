//! The dataset of a run: every key with the length and a checksum of its value, in the order
//! in which a pass touches them. 16 bytes a key, and the names themselves if keys are names.

mod carried;
mod deflated;
mod generated;
mod order;
mod payload;
mod seed;
pub(crate) mod sorted_keys;

use model::{DatasetSummary, Error, Key, KeyKind, Result};
use serde::{Deserialize, Serialize};

pub(crate) use carried::Luggage;
pub(crate) use deflated::Sampler;
pub(crate) use generated::Generator;
pub(crate) use order::{Cursor, below, shuffle};
pub(crate) use payload::{Pool, PoolSpec};
pub use seed::nth_seed;
pub(crate) use seed::{Use, derive};

/// A key, with the length and checksum of its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The integer itself, or where the name starts in the dataset's names.
    id: i64,
    /// Length of the value in bytes.
    pub(crate) size: u32,
    /// First four bytes of its BLAKE3 digest.
    pub(crate) check: u32,
}

/// Keys with the lengths and checksums of their values.
#[derive(Debug)]
pub(crate) struct Dataset {
    keys: KeyKind,
    entries: Vec<Entry>,
    /// Names back to back, each led by its length in two bytes.
    names: Vec<u8>,
    /// Size of a sample of the values after DEFLATE over its size.
    pub(crate) deflated: Option<f64>,
}

/// First four bytes of the BLAKE3 digest: enough to distinguish a wrong value from the
/// right one with one mistake in 4 billion.
pub(crate) fn checksum(value: &[u8]) -> u32 {
    let digest = blake3::hash(value);
    let [a, b, c, d, ..] = *digest.as_bytes();
    u32::from_le_bytes([a, b, c, d])
}

impl Dataset {
    /// A dataset without keys.
    pub(crate) fn new(keys: KeyKind) -> Self {
        Self { keys, entries: Vec::new(), names: Vec::new(), deflated: None }
    }

    /// Adds a key; keys come in ascending order.
    pub(crate) fn push(&mut self, key: Key<'_>, value: &[u8]) -> Result<()> {
        let size = u32::try_from(value.len())
            .map_err(|_| Error::usage(format!("key {key}: a value of 4 GiB or more")))?;
        self.enter(key, size, checksum(value))
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

    /// Adds a write to come: in any order, a key as often as it is written, of bytes that are not
    /// looked at.
    pub(crate) fn push_write(&mut self, key: i64, size: u32) {
        self.entries.push(Entry { id: key, size, check: 0 });
    }

    fn keep(&mut self, name: &[u8]) -> Result<i64> {
        let at = i64::try_from(self.names.len()).expect("memory is smaller than 2^63 bytes");
        let length = u16::try_from(name.len())
            .map_err(|_| Error::usage("a name of 64 KiB or more is not a path"))?;
        self.names.extend(length.to_le_bytes());
        self.names.extend(name);
        Ok(at)
    }

    /// The key of an entry of this dataset.
    #[inline]
    pub(crate) fn key(&self, entry: &Entry) -> Key<'_> {
        match self.keys {
            KeyKind::Integers => Key::Int(entry.id),
            KeyKind::Names => Key::Name(self.name(entry.id)),
        }
    }

    fn name(&self, id: i64) -> &[u8] {
        let at = usize::try_from(id).expect("an id of a named entry is an offset");
        let length = usize::from(u16::from_le_bytes([self.names[at], self.names[at + 1]]));
        &self.names[at + 2..at + 2 + length]
    }

    /// The kind of its keys.
    pub(crate) fn keys(&self) -> KeyKind {
        self.keys
    }

    /// Its entries in the order in which a pass touches them.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The dataset in figures.
    pub(crate) fn summary(&self) -> DatasetSummary {
        let sizes = || self.entries.iter().map(|entry| u64::from(entry.size));
        DatasetSummary {
            keys: self.keys,
            count: self.entries.len() as u64,
            bytes: sizes().sum(),
            smallest: sizes().min().unwrap_or(0),
            largest: sizes().max().unwrap_or(0),
            deflated: self.deflated,
        }
    }
}
