//! Tables of the user's own: found by the schema and a few rows, and read by their own keys and indexes.

mod candidates;
mod describe;
mod find;
mod moved;
mod schema;

use model::{
    Accepts, Error, ErrorKind, Facet, Item, KeyKind, OwnedKey, Result, Setting, Settings, ValueType,
};

pub(super) use describe::describe;
pub(super) use find::find;
pub(crate) use find::find_table;
pub(super) use moved::replace_by_paths;
use schema::{Relation, quoted};

use super::{
    ffi::{Connection, Statement},
    table::UsersTable,
};

/// The names of the settings that find the values.
const TABLE: &str = "table";
const KEY: &str = "key";
const VALUE: &str = "value";
const WHERE: &str = "where";

pub(super) const SETTINGS: [Setting; 4] = [
    Setting::new(TABLE, Accepts::Text, "a table or view of your own that has the values")
        .only_for(&[Facet::Blobs]),
    Setting::new(
        KEY,
        Accepts::Text,
        "its column with the key, several with commas; without it the primary key or the only unique index",
    )
    .only_for(&[Facet::Blobs]),
    Setting::new(VALUE, Accepts::Text, "its column with the value: bytes or text")
        .only_for(&[Facet::Blobs]),
    Setting::new(WHERE, Accepts::Text, "an SQL condition for the rows that are values")
        .of_use()
        .only_for(&[Facet::Blobs]),
];

/// Lists the columns of the table that are neither key nor value.
pub(super) fn other_columns(db: &Connection, table: &UsersTable) -> Result<Vec<String>> {
    let setting = |name| table.settings.get(name).unwrap_or_default();
    let relation = Relation::read(db, setting(TABLE))?;
    let used: Vec<_> = setting(KEY).split(',').chain([setting(VALUE)]).map(str::trim).collect();
    let is_other = |name: &&str| !used.iter().any(|used| used.eq_ignore_ascii_case(name));
    let names = relation.columns.iter().map(|column| column.name.as_str());
    Ok(names.filter(is_other).map(|name| format!("column {name}")).collect())
}

/// Returns whether `settings` name a table of the user's own.
pub(super) fn is_named(settings: &Settings) -> bool {
    SETTINGS.iter().any(|setting| settings.get(setting.name).is_some())
}

/// Returns the statement that creates a table with the names in `settings`, and all of these names.
///
/// # Errors
///
/// Fails if the table has no name.
pub(super) fn create(settings: &Settings, keys: KeyKind) -> Result<(String, Settings)> {
    let (usual, of) = match keys {
        KeyKind::Integers => ("id", "INTEGER PRIMARY KEY"),
        KeyKind::Names => ("name", "TEXT PRIMARY KEY NOT NULL"),
    };
    let Some(table) = settings.get(TABLE) else {
        return Err(Error::usage("table= names the table of a new database"));
    };
    if settings.get(WHERE).is_some() {
        return Err(Error::usage("where= is for the rows of a table that exists"));
    }
    let key = settings.get(KEY).unwrap_or(usual);
    let value = settings.get(VALUE).unwrap_or("data");
    let mut all = settings.clone();
    all.set(KEY, key);
    all.set(VALUE, value);
    let names: Vec<_> = key.split(',').map(|name| quoted(name.trim())).collect();
    let key = if let [name] = &names[..] {
        format!("{name} {of}")
    } else if keys == KeyKind::Names {
        // Numbers without a type would be texts, by which no reader of tiles finds its own.
        let of = if candidates::is_tile(key) { " INTEGER" } else { "" };
        names.iter().map(|name| format!("{name}{of} NOT NULL")).collect::<Vec<_>>().join(", ")
    } else {
        return Err(Error::usage(format!("key={key}: integers have one column")));
    };
    let whole = match names.len() {
        1 => String::new(),
        _ => format!(", PRIMARY KEY({})", names.join(", ")),
    };
    let [table, value] = [table, value].map(quoted);
    Ok((format!("CREATE TABLE {table}({key}, {value} BLOB{whole})"), all))
}

/// The columns that a scan of such a table shows last: whether the key's types are right, and the rowid.
const IS_KEY: i32 = 7;
const ROWID: i32 = 8;

/// Returns the rowid in a row of a scan.
pub(super) fn rowid(row: &Statement) -> i64 {
    row.integer(ROWID)
}

/// Checks the rows of a scan: each has a key of its own, and bytes or a text.
pub(super) struct RowCheck<'t> {
    table: &'t UsersTable,
    last: Option<OwnedKey>,
}

impl<'t> RowCheck<'t> {
    pub(super) fn new(table: &'t UsersTable) -> Self {
        Self { table, last: None }
    }

    /// Checks a row, and returns its item, whose value counts as bytes.
    ///
    /// # Errors
    ///
    /// Fails if the row has no such key or value, or the key of the row before.
    pub(super) fn item<'i>(&mut self, row: &Statement, item: Item<'i>) -> Result<Item<'i>> {
        let setting = |name| self.table.settings.get(name).unwrap_or_default();
        let (table, key, value) = (setting(TABLE), setting(KEY), setting(VALUE));
        if row.integer(IS_KEY) == 0 {
            return Err(Error::usage(format!(
                "{table}: a row has NULL, or a value of another type than the first row, in {key}; where= leaves \
                 such rows out"
            )));
        }
        if !matches!(item.value_type, ValueType::Bytes | ValueType::Text) {
            let only = match item.value_type {
                ValueType::Null => format!("{value} IS NOT NULL"),
                _ => format!("typeof({value}) IN ('blob','text')"),
            };
            return Err(Error::usage(format!(
                "{table}: {value} of key {} is {}, which is no value; where={only} leaves such rows out",
                item.key, item.value_type
            )));
        }
        if !self.table.is_unique {
            if self.last.as_ref().is_some_and(|last| last.as_key() == item.key) {
                return Err(Error::usage(format!(
                    "{table}: {key} is no key: {} repeats; key= names other columns, and where= leaves rows out",
                    item.key
                )));
            }
            self.last = Some(item.key.into());
        }
        Ok(Item { value_type: ValueType::Bytes, ..item })
    }
}

/// Returns the error of an operation that a table does not allow.
#[cold]
pub(super) fn refused(table: &UsersTable, why: &str) -> Error {
    let table = table.settings.get(TABLE).unwrap_or_default();
    Error::new(ErrorKind::Usage, format!("{table}: {why}"))
}
