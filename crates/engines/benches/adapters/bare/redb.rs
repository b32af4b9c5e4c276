//! redb: one read transaction and one table, values copied out of its cache.

use std::path::Path;

use model::Result;
use redb::{Builder, ReadOnlyDatabase, ReadableDatabase, ReadableTable, TableDefinition};

use super::{Bare, Work};

const VALUES: TableDefinition<'_, i64, &[u8]> = TableDefinition::new("integers");

pub(crate) struct Reader(ReadOnlyDatabase);

impl Reader {
    #[expect(clippy::unnecessary_wraps, reason = "as the other loops are opened")]
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(Self(Builder::new().open_read_only(path).expect("opening the database")))
    }
}

impl Bare for Reader {
    fn pass(&mut self, work: &Work<'_>, buffer: &mut [u8]) -> usize {
        let txn = self.0.begin_read().expect("a transaction");
        let values = txn.open_table(VALUES).expect("the table");
        let mut bytes = 0;
        for key in work.keys {
            let found = ReadableTable::get(&values, key).expect("reading");
            let found = found.expect("the key is there");
            let value = found.value();
            buffer[..value.len()].copy_from_slice(value);
            bytes += value.len();
        }
        bytes
    }
}
