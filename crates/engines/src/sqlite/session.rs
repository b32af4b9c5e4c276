//! One worker's connection with its prepared statements and blob handles.

use model::{
    Done, Error, How, Item, Key, KeyKind, Meta, Mode, Put, Result, Scan, Session, Visitor,
};

use super::{
    ffi::{Blob, Connection, Statement},
    table::Table,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    Sql,
    Blob,
}

pub(super) struct SqliteSession {
    api: Api,
    table: &'static Table,
    /// Between `begin` and `commit`. Outside, a blob handle would keep its transaction open
    /// after the operation, so it is dropped there.
    in_batch: bool,
    reader: Option<Blob>,
    writer: Option<Blob>,
    get: Statement,
    rowid: Statement,
    insert: Statement,
    update: Statement,
    upsert: Statement,
    delete: Statement,
    scan: Statement,
    list: Statement,
    begin_read: Statement,
    begin_write: Statement,
    commit: Statement,
    db: Connection,
}

impl SqliteSession {
    pub(super) fn new(db: Connection, table: &'static Table, api: Api) -> Result<Self> {
        Ok(Self {
            api,
            table,
            in_batch: false,
            reader: None,
            writer: None,
            get: db.prepare(table.get)?,
            rowid: db.prepare(table.rowid)?,
            insert: db.prepare(table.insert)?,
            update: db.prepare(table.update)?,
            upsert: db.prepare(table.upsert)?,
            delete: db.prepare(table.delete)?,
            scan: db.prepare(table.scan)?,
            list: db.prepare(table.list)?,
            begin_read: db.prepare("BEGIN")?,
            begin_write: db.prepare("BEGIN IMMEDIATE")?,
            commit: db.prepare("COMMIT")?,
            db,
        })
    }

    fn get_by_sql(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        bind_key(&mut self.get, self.table, key)?;
        let found = self.get.step()?.then(|| {
            let value = self.get.blob(0);
            if let Some(room) = into.get_mut(..value.len()) {
                room.copy_from_slice(value);
            }
            value.len()
        });
        self.get.reset();
        Ok(found)
    }

    fn get_by_blob(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let Some(rowid) = self.rowid_of(key)? else { return Ok(None) };
        let found = match move_to(&mut self.reader, &self.db, self.table, rowid, false) {
            Ok(Some(blob)) => copy(blob, into).map(Some),
            Ok(None) => Ok(None),
            // A value that is NULL or a number has no blob handle.
            Err(_) => self.get_by_sql(key, into),
        };
        if !self.in_batch {
            self.reader = None;
        }
        found
    }

    /// Overwrites through a blob handle; `false` where that cannot be done (no such row, another
    /// length) and SQL has to.
    fn overwrite(&mut self, key: Key<'_>, value: &[u8]) -> Result<bool> {
        let Some(rowid) = self.rowid_of(key)? else { return Ok(false) };
        let written = match move_to(&mut self.writer, &self.db, self.table, rowid, true) {
            Ok(Some(blob)) if blob.len() == value.len() => blob.write(value).map(|()| true),
            _ => Ok(false),
        };
        if !self.in_batch {
            self.writer = None;
        }
        written
    }

    fn put_by_sql(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        let statement = match put.how {
            How::Insert => &mut self.insert,
            How::Update => &mut self.update,
            How::Upsert => &mut self.upsert,
        };
        bind_key(statement, self.table, key)?;
        // SAFETY: `value` outlives this call, which resets the statement; see `Statement`.
        unsafe { statement.bind_blob(2, value)? };
        if self.table.keys == KeyKind::Names {
            bind_meta(statement, put.meta)?;
        }
        statement.step()?;
        statement.reset();
        Ok(self.db.changes() > 0)
    }

    fn rowid_of(&mut self, key: Key<'_>) -> Result<Option<i64>> {
        if let Key::Int(key) = key
            && self.table.keys == KeyKind::Integers
        {
            return Ok(Some(key));
        }
        bind_key(&mut self.rowid, self.table, key)?;
        let found = self.rowid.step()?.then(|| self.rowid.integer(0));
        self.rowid.reset();
        Ok(found)
    }
}

/// Copies a blob to the front of `into` if it fits, and returns its length.
#[inline]
fn copy(blob: &mut Blob, into: &mut [u8]) -> Result<usize> {
    let length = blob.len();
    if let Some(room) = into.get_mut(..length) {
        blob.read(room)?;
    }
    Ok(length)
}

/// Points `handle` at a row, opening it if need be; `None` where there is no such row. A handle
/// that failed to move is dropped: SQLite does not let it be used again.
#[inline]
fn move_to<'h>(
    handle: &'h mut Option<Blob>,
    db: &Connection,
    table: &Table,
    rowid: i64,
    write: bool,
) -> Result<Option<&'h mut Blob>> {
    let Some(blob) = handle else {
        *handle = db.blob(table.name, table.column, rowid, write)?;
        return Ok(handle.as_mut());
    };
    let moved = blob.reopen(rowid);
    if !matches!(moved, Ok(true)) {
        *handle = None;
    }
    moved.map(|_| handle.as_mut())
}

#[inline]
fn bind_key(statement: &mut Statement, table: &Table, key: Key<'_>) -> Result<()> {
    match (key, table.keys) {
        (Key::Int(key), KeyKind::Integers) => statement.bind_integer(1, key),
        // SAFETY: every caller resets the statement before it returns, and `key` outlives it.
        (Key::Name(name), KeyKind::Names) => unsafe { statement.bind_text(1, name) },
        (_, kind) => Err(Error::usage(format!("key {key}: this database's keys are {kind}"))),
    }
}

fn bind_meta(statement: &mut Statement, meta: Option<Meta>) -> Result<()> {
    if let Some(meta) = meta {
        statement.bind_integer(3, i64::from(meta.mode))?;
        statement.bind_integer(4, meta.seconds)
    } else {
        statement.bind_null(3)?;
        statement.bind_null(4)
    }
}

impl Session for SqliteSession {
    #[inline]
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        match self.api {
            Api::Sql => self.get_by_sql(key, into),
            Api::Blob => self.get_by_blob(key, into),
        }
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        let in_place = self.api == Api::Blob && put.how != How::Insert && put.meta.is_none();
        if in_place && self.overwrite(key, value)? {
            return Ok(true);
        }
        self.put_by_sql(key, value, put)
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        bind_key(&mut self.delete, self.table, key)?;
        self.delete.step()?;
        self.delete.reset();
        Ok(self.db.changes() > 0)
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        let begin = match mode {
            Mode::Read => &mut self.begin_read,
            Mode::Write => &mut self.begin_write,
        };
        begin.step()?;
        begin.reset();
        self.in_batch = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.in_batch = false;
        self.reader = None;
        self.writer = None;
        self.commit.step()?;
        self.commit.reset();
        Ok(())
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let rows = if scan.values { &mut self.scan } else { &mut self.list };
        bind_key(rows, self.table, scan.from.unwrap_or(Key::least(self.table.keys)))?;
        rows.bind_integer(2, i64::try_from(scan.limit).unwrap_or(i64::MAX))?;
        let visited = visit_rows(rows, self.table, &|e| self.db.named(e), visit);
        rows.reset();
        visited
    }

    fn statistics(&self) -> Vec<(&'static str, i64)> {
        let mut counters = self.db.cache_counters();
        counters.extend(self.db.waits());
        counters
    }

    fn background_work(&self) -> Vec<Done> {
        self.db.checkpoints()
    }
}

fn visit_rows(
    rows: &mut Statement,
    table: &Table,
    named: &dyn Fn(Error) -> Error,
    visit: &mut Visitor<'_>,
) -> Result<()> {
    while rows.step().map_err(named)? {
        let (key, length) = (key_of(rows, table), rows.integer(2));
        uncompressed(key, length, rows.integer(3))?;
        let (length, meta) = (length.unsigned_abs(), meta_of(rows, table));
        if visit(Item { key, value: rows.blob(1), length, meta })?.is_break() {
            break;
        }
    }
    Ok(())
}

fn key_of<'a>(row: &'a Statement, table: &Table) -> Key<'a> {
    match table.keys {
        KeyKind::Integers => Key::Int(row.integer(0)),
        KeyKind::Names => Key::Name(row.text(0)),
    }
}

fn meta_of(row: &Statement, table: &Table) -> Option<Meta> {
    (table.keys == KeyKind::Names).then(|| Meta {
        mode: u32::try_from(row.integer(4)).unwrap_or(0),
        seconds: row.integer(5),
        nanoseconds: 0,
    })
}

/// In an archive of another program, a value shorter than its `sz` is deflated.
fn uncompressed(key: Key<'_>, stored: i64, length: i64) -> Result<()> {
    if stored == length {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "{key} is compressed in this archive ({stored} of {length} bytes); storemark works on \
         uncompressed archives: extract it with `sqlite3 -A` and import the folder"
    )))
}

#[cfg(test)]
mod tests {
    use model::{Access, Blobs, OpenOptions, Settings, Store};

    use super::*;
    use crate::sqlite::Sqlite;

    fn store(folder: &tempfile::TempDir) -> Box<dyn Store> {
        let mut settings = Settings::default();
        settings.set("api", "blob");
        let options = OpenOptions { settings, access: Access::Write, keys: KeyKind::Integers };
        Sqlite.create(&folder.path().join("a.db"), &options).unwrap()
    }

    /// A blob handle left open would keep the transaction open in which SQL wrote the new length.
    #[test]
    fn outside_a_batch_another_session_sees_a_put_of_another_length() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let (mut writer, mut reader) = (store.session().unwrap(), store.session().unwrap());
        for value in [&b"long"[..], b"short", b"short", b""] {
            assert!(writer.put(Key::Int(1), value, &Put::default()).unwrap());
            let mut buffer = [0; 8];
            assert_eq!(reader.get(Key::Int(1), &mut buffer).unwrap(), Some(value.len()));
            assert_eq!(&buffer[..value.len()], value);
        }
    }
}
