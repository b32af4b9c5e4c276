//! fjall's own calls on a database of its own: two cannot have one open.

use std::path::Path;

use fjall::{
    CompressionType, Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions, Readable,
    config::CompressionPolicy,
};
use model::{Error, Result};

use super::{Bare, Work, own_copy};
use crate::data::Data;

pub(crate) struct Get {
    keyspace: Keyspace,
    database: Database,
}

impl Get {
    /// Fills a database of the same form as the adapter's, and opens it again.
    pub(crate) fn open(path: &Path, data: &Data, cache: u64) -> Result<Self> {
        let path = own_copy(path);
        fill(&path, data)
            .and_then(|()| open(&path, cache))
            .map_err(|e| Error::failed(format!("{}: {e}", path.display())))
    }
}

fn open(path: &Path, cache: u64) -> fjall::Result<Get> {
    let database = Database::builder(path)
        .journal_compression(CompressionType::None)
        .cache_size(cache)
        .open()?;
    let values = KvSeparationOptions::default().compression(CompressionType::None);
    let keyspace = database.keyspace("integers", || {
        KeyspaceCreateOptions::default()
            .data_block_compression_policy(CompressionPolicy::all(CompressionType::None))
            .with_kv_separation(Some(values))
    })?;
    Ok(Get { keyspace, database })
}

fn fill(path: &Path, data: &Data) -> fjall::Result<()> {
    let Get { keyspace, database } = open(path, 1 << 20)?;
    let mut batch = database.batch();
    for key in data.keys() {
        batch.insert(&keyspace, bytes(key), data.value(key));
    }
    batch.commit()?;
    keyspace.rotate_memtable_and_wait()
}

#[inline]
fn bytes(key: i64) -> [u8; 8] {
    (key.cast_unsigned() ^ (1 << 63)).to_be_bytes()
}

impl Bare for Get {
    fn pass(&mut self, work: &Work<'_>, buffer: &mut [u8]) -> usize {
        let snapshot = self.database.snapshot();
        let mut read = 0;
        for key in work.keys {
            let found = snapshot.get(&self.keyspace, bytes(*key)).expect("reading");
            let value = found.expect("every key is there");
            buffer[..value.len()].copy_from_slice(&value);
            read += value.len();
        }
        read
    }
}
