//! The checks of single operations on a table of the user's own: what a scan may show, and what may be put.

use kit::own_table;
use model::{Error, ErrorKind, How, Item, Key, OwnedKey, Result, ValueType};

use super::{KEY, TABLE, VALUE, WHERE};
use crate::sqlite::{ffi::Statement, table::UsersTable};

impl UsersTable {
    fn setting(&self, name: &str) -> &str {
        self.settings.get(name).unwrap_or_default()
    }

    /// Returns the error of an operation that the table does not allow.
    #[cold]
    pub(in crate::sqlite) fn refused(&self, why: &str) -> Error {
        Error::new(ErrorKind::Usage, format!("{}: {why}", self.setting(TABLE)))
    }

    /// Checks that a row may be put in this way.
    ///
    /// # Errors
    ///
    /// Fails if it may be a new row, and such a row needs another column, or a condition leaves rows out.
    pub(in crate::sqlite) fn check_put(&self, how: How) -> Result<()> {
        if how == How::Update {
            return Ok(());
        }
        if self.settings.get(WHERE).is_some() {
            return Err(self.refused(
                "where= is for rows that are there, and an insert adds one; leave it out",
            ));
        }
        self.needs.as_ref().map_or(Ok(()), |column| {
            let has = "which is NOT NULL and has no default";
            Err(self.refused(&format!("an insert needs a value for {column}, {has}")))
        })
    }

    /// Returns the error of a key that several rows have.
    #[cold]
    pub(in crate::sqlite) fn repeated(&self, key: Key<'_>) -> Error {
        self.refused(&own_table::repeated(self.setting(KEY), key))
    }

    /// Adds the table and the key to the error of a write.
    #[cold]
    pub(in crate::sqlite) fn failed(&self, key: Key<'_>, error: Error) -> Error {
        error.reworded(|said| format!("{}: key {key}: {said}", self.setting(TABLE)))
    }

    /// Returns the error of a write that SQLite reported as done, and that changed no row.
    #[cold]
    pub(in crate::sqlite) fn ignored(&self, key: Key<'_>) -> Error {
        self.refused(&format!(
            "key {key} was not written: a trigger ignores it, or a unique index has another row for it"
        ))
    }
}

/// The columns that a scan of such a table shows last: whether the key's types are right, and the rowid.
const IS_KEY: i32 = 7;
const ROWID: i32 = 8;

/// Returns the rowid in a row of a scan.
pub(in crate::sqlite) fn rowid(row: &Statement) -> i64 {
    row.integer(ROWID)
}

/// Checks the rows of a scan: each has a key of its own, and bytes or a text.
pub(in crate::sqlite) struct RowCheck<'t> {
    table: &'t UsersTable,
    last: Option<OwnedKey>,
}

impl<'t> RowCheck<'t> {
    pub(in crate::sqlite) fn new(table: &'t UsersTable) -> Self {
        Self { table, last: None }
    }

    /// Checks a row, and returns its item, whose value counts as bytes.
    ///
    /// # Errors
    ///
    /// Fails if the row has no such key or value, or the key of the row before.
    pub(in crate::sqlite) fn item<'i>(
        &mut self,
        row: &Statement,
        item: Item<'i>,
    ) -> Result<Item<'i>> {
        let [key, value] = [KEY, VALUE].map(|name| self.table.setting(name));
        if row.integer(IS_KEY) == 0 {
            let why = own_table::no_key(key, "a value of another type than the first row");
            return Err(self.table.refused(&why));
        }
        if !matches!(item.value_type, ValueType::Bytes | ValueType::Text) {
            let only = match item.value_type {
                ValueType::Null => format!("{value} IS NOT NULL"),
                _ => format!("typeof({value}) IN ('blob','text')"),
            };
            let why = own_table::no_value(value, item.key, item.value_type, &only);
            return Err(self.table.refused(&why));
        }
        if !self.table.is_unique {
            if self.last.as_ref().is_some_and(|last| last.as_key() == item.key) {
                return Err(self.table.repeated(item.key));
            }
            self.last = Some(item.key.into());
        }
        Ok(Item { value_type: ValueType::Bytes, ..item })
    }
}
