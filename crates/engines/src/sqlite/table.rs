//! The tables that hold the values: kvtest's `kv` for integers, `sqlar` for names.

use std::ffi::CStr;

use model::{Error, ErrorKind, KeyKind, Result};

use super::ffi::Connection;

/// A table of values, with the parts of the statements on it. Parameters are the same in all: `?1`
/// key, `?2` value, `?3` mode, `?4` modification time.
pub(crate) struct SqlTable {
    pub(crate) keys: KeyKind,
    pub(crate) name: &'static str,
    /// The column of the key.
    pub(crate) key: &'static str,
    /// The column of the value.
    pub(crate) value: &'static str,
    /// The table and the column for blob handles.
    pub(crate) blobs: (&'static CStr, &'static CStr),
    pub(crate) create: &'static str,
    /// A query that fails to prepare if the table has other columns or no rowid.
    pub(crate) probe: &'static str,
    pub(crate) insert: &'static str,
    /// The assignments of an update.
    pub(crate) set: &'static str,
    /// The expression for the length of the value: a number has eight bytes.
    pub(crate) length: &'static str,
    /// The columns that a scan shows after the value: its length before compression, mode and time.
    pub(crate) facts: &'static str,
    /// The condition on the rows that a scan shows.
    pub(crate) filter: &'static str,
}

pub(super) static KV: SqlTable = SqlTable {
    keys: KeyKind::Integers,
    name: "kv",
    key: "k",
    value: "v",
    blobs: (c"kv", c"v"),
    create: "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)",
    probe: "SELECT k, v, rowid FROM kv LIMIT 0",
    insert: "INSERT INTO kv(k,v) VALUES(?1,?2)",
    set: "v=?2",
    length: "CASE typeof(v) WHEN 'integer' THEN 8 WHEN 'real' THEN 8 ELSE octet_length(v) END",
    facts: "0, 0, 0",
    filter: "1",
};

/// The SQLite archive table (<https://sqlite.org/sqlar.html>), values uncompressed, so that
/// `sz` is their length. A row is a value unless its mode says that it is no regular file; SQLite's
/// shell reads a mode without a type, or none, in the same way.
pub(super) static SQLAR: SqlTable = SqlTable {
    keys: KeyKind::Names,
    name: "sqlar",
    key: "name",
    value: "data",
    blobs: (c"sqlar", c"data"),
    create: "CREATE TABLE sqlar(name TEXT PRIMARY KEY, mode INT, mtime INT, sz INT, data BLOB)",
    probe: "SELECT name, mode, mtime, sz, data, rowid FROM sqlar LIMIT 0",
    insert: "INSERT INTO sqlar(name,mode,mtime,sz,data) \
             VALUES(?1,coalesce(?3,33188),coalesce(?4,0),octet_length(?2),?2)",
    set: "data=?2, sz=octet_length(?2), mode=coalesce(?3,mode), mtime=coalesce(?4,mtime)",
    length: "CASE typeof(data) WHEN 'integer' THEN 8 WHEN 'real' THEN 8 ELSE octet_length(data) END",
    facts: "sz, mode, mtime",
    filter: "typeof(name)='text' AND ifnull(mode & 61440, 0) IN (0, 32768)",
};

/// The tables of a database of this engine: `kv` if it has both.
pub(crate) static OWN: [&SqlTable; 2] = [&KV, &SQLAR];

/// The index of the rowid's column in the probes of tables of integers.
const ROWID: i32 = 2;

impl SqlTable {
    pub(super) fn for_keys(keys: KeyKind) -> &'static Self {
        if keys == KeyKind::Names { &SQLAR } else { &KV }
    }

    /// Returns the first of `tables` that an existing database has.
    ///
    /// # Errors
    ///
    /// Fails if it has none of them, or the table has another form.
    pub(super) fn find(db: &Connection, tables: &[&'static Self]) -> Result<&'static Self> {
        let refuse = |why: &str| Err(db.add_file_name(Error::usage(why)));
        let names =
            db.column("SELECT name FROM sqlite_master WHERE type='table' ORDER BY name", 0)?;
        let Some(table) = tables.iter().find(|own| names.iter().any(|n| n == own.name)) else {
            let wanted: Vec<_> = tables.iter().map(|own| own.name).collect();
            let tables = match &names[..] {
                [] => "it has no tables at all".to_owned(),
                names => format!("its tables are {}", names.join(", ")),
            };
            let wanted = wanted.join(" nor ");
            return refuse(&format!("has no table {wanted}; {tables}"));
        };
        let probe = match db.prepare(table.probe) {
            Err(error) if error.to_string().ends_with("no such column: rowid") => {
                let SqlTable { name, create, .. } = table;
                return refuse(&format!(
                    "the table {name} is WITHOUT ROWID; storemark reads tables as by {create}"
                ));
            }
            probe => probe.map_err(|e| e.with_kind(ErrorKind::Usage))?,
        };
        // kvtest's key is the rowid itself, whose column has the name of the key then; anything else
        // would be looked up by another path.
        if table.keys == KeyKind::Integers && probe.name(ROWID) != table.key {
            let Self { name, key, .. } = table;
            return refuse(&format!("{name}.{key} is not declared INTEGER PRIMARY KEY"));
        }
        Ok(table)
    }
}
