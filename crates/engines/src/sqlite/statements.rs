//! The prepared statements of a session that write and that visit rows.

use std::ffi::c_int;

use model::{Error, Result};

use super::{
    ffi::{Connection, Statement},
    table::SqlTable,
};

/// The first SQLite that has `ON CONFLICT`.
const ON_CONFLICT: c_int = 3_024_000;

/// The statements that write. Each is there, or else the reason why SQLite does not prepare it: a
/// generated column as the key blocks inserts alone, and a view, or a trigger with a function of the
/// user's program, blocks some or all of them.
pub(super) struct Writes {
    pub(super) insert: Prepared,
    pub(super) update: Prepared,
    /// The upsert; `None` in old builds and in tables of the user's own, where an update that finds no
    /// row is followed by an insert.
    pub(super) upsert: Option<Prepared>,
    pub(super) delete: Prepared,
}

/// A statement, or why there is none.
pub(super) struct Prepared(Result<Statement, String>);

impl Prepared {
    /// Returns the statement.
    ///
    /// # Errors
    ///
    /// Fails with SQLite's reason if it was not prepared.
    pub(super) fn get(&mut self) -> Result<&mut Statement> {
        self.0.as_mut().map_err(|why| Error::usage(why.clone()))
    }

    /// Returns SQLite's reason if it was not prepared.
    pub(super) fn why(&self) -> Option<String> {
        self.0.as_ref().err().cloned()
    }
}

impl Writes {
    pub(super) fn new(db: &Connection, table: &SqlTable) -> Self {
        let SqlTable { name, unique, insert, set, at, .. } = table;
        let old = db.version_number() < ON_CONFLICT;
        let prepare =
            |sql: String| Prepared(db.prepare(&db.adapt_sql(&sql)).map_err(|error| error.said()));
        Self {
            insert: prepare(if old {
                insert.replacen("INSERT", "INSERT OR IGNORE", 1)
            } else {
                format!("{insert} ON CONFLICT DO NOTHING")
            }),
            update: prepare(format!("UPDATE {name} SET {set} WHERE {at}")),
            upsert: (!old && table.users.is_none())
                .then(|| prepare(format!("{insert} ON CONFLICT({unique}) DO UPDATE SET {set}"))),
            delete: prepare(format!("DELETE FROM {name} WHERE {at}")),
        }
    }
}

/// The statements that visit rows.
pub(super) struct Scans {
    /// All rows with their values.
    pub(super) whole: Statement,
    /// All rows with lengths and types of their values.
    pub(super) list: Statement,
    /// The rows from a key on, as `whole` and `list`; `None` if none of the two uses an index.
    pub(super) from: Option<[Statement; 2]>,
    /// Reads the value of a rowid.
    pub(super) value: Option<Statement>,
}

/// A condition for all rows: those that are no values may be before the smallest key.
const ALL: &str = "(?1 OR 1)";

impl Scans {
    pub(super) fn new(db: &Connection, table: &SqlTable) -> Result<Self> {
        let SqlTable { name, key, order, value, length, facts, filter, from, rowid, .. } = table;
        let prepare = |sql: String| db.prepare(&db.adapt_sql(&sql));
        let scan = |shown: &str, first: &str| {
            let rows = format!("{name} WHERE {first} AND {filter} ORDER BY {order} LIMIT ?2");
            prepare(format!("SELECT {key}, {shown}, {facts} FROM {rows}"))
        };
        // The value itself has its length and type, without SQLite's functions for each row.
        let whole = format!("{value}, NULL, NULL");
        let list = format!("NULL, {length}, typeof({value})");
        let by_rowid = rowid.as_ref().filter(|_| table.users.is_some());
        Ok(Self {
            from: from
                .as_ref()
                .map(|from| Ok::<_, Error>([scan(&whole, from)?, scan(&list, from)?]))
                .transpose()?,
            whole: scan(&whole, ALL)?,
            list: scan(&list, ALL)?,
            value: by_rowid
                .map(|rowid| prepare(format!("SELECT {value} FROM {name} WHERE {rowid}=?1")))
                .transpose()?,
        })
    }
}
