//! A worker's connection to a database, with its prepared statements and blob handles.

use std::{ops::ControlFlow, sync::Arc};

use model::{
    Error, FinishedWork, How, Item, Key, KeyKind, Mode, Put, Result, Scan, Session, ValueType,
    Visitor, copy_value,
};

use super::{
    ffi::{Blob, Connection, Parameter, Statement},
    key_columns::{KeyColumns, KeyValues},
    statements::{Prepared, Scans, Writes},
    stored,
    table::{SqlTable, UTF_16, UsersTable},
    users::{self, RowCheck},
};

/// The longest name in bytes.
const LONGEST_NAME: usize = 1 << 16;

/// A worker's session.
pub(crate) struct SqliteSession {
    /// Whether values are read and overwritten through blob handles.
    by_blob: bool,
    table: Arc<SqlTable>,
    /// Whether texts are in UTF-16.
    is_utf_16: bool,
    /// The room for the values of a key in other bytes than the key's.
    room: Vec<u8>,
    /// Whether a batch is open: between `begin` and `commit`. Outside, a blob handle would keep its
    /// transaction open after the operation, so it is dropped there.
    in_batch: bool,
    reader: Option<Blob>,
    writer: Option<Blob>,
    get: Statement,
    length: Statement,
    /// Finds the rowid of a key; `None` if rows have none.
    rowid: Option<Statement>,
    writes: Writes,
    scans: Scans,
    begin_read: Statement,
    begin_write: Statement,
    commit: Statement,
    db: Connection,
}

impl SqliteSession {
    pub(super) fn new(db: Connection, table: Arc<SqlTable>, by_blob: bool) -> Result<Self> {
        let SqlTable { name, value, length, at, .. } = &*table;
        let prepare = |sql: String| db.prepare(&db.adapt_sql(&sql));
        let rowid = table.rowid.as_ref();
        Ok(Self {
            by_blob,
            is_utf_16: db.is_utf_16()?,
            room: Vec::with_capacity(match table.key_columns {
                KeyColumns::Others(_) => LONGEST_NAME,
                KeyColumns::Integer | KeyColumns::Text => 0,
            }),
            in_batch: false,
            reader: None,
            writer: None,
            get: prepare(format!("SELECT {value} FROM {name} WHERE {at}"))?,
            length: prepare(format!("SELECT {length} FROM {name} WHERE {at}"))?,
            rowid: rowid
                .map(|rowid| prepare(format!("SELECT {rowid} FROM {name} WHERE {at}")))
                .transpose()?,
            writes: Writes::new(&db, &table),
            scans: Scans::new(&db, &table)?,
            begin_read: db.prepare("BEGIN")?,
            begin_write: db.prepare("BEGIN IMMEDIATE")?,
            commit: db.prepare("COMMIT")?,
            table,
            db,
        })
    }

    fn get_by_sql(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        self.read(key, |row| copy_value(row.blob(0), into))
    }

    /// Reads the row of `key`, whose only column is the value.
    #[inline]
    pub(crate) fn read<T>(
        &mut self,
        key: Key<'_>,
        read: impl FnOnce(&Statement) -> T,
    ) -> Result<Option<T>> {
        let Self { get, table, room, .. } = self;
        // One parameter stays in registers; room for several does not.
        match (key, &table.key_columns) {
            (Key::Int(key), KeyColumns::Integer) => get.row([Parameter::Integer(key)], read),
            (Key::Name(name), KeyColumns::Text) => get.row([Parameter::Text(name)], read),
            (key, columns) => get.row(columns.values(key, room)?.iter(), read),
        }
    }

    /// Reads the row of `key` by a statement of the caller's on this session's connection, whose
    /// only parameter is the key.
    pub(crate) fn read_by<T>(
        &self,
        statement: &mut Statement,
        key: Key<'_>,
        read: impl FnOnce(&Statement) -> T,
    ) -> Result<Option<T>> {
        statement.row(self.table.key_columns.values(key, &mut Vec::new())?.iter(), read)
    }

    pub(crate) fn prepare(&self, sql: &str) -> Result<Statement> {
        self.db.prepare(&self.db.adapt_sql(sql))
    }

    fn get_by_blob(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let Some(rowid) = self.rowid_of(key)? else { return Ok(None) };
        let blobs = (&*self.table.blobs.0, &*self.table.blobs.1);
        let found = match self.db.move_blob(&mut self.reader, blobs, rowid, false) {
            Ok(None) => Ok(None),
            Ok(Some(blob)) => match into.get_mut(..blob.len()) {
                Some(room) => blob.read(room).map(|()| Some(room.len())),
                None => Ok(Some(blob.len())),
            },
            // A value that is NULL or a number has no blob handle.
            Err(_) => self.get_by_sql(key, into),
        };
        if !self.in_batch {
            self.reader = None;
        }
        found
    }

    /// Overwrites through a blob handle; returns `false` if that cannot be done (no such row,
    /// another length) and SQL has to.
    fn overwrite(&mut self, key: Key<'_>, value: &[u8]) -> Result<bool> {
        let Some(rowid) = self.rowid_of(key)? else { return Ok(false) };
        let blobs = (&*self.table.blobs.0, &*self.table.blobs.1);
        let written = match self.db.move_blob(&mut self.writer, blobs, rowid, true) {
            Ok(Some(blob)) if blob.len() == value.len() => blob.write(value).map(|()| true),
            _ => Ok(false),
        };
        if !self.in_batch {
            self.writer = None;
        }
        written
    }

    fn put_by_sql(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        let table = Arc::clone(&self.table);
        let Some(users) = &table.users else { return self.run_put(key, value, put) };
        users.check_put(put.how)?;
        // No index of the user's refuses a key that is there, or gives it to one row alone.
        if !users.is_unique && put.how != How::Update {
            let rows = self.count_rows(key)?;
            if rows > 1 {
                return Err(users.repeated(key));
            }
            if rows == 1 && put.how == How::Insert {
                return Ok(false);
            }
        }
        let changed = self.run_put(key, value, put).map_err(|error| users.failed(key, error))?;
        let may_change_nothing = match put.how {
            _ if changed => true,
            How::Insert => self.length(key)?.is_some(),
            How::Update => self.length(key)?.is_none(),
            How::Upsert => false,
        };
        if may_change_nothing { Ok(changed) } else { Err(users.ignored(key)) }
    }

    /// Returns how many rows have this key.
    fn count_rows(&mut self, key: Key<'_>) -> Result<u64> {
        let Self { length, table, room, .. } = self;
        let mut count = 0;
        length.rows(table.key_columns.values(key, room)?.iter(), |_| {
            count += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count)
    }

    fn run_put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        let Self { db, table, room, writes: Writes { insert, update, upsert, .. }, .. } = self;
        let of = match &table.users {
            Some(users) if users.of_text => ValueType::Text,
            _ => put.value_type,
        };
        let bound = (table.key_columns.values(key, room)?, stored::value(value, of)?);
        let run = |statement: &mut Prepared| write(db, table, statement.get()?, &bound, put);
        match (put.how, upsert) {
            (How::Insert, _) => run(insert),
            (How::Update, _) => run(update),
            (How::Upsert, Some(upsert)) => run(upsert),
            (How::Upsert, None) => Ok(run(update)? || run(insert)?),
        }
    }

    /// Puts by a statement of the caller's on this session's connection, with the parameters of those that
    /// update; returns whether it changed a row.
    pub(crate) fn put_by(
        &self,
        statement: &mut Statement,
        key: Key<'_>,
        value: &[u8],
        put: &Put,
    ) -> Result<bool> {
        let room = &mut Vec::new();
        let key = self.table.key_columns.values(key, room)?;
        write(&self.db, &self.table, statement, &(key, stored::value(value, put.value_type)?), put)
    }

    /// Deletes by a statement of the caller's on this session's connection, whose only parameter is the
    /// key; returns whether there was a row.
    pub(crate) fn delete_by(&self, statement: &mut Statement, key: Key<'_>) -> Result<bool> {
        statement.run(self.table.key_columns.values(key, &mut Vec::new())?.iter())?;
        Ok(self.db.changes() > 0)
    }

    fn rowid_of(&mut self, key: Key<'_>) -> Result<Option<i64>> {
        let Self { rowid, table, room, .. } = self;
        match (key, rowid) {
            (Key::Int(key), _) if table.rowid.as_ref() == Some(&table.key) => Ok(Some(key)),
            (_, None) => Ok(None),
            (_, Some(rowid)) => {
                rowid.row(table.key_columns.values(key, room)?.iter(), |row| row.integer(0))
            }
        }
    }

    /// Visits rows, whose values are read by their keys or rowids if SQLite sorted the rows with them
    /// otherwise.
    fn scan_users(
        &mut self,
        users: &UsersTable,
        scan: Scan<'_>,
        visit: &mut Visitor<'_>,
    ) -> Result<()> {
        let Self { db, table, room, scans, get, is_utf_16, .. } = self;
        let limit = Parameter::Integer(i64::try_from(scan.limit).unwrap_or(i64::MAX));
        // Without a rowid and an index each value would be looked for among all rows.
        let is_found = table.rowid.is_some() || users.unindexed.is_none();
        let apart = users.sorts && scan.values && is_found;
        let (from, rows) = match (scan.from, &mut scans.from) {
            (None, _) if scan.values && !apart => (None, &mut scans.whole),
            (None, _) => (None, &mut scans.list),
            (Some(from), Some([_, list])) if apart || !scan.values => (Some(from), list),
            (Some(from), Some([whole, _])) => (Some(from), whole),
            (Some(_), None) => {
                let why = "rows from a key on are not read by a key of several columns";
                return Err(users.refused(why));
            }
        };
        let mut bytes = Vec::new();
        let from = from.map(|from| table.key_columns.values(from, &mut bytes)).transpose()?;
        let first = from.map_or_else(|| vec![Parameter::Null], |from| from.iter().collect());
        let (mut number, mut check) = ([0; 8], RowCheck::new(users));
        let value = &mut scans.value;
        rows.rows(first.into_iter().chain([limit]), |row| {
            let item = stored::item(row, table.keys, &mut number)
                .and_then(|item| check.item(row, check_text(item, *is_utf_16)?));
            let item = item.map_err(|error| db.add_file_name(error))?;
            if !apart {
                return visit(item);
            }
            let mut visited = Ok(ControlFlow::Continue(()));
            let mut show = |row: &Statement| {
                let value = row.blob(0);
                visited = visit(Item { value, length: value.len() as u64, ..item });
            };
            match value {
                Some(value) => value.row([Parameter::Integer(users::rowid(row))], &mut show)?,
                None => get.row(table.key_columns.values(item.key, room)?.iter(), &mut show)?,
            };
            visited
        })
    }
}

/// Fails if the value of an item is a text in UTF-16: its length would not be that of what is read.
fn check_text(item: Item<'_>, is_utf_16: bool) -> Result<Item<'_>> {
    if is_utf_16 && item.value_type == ValueType::Text {
        return Err(Error::unsupported(format!("key {} has a text: {UTF_16}", item.key)));
    }
    Ok(item)
}

/// Runs a statement that puts a value; returns whether it changed a row.
fn write(
    db: &Connection,
    table: &SqlTable,
    statement: &mut Statement,
    (key, value): &(KeyValues<'_>, Parameter<'_>),
    put: &Put,
) -> Result<bool> {
    let parameters = key.iter().chain([*value]);
    if table.keys == KeyKind::Integers || table.users.is_some() {
        statement.run(parameters)?;
    } else {
        let mode = put.meta.map_or(Parameter::Null, |meta| Parameter::Integer(meta.mode.into()));
        let time = put.meta.map_or(Parameter::Null, |meta| Parameter::Integer(meta.seconds));
        statement.run(parameters.chain([mode, time]))?;
    }
    Ok(db.changes() > 0)
}

impl Session for SqliteSession {
    #[inline]
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        if let Some(users) = &self.table.users
            && let Some(why) = &users.unindexed
        {
            return Err(users.refused(why));
        }
        if self.by_blob { self.get_by_blob(key, into) } else { self.get_by_sql(key, into) }
    }

    fn length(&mut self, key: Key<'_>) -> Result<Option<u64>> {
        let Self { length, table, room, .. } = self;
        length.row(table.key_columns.values(key, room)?.iter(), |row| row.integer(0).unsigned_abs())
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        let bytes = put.meta.is_none() && put.value_type == ValueType::Bytes;
        // A handle leaves the type of a value as it is: only what replaces the bytes of a value that is
        // known may use one, not an upsert.
        let in_place = self.by_blob && put.how == How::Update && bytes;
        if in_place && self.overwrite(key, value)? {
            return Ok(true);
        }
        self.put_by_sql(key, value, put)
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        let Self { writes, table, room, .. } = self;
        writes.delete.get()?.run(table.key_columns.values(key, room)?.iter())?;
        if self.db.changes() > 0 {
            return Ok(true);
        }
        let table = Arc::clone(&self.table);
        match &table.users {
            Some(users) if self.length(key)?.is_some() => Err(users.ignored(key)),
            _ => Ok(false),
        }
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        let begin = match mode {
            Mode::Read | Mode::Deferred => &mut self.begin_read,
            Mode::Write => &mut self.begin_write,
        };
        begin.run([])?;
        self.in_batch = true;
        Ok(())
    }

    /// Undoes the batch, also after an error that ended it already.
    fn roll_back(&mut self) {
        self.in_batch = false;
        self.reader = None;
        self.writer = None;
        let _ = self.db.execute("ROLLBACK");
    }

    fn commit(&mut self) -> Result<()> {
        self.in_batch = false;
        self.reader = None;
        self.writer = None;
        self.commit.run([])
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let table = Arc::clone(&self.table);
        if let Some(users) = &table.users {
            return self.scan_users(users, scan, visit);
        }
        let from = scan.from.unwrap_or(Key::smallest(table.keys));
        let limit = Parameter::Integer(i64::try_from(scan.limit).unwrap_or(i64::MAX));
        let is_utf_16 = self.is_utf_16;
        let Scans { from: rows, whole, list, .. } = &mut self.scans;
        let [whole, list] = rows.as_mut().map_or([whole, list], |[whole, list]| [whole, list]);
        let rows = if scan.values { whole } else { list };
        let mut number = [0; 8];
        let key = table.key_columns.values(from, &mut self.room)?;
        rows.rows(key.iter().chain([limit]), |row| {
            visit(check_text(stored::item(row, table.keys, &mut number)?, is_utf_16)?)
        })
    }

    fn statistics(&self) -> Vec<(&'static str, i64)> {
        self.db.cache_counters().chain(self.db.waits()).collect()
    }

    fn background_work(&self) -> Vec<FinishedWork> {
        self.db.checkpoints()
    }
}
