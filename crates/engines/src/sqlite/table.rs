//! The tables that hold the values: kvtest's `kv` for integers, `sqlar` for names, or one of the
//! user's own.

use std::{borrow::Cow, ffi::CStr};

use model::{Error, KeyKind, Result, Settings};

use super::{ffi::Connection, key_columns::KeyColumns};

pub(crate) type Part = Cow<'static, str>;

/// A table of values, with the parts of the statements on it. Parameters are the same in all: those of
/// the key from `?1` on, then the value, mode, and modification time.
#[derive(Clone, Debug)]
pub(crate) struct SqlTable {
    pub(crate) keys: KeyKind,
    /// The columns of the key, as parameters.
    pub(crate) key_columns: KeyColumns,
    /// The name in the form that statements contain.
    pub(crate) name: Part,
    /// The key as a scan shows it.
    pub(crate) key: Part,
    /// The columns that are the key, as `ON CONFLICT` names them.
    pub(crate) unique: Part,
    /// The order of keys.
    pub(crate) order: Part,
    /// The condition for the row of a key.
    pub(crate) at: Part,
    /// The condition for the rows from a key on; `None` if none uses an index.
    pub(crate) from: Option<Part>,
    /// The column of the value.
    pub(crate) value: Part,
    /// The table and the column for blob handles.
    pub(crate) blobs: (Cow<'static, CStr>, Cow<'static, CStr>),
    /// The name of the rowid; `None` if rows have none.
    pub(crate) rowid: Option<Part>,
    pub(crate) create: Part,
    /// The columns that the table has in any case, unless it is one of the user's own.
    pub(crate) columns: &'static [&'static str],
    pub(crate) insert: Part,
    /// The assignments of an update.
    pub(crate) set: Part,
    /// The expression for the length of the value: a number has eight bytes.
    pub(crate) length: Part,
    /// The columns that a scan shows after the value: its length before compression, mode and time.
    pub(crate) facts: Part,
    /// The condition on the rows that a scan shows.
    pub(crate) filter: Part,
    /// What is particular to a table of the user's own; `None` for one of storemark's.
    pub(crate) users: Option<UsersTable>,
}

/// What is particular to a table of the user's own.
#[derive(Clone, Debug)]
pub(crate) struct UsersTable {
    /// The settings that find the values, all of them.
    pub(super) settings: Settings,
    /// Whether values are texts.
    pub(super) of_text: bool,
    /// Whether no two rows can have the same key.
    pub(super) is_unique: bool,
    /// Why single values are not read; `None` if they are.
    pub(super) unindexed: Option<String>,
    /// Whether SQLite sorts the keys, so that values are read one by one instead of sorted with them.
    pub(super) sorts: bool,
    /// The column without which there is no insert; `None` if there is none.
    pub(super) needs: Option<String>,
}

/// Why texts in UTF-16 are refused, and what to do.
pub(super) const UTF_16: &str = "this database keeps texts in UTF-16, with other lengths and in another order than \
                                 those of the bytes that are read; `sqlite3 OLD .dump | sqlite3 NEW` makes a copy \
                                 in UTF-8";

/// Returns a part of a statement that is known beforehand.
pub(crate) const fn part(text: &'static str) -> Part {
    Cow::Borrowed(text)
}

/// Returns the names of a table and a column that are known beforehand.
pub(crate) const fn names(
    table: &'static CStr,
    column: &'static CStr,
) -> (Cow<'static, CStr>, Cow<'static, CStr>) {
    (Cow::Borrowed(table), Cow::Borrowed(column))
}

pub(super) static KV: SqlTable = SqlTable {
    keys: KeyKind::Integers,
    key_columns: KeyColumns::Integer,
    name: part("kv"),
    key: part("k"),
    unique: part("k"),
    order: part("k"),
    at: part("k=?1"),
    from: Some(part("k>=?1")),
    value: part("v"),
    blobs: names(c"kv", c"v"),
    rowid: Some(part("k")),
    create: part("CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)"),
    columns: &["k", "v"],
    insert: part("INSERT INTO kv(k,v) VALUES(?1,?2)"),
    set: part("v=?2"),
    length: part(
        "CASE typeof(v) WHEN 'integer' THEN 8 WHEN 'real' THEN 8 ELSE octet_length(v) END",
    ),
    facts: part("0, 0, 0"),
    filter: part("1"),
    users: None,
};

/// The SQLite archive table (<https://sqlite.org/sqlar.html>), values uncompressed, so that
/// `sz` is their length. A row is a value unless its mode says that it is no regular file; SQLite's
/// shell reads a mode without a type, or none, in the same way.
pub(super) static SQLAR: SqlTable = SqlTable {
    keys: KeyKind::Names,
    key_columns: KeyColumns::Text,
    name: part("sqlar"),
    key: part("name"),
    unique: part("name"),
    order: part("name"),
    at: part("name=?1"),
    from: Some(part("name>=?1")),
    value: part("data"),
    blobs: names(c"sqlar", c"data"),
    rowid: Some(part("rowid")),
    create: part(
        "CREATE TABLE sqlar(name TEXT PRIMARY KEY, mode INT, mtime INT, sz INT, data BLOB)",
    ),
    columns: &["name", "mode", "mtime", "sz", "data"],
    insert: part(
        "INSERT INTO sqlar(name,mode,mtime,sz,data) \
         VALUES(?1,coalesce(?3,33188),coalesce(?4,0),octet_length(?2),?2)",
    ),
    set: part("data=?2, sz=octet_length(?2), mode=coalesce(?3,mode), mtime=coalesce(?4,mtime)"),
    length: part(
        "CASE typeof(data) WHEN 'integer' THEN 8 WHEN 'real' THEN 8 ELSE octet_length(data) END",
    ),
    facts: part("sz, mode, mtime"),
    filter: part("typeof(name)='text' AND ifnull(mode & 61440, 0) IN (0, 32768)"),
    users: None,
};

/// The tables of a database of this engine: `kv` if it has both.
pub(crate) static OWN: [&SqlTable; 2] = [&KV, &SQLAR];

impl SqlTable {
    pub(super) fn for_keys(keys: KeyKind) -> &'static Self {
        if keys == KeyKind::Names { &SQLAR } else { &KV }
    }

    /// Returns whether an existing database has one of `tables`, with the columns that it has.
    pub(super) fn is_in(db: &Connection, tables: &[&'static Self]) -> Result<bool> {
        Ok(Self::first_in(db, tables)?.is_ok())
    }

    /// Returns the first of `tables` that an existing database has.
    ///
    /// # Errors
    ///
    /// Fails if it has none of them, or the table has another form.
    pub(crate) fn find(db: &Connection, tables: &[&'static Self]) -> Result<&'static Self> {
        let table =
            Self::first_in(db, tables)?.map_err(|why| db.add_file_name(Error::usage(why)))?;
        if table.keys == KeyKind::Names && db.is_utf_16()? {
            return Err(
                db.add_file_name(Error::unsupported(format!("its keys are texts: {UTF_16}")))
            );
        }
        Ok(table)
    }

    /// Returns the first of `tables` that an existing database has, or why it has none.
    fn first_in(
        db: &Connection,
        tables: &[&'static Self],
    ) -> Result<std::result::Result<&'static Self, String>> {
        let names =
            db.column("SELECT name FROM sqlite_master WHERE type='table' ORDER BY name", 0)?;
        let mut other = None;
        for table in tables.iter().filter(|own| names.iter().any(|name| *name == own.name)) {
            match table.difference(db)? {
                None => return Ok(Ok(table)),
                why => other = other.or(why),
            }
        }
        Ok(Err(other.unwrap_or_else(|| {
            let wanted: Vec<_> = tables.iter().map(|own| &*own.name).collect();
            let names = match &names[..] {
                [] => "it has no tables at all".to_owned(),
                names => format!("its tables are {}", names.join(", ")),
            };
            format!("has no table {}; {names}", wanted.join(" nor "))
        })))
    }

    /// Returns in what a table of this name has another form; `None` if it has this one.
    fn difference(&self, db: &Connection) -> Result<Option<String>> {
        let Self { name, key, columns, .. } = self;
        let found = db.column(&format!("PRAGMA table_info({name})"), 1)?;
        let is_missing = |own: &&&str| !found.iter().any(|name| name.eq_ignore_ascii_case(own));
        if let Some(missing) = columns.iter().find(is_missing) {
            return Ok(Some(format!("its table {name} has no column {missing}")));
        }
        // kvtest's key is the rowid itself, whose column has the name of the key then; anything else
        // would be looked up by another path.
        let rowid = db.prepare(&format!("SELECT rowid FROM {name} LIMIT 0"));
        Ok(match rowid {
            Err(_) => Some(format!("its table {name} is WITHOUT ROWID")),
            Ok(rowid)
                if self.keys == KeyKind::Integers && !rowid.name(0).eq_ignore_ascii_case(key) =>
            {
                Some(format!("{name}.{key} is not declared INTEGER PRIMARY KEY"))
            }
            Ok(_) => None,
        })
    }
}
