//! The tables that hold the values: kvtest's `kv` for integers, `sqlar` for names.

use std::ffi::CStr;

use model::{Error, ErrorKind, KeyKind, Result};

use super::ffi::Connection;

/// One of the two tables, with the statements on it. Parameters are the same in both: `?1` key,
/// `?2` value, `?3` mode, `?4` modification time.
pub(super) struct Table {
    pub(super) keys: KeyKind,
    pub(super) name: &'static CStr,
    pub(super) column: &'static CStr,
    pub(super) create: &'static str,
    /// Fails to prepare where the table has other columns or no rowid.
    pub(super) probe: &'static str,
    pub(super) get: &'static str,
    pub(super) rowid: &'static str,
    pub(super) insert: &'static str,
    pub(super) update: &'static str,
    pub(super) upsert: &'static str,
    pub(super) delete: &'static str,
    /// Columns: key, value, length, uncompressed length, mode, time; from key `?1` on, `?2` rows at
    /// most.
    pub(super) scan: &'static str,
    /// The same without the values.
    pub(super) list: &'static str,
}

pub(super) static KV: Table = Table {
    keys: KeyKind::Integers,
    name: c"kv",
    column: c"v",
    create: "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)",
    probe: "SELECT k, v, rowid FROM kv LIMIT 0",
    get: "SELECT v FROM kv WHERE k=?1",
    rowid: "SELECT ?1",
    insert: "INSERT INTO kv(k,v) VALUES(?1,?2) ON CONFLICT DO NOTHING",
    update: "UPDATE kv SET v=?2 WHERE k=?1",
    upsert: "INSERT INTO kv(k,v) VALUES(?1,?2) ON CONFLICT(k) DO UPDATE SET v=excluded.v",
    delete: "DELETE FROM kv WHERE k=?1",
    scan: "SELECT k, v, octet_length(v), octet_length(v), 0, 0 FROM kv \
           WHERE k>=?1 ORDER BY k LIMIT ?2",
    list: "SELECT k, NULL, octet_length(v), octet_length(v), 0, 0 FROM kv \
           WHERE k>=?1 ORDER BY k LIMIT ?2",
};

/// The SQLite archive table (<https://sqlite.org/sqlar.html>), values uncompressed, so that
/// `sz` is their length. Only rows whose mode says "regular file" (`S_IFREG`) count.
pub(super) static SQLAR: Table = Table {
    keys: KeyKind::Names,
    name: c"sqlar",
    column: c"data",
    create: "CREATE TABLE sqlar(name TEXT PRIMARY KEY, mode INT, mtime INT, sz INT, data BLOB)",
    probe: "SELECT name, mode, mtime, sz, data, rowid FROM sqlar LIMIT 0",
    get: "SELECT data FROM sqlar WHERE name=?1",
    rowid: "SELECT rowid FROM sqlar WHERE name=?1",
    insert: "INSERT INTO sqlar(name,mode,mtime,sz,data) \
             VALUES(?1,coalesce(?3,33188),coalesce(?4,0),length(?2),?2) ON CONFLICT DO NOTHING",
    update: "UPDATE sqlar SET data=?2, sz=length(?2), mode=coalesce(?3,mode), \
             mtime=coalesce(?4,mtime) WHERE name=?1",
    upsert: "INSERT INTO sqlar(name,mode,mtime,sz,data) \
             VALUES(?1,coalesce(?3,33188),coalesce(?4,0),length(?2),?2) \
             ON CONFLICT(name) DO UPDATE SET data=excluded.data, sz=excluded.sz, \
             mode=coalesce(?3,mode), mtime=coalesce(?4,mtime)",
    delete: "DELETE FROM sqlar WHERE name=?1",
    scan: "SELECT name, data, octet_length(data), sz, mode, mtime FROM sqlar \
           WHERE name>=?1 AND (mode & 61440)=32768 ORDER BY name LIMIT ?2",
    list: "SELECT name, NULL, octet_length(data), sz, mode, mtime FROM sqlar \
           WHERE name>=?1 AND (mode & 61440)=32768 ORDER BY name LIMIT ?2",
};

impl Table {
    pub(super) fn of(keys: KeyKind) -> &'static Self {
        match keys {
            KeyKind::Integers => &KV,
            KeyKind::Names => &SQLAR,
        }
    }

    /// The table that an existing database has; `kv` where it has both.
    pub(super) fn find(db: &Connection) -> Result<&'static Self> {
        let names = db.column("SELECT name FROM sqlite_schema WHERE type='table' ORDER BY name")?;
        let has = |table: &Self| names.iter().any(|name| name.as_bytes() == table.name.to_bytes());
        match [&KV, &SQLAR].into_iter().find(|table| has(table)) {
            Some(table) => {
                db.prepare(table.probe).map_err(|e| e.with_kind(ErrorKind::Usage))?;
                table.check_key(db)
            }
            None if names.is_empty() => {
                Err(db.named(Error::usage("has no table kv (nor sqlar); it has no tables at all")))
            }
            None => Err(db.named(Error::usage(format!(
                "has no table kv (nor sqlar); its tables are {}",
                names.join(", ")
            )))),
        }
    }

    /// kvtest's key is the rowid itself; anything else would be looked up by another path.
    fn check_key(&'static self, db: &Connection) -> Result<&'static Self> {
        const IS_ROWID: &str = "SELECT count(*) FROM pragma_table_info('kv') \
                                WHERE name='k' AND upper(type)='INTEGER' AND pk=1 AND NOT EXISTS \
                                (SELECT 1 FROM pragma_index_list('kv') WHERE origin='pk')";
        if self.keys == KeyKind::Integers && db.number(IS_ROWID)? == 0 {
            return Err(db.named(Error::usage("kv.k is not declared INTEGER PRIMARY KEY")));
        }
        Ok(self)
    }
}
