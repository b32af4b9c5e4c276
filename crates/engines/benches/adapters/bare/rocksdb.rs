//! `RocksDB`'s own calls on the files of the adapter.

use std::path::Path;

use model::{Error, Result};
use rocksdb::{BlockBasedOptions, Cache, DB, Options};

use super::{Bare, Work};

pub(crate) struct Get(DB);

impl Get {
    pub(crate) fn open(path: &Path, cache: Option<usize>) -> Result<Self> {
        open(path, cache).map(Self).map_err(|e| Error::failed(e.to_string()))
    }
}

fn open(path: &Path, cache: Option<usize>) -> std::result::Result<DB, rocksdb::Error> {
    let mut options = Options::default();
    if let Some(bytes) = cache {
        let mut table = BlockBasedOptions::default();
        table.set_block_cache(&Cache::new_lru_cache(bytes)?);
        options.set_block_based_table_factory(&table);
    }
    let columns = ["default", "integers"].map(|name| (name, options.clone()));
    DB::open_cf_with_opts_for_read_only(&options, path, columns, false)
}

#[inline]
fn bytes(key: i64) -> [u8; 8] {
    (key.cast_unsigned() ^ (1 << 63)).to_be_bytes()
}

impl Bare for Get {
    fn pass(&mut self, work: &Work<'_>, buffer: &mut [u8]) -> usize {
        let column = self.0.cf_handle("integers").expect("the dataset's");
        let snapshot = self.0.snapshot();
        let mut read = 0;
        for key in work.keys {
            let found = snapshot.get_pinned_cf(column, bytes(*key)).expect("reading");
            let value = found.expect("every key is there");
            buffer[..value.len()].copy_from_slice(&value);
            read += value.len();
        }
        read
    }
}
