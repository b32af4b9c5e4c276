//! The tables of a store. A value is a BLOB, or a TEXT that names its file: number and length, as
//! `17 204800`. The column `file` has the number as well, and is NULL for a BLOB: so a statement can be for
//! small values alone without reading one, and an index lists the others.

use model::KeyKind;

use crate::sqlite::{KeyColumns, SqlTable, names, part};

/// An expression for the length of a value. SQLite has `instr` only since 3.7.15.
const LENGTH: &str = "CASE WHEN file IS NULL THEN octet_length(value) \
                      ELSE CAST(ltrim(value,'0123456789') AS INTEGER) END";

static INTEGERS: SqlTable = SqlTable {
    keys: KeyKind::Integers,
    key_columns: KeyColumns::Integer,
    name: part("integers"),
    key: part("number"),
    unique: part("number"),
    order: part("number"),
    at: part("number=?1"),
    from: Some(part("number>=?1")),
    value: part("value"),
    blobs: names(c"integers", c"value"),
    rowid: Some(part("number")),
    create: part("CREATE TABLE integers(number INTEGER PRIMARY KEY, file INTEGER, value BLOB)"),
    columns: &["number", "file", "value"],
    insert: part("INSERT INTO integers(number,value) VALUES(?1,?2)"),
    set: part("value=?2"),
    length: part(LENGTH),
    facts: part("0, 0, 0"),
    filter: part("1"),
    users: None,
};

static NAMES: SqlTable = SqlTable {
    keys: KeyKind::Names,
    key_columns: KeyColumns::Text,
    name: part("names"),
    key: part("name"),
    unique: part("name"),
    order: part("name"),
    at: part("name=?1"),
    from: Some(part("name>=?1")),
    value: part("value"),
    blobs: names(c"names", c"value"),
    rowid: Some(part("rowid")),
    create: part(
        "CREATE TABLE names(name TEXT PRIMARY KEY, mode INT, mtime INT, file INTEGER, value BLOB)",
    ),
    columns: &["name", "mode", "mtime", "file", "value"],
    insert: part(
        "INSERT INTO names(name,mode,mtime,value) \
         VALUES(?1,coalesce(?3,33188),coalesce(?4,0),?2)",
    ),
    set: part("value=?2, mode=coalesce(?3,mode), mtime=coalesce(?4,mtime)"),
    length: part(LENGTH),
    facts: part("0, mode, mtime"),
    filter: part("1"),
    users: None,
};

pub(super) static TABLES: [&SqlTable; 2] = [&INTEGERS, &NAMES];

pub(super) fn for_keys(keys: KeyKind) -> &'static SqlTable {
    if keys == KeyKind::Names { &NAMES } else { &INTEGERS }
}

/// An expression for the column `file` of the value ?2. As an integer, a text is the number that it
/// starts with.
const FILE: &str = "CASE typeof(?2) WHEN 'text' THEN CAST(?2 AS INTEGER) END";

/// Returns the statement that inserts a value of either kind.
pub(super) fn insert(table: &SqlTable) -> String {
    let columns = table.insert.replacen('(', "(file,", 1);
    columns.replacen("VALUES(", &format!("VALUES({FILE},"), 1)
}

/// Returns the statement that replaces a value of either kind by one of either kind.
pub(super) fn replace(table: &SqlTable) -> String {
    let SqlTable { name, key, set, .. } = table;
    format!("UPDATE {name} SET {set}, file={FILE} WHERE {key}=?1")
}

/// A row's reference to the file with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileReference {
    pub(super) number: i64,
    pub(super) length: u64,
}

impl FileReference {
    /// Parses a reference; returns `None` if the text names no file.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let (number, length) = std::str::from_utf8(text).ok()?.split_once(' ')?;
        let reference = Self { number: number.parse().ok()?, length: length.parse().ok()? };
        (reference.number > 0).then_some(reference)
    }

    pub(super) fn text(self) -> String {
        format!("{} {}", self.number, self.length)
    }
}
