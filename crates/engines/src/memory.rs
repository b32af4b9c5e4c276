//! `memory:` keeps values in a map of this process: what an engine without storage costs.

use std::{path::Path, sync::RwLock};

use kit::lock;
use model::{
    Blobs, Capabilities, Declaration, Durability, Engine, Error, ErrorKind, How, Item, Key,
    KeyKind, Meta, OpenOptions, Put, Result, Scan, Session, Store, Visitor, copy_value,
};

use crate::table::Table;

/// The engine of a map in memory.
pub(crate) struct Memory;

static DECLARATION: Declaration = Declaration {
    durability: &[Durability::None.kept_by(&[], "values are gone with the process")],
    limitations: &["names in order: a scan looks at all of them"],
    capabilities: Capabilities::IN_MEMORY,
    blobs: Some(&Memory),
    reference: true,
    ..Declaration::new("memory", "a map in memory, gone when it is closed")
};

impl Engine for Memory {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }
}

impl Blobs for Memory {
    fn create(&self, _: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        let values = RwLock::new(Table::new(options.keys));
        Ok(Box::new(Map { keys: options.keys, values }))
    }

    fn open(&self, _: &Path, _: &OpenOptions) -> Result<Box<dyn Store>> {
        Err(Error::new(ErrorKind::Missing, "memory: holds nothing before it is filled"))
    }
}

struct Map {
    keys: KeyKind,
    values: RwLock<Table<StoredBytes>>,
}

impl Store for Map {
    fn keys(&self) -> KeyKind {
        self.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(MapSession(&self.values)))
    }
}

/// A value with its mode and time.
struct StoredBytes {
    bytes: Vec<u8>,
    meta: Option<Meta>,
}

impl StoredBytes {
    /// Replaces the bytes, in the room of the old ones if they fit.
    fn replace(&mut self, bytes: &[u8], meta: Option<Meta>) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.meta = meta;
    }
}

/// A session on the map. Every operation locks by itself; batches add nothing. A scan holds off
/// writers to its end.
struct MapSession<'s>(&'s RwLock<Table<StoredBytes>>);

impl Session for MapSession<'_> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let values = lock::read(self.0);
        Ok(values.get(&key)?.map(|value| copy_value(&value.bytes, into)))
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        let mut values = lock::write(self.0);
        match (values.get_mut(&key)?, put.how) {
            (Some(_), How::Insert) | (None, How::Update) => return Ok(false),
            (Some(old), _) => old.replace(value, put.meta),
            (None, _) => {
                values.insert(key, StoredBytes { bytes: value.to_vec(), meta: put.meta })?;
            }
        }
        Ok(true)
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        Ok(lock::write(self.0).remove(key)?.is_some())
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        for (key, StoredBytes { bytes, meta }) in
            lock::read(self.0).sorted(scan.from, scan.limit)?
        {
            if visit(Item::new(key, bytes, *meta))?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
