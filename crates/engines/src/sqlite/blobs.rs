//! Values in SQLite: an open database, with a connection of its own for settings and checkpoints, and
//! each worker's connection with its prepared statements and blob handles.

use std::{
    ffi::c_int,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use kit::{lock, refusal};
use model::{
    Access, Arrangement, Blobs, Durability, EngineFacts as _, Entry, Error, Facet, FinishedWork,
    FoundValues, How, Item, Key, KeyKind, Mode, OpenOptions, Put, Result, Scan, Session, Settings,
    Store, ValueType, Visitor, copy_value,
};

use super::{
    Sqlite,
    database::{self, Database, Header},
    ffi::{Blob, Connection, LINKED, Open, Parameter, Statement},
    inspect,
    key_columns::{KeyColumns, KeyValues},
    library, stored,
    table::{SqlTable, UsersTable},
    users::{self, RowCheck},
};

use crate::fresh;

/// The first SQLite that has `ON CONFLICT`.
const ON_CONFLICT: i32 = 3_024_000;

impl Blobs for Sqlite {
    /// Returns the bytes of each connection's cache, in whole KiB.
    fn cache(&self, bytes: u64, sessions: u32) -> Option<u64> {
        Some(bytes / u64::from(sessions.max(1)) / 1024 * 1024)
    }

    fn recognises(&self, path: &Path) -> bool {
        Header::read(path).is_some()
    }

    fn files(&self, location: &Path) -> Vec<PathBuf> {
        database::files(location)
    }

    fn reading_changes(&self, location: &Path, settings: &Settings) -> Option<String> {
        let wal = Header::read(location)?.is_wal();
        if database::is_filled(location, "-wal") || database::is_filled(location, "-journal") {
            return Some("an unfinished or unmerged transaction is next to it".to_owned());
        }
        match settings.get("journal") {
            _ if wal => Some("opening a database in WAL mode creates files next to it".to_owned()),
            Some(mode) if mode != "delete" => {
                Some(format!("journal={mode} takes effect on writing"))
            }
            _ => None,
        }
    }

    /// Returns whether two builds can have the same files open. Builds in one process would
    /// truncate each other's index of a WAL, as locks are a process's. A build that only reads
    /// without a WAL needs no locks against the other.
    fn shares_files(&self, own: &Settings, other: &Settings) -> bool {
        let stored = |settings: &Settings| settings.stored(self.settings(Facet::Blobs));
        let same = own.get(library::SETTING) == other.get(library::SETTING);
        stored(own) == stored(other) && (same || !own.is("journal", "wal"))
    }

    fn reads_a_copy(&self, location: &Path) -> Result<bool> {
        Ok(database::lacks_log_index(location))
    }

    /// Finds the values by the database file alone: what is only in its log is not seen.
    fn find_values(&self, location: &Path, asked: &Settings) -> Result<Option<FoundValues>> {
        database::check(location, Access::Read)?;
        let unseen = database::lacks_log_index(location);
        let opening =
            if unseen { Open::Immutable } else { database::opening(location, Access::Read) };
        let db = Connection::open(&LINKED, location, opening)?;
        let found = db.with_short_waits(|db| users::find(db, asked));
        if unseen && found.is_err() {
            return Ok(None);
        }
        found.map_err(|error| if error.location().is_empty() { error.at(db.file()) } else { error })
    }

    fn replace_by_paths(
        &self,
        location: &Path,
        settings: &Settings,
        to: &Path,
        suffix: Option<&str>,
    ) -> Result<Option<Vec<String>>> {
        if !users::is_named(settings) {
            return Ok(None);
        }
        let db = Connection::open(&LINKED, location, database::opening(location, Access::Read))?;
        users::replace_by_paths(&db, settings, to, suffix)
    }

    fn other_contents(&self, location: &Path) -> Result<Vec<String>> {
        inspect::other_contents(location)
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        fresh::file(location, |file| {
            // Closing it later would give up the locks that SQLite has on it.
            drop(file);
            if !users::is_named(&options.settings) {
                let table = SqlTable::for_keys(options.keys);
                return SqliteStore::create(
                    location,
                    &table.create,
                    options,
                    |_| Ok(table.clone()),
                );
            }
            let (create, settings) = users::create(&options.settings, options.keys)?;
            SqliteStore::create(location, &create, options, |db| users::describe(db, &settings))
        })
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        let find = |db: &Connection| users::find_table(db, &options.settings);
        Ok(Box::new(SqliteStore::open(location, options, find)?))
    }
}

/// The longest name in bytes.
const LONGEST_NAME: usize = 1 << 16;

/// The longest row: `SQLITE_MAX_LENGTH` as it is by default, less what a row needs in addition to
/// name and value.
const LONGEST_ROW: u64 = 1_000_000_000 - 64;

/// An open store.
pub(crate) struct SqliteStore {
    database: Database,
    table: Arc<SqlTable>,
    control: Mutex<Connection>,
}

impl SqliteStore {
    /// Creates a database with one table, by the statement `create`, in the empty file at `location`;
    /// `find` describes the table.
    pub(crate) fn create(
        location: &Path,
        create: &str,
        options: &OpenOptions,
        find: impl FnOnce(&Connection) -> Result<SqlTable>,
    ) -> Result<Self> {
        let database = Database::existing(location, &options.settings);
        let control = database.open()?;
        database.lay_out(&control, &[create])?;
        let table = find(&control)?;
        Self::new(database, table, control)
    }

    /// Opens an existing database, in which `find` finds its table.
    pub(crate) fn open(
        location: &Path,
        options: &OpenOptions,
        find: impl FnOnce(&Connection) -> Result<SqlTable>,
    ) -> Result<Self> {
        let OpenOptions { access, settings, .. } = options;
        database::check(location, *access)?;
        let database = Database { access: *access, ..Database::existing(location, settings) };
        let control = database.open()?;
        let table = control.with_short_waits(find)?;
        let by_blob = settings.is("api", "blob");
        if let (true, None, Some(users)) = (by_blob, &table.rowid, &table.users) {
            return Err(users::refused(
                users,
                "api=blob needs a rowid, which its rows do not have",
            ));
        }
        Self::new(database, table, control)
    }

    fn new(database: Database, table: SqlTable, control: Connection) -> Result<Self> {
        database.configure(&control)?;
        Ok(Self { database, table: Arc::new(table), control: Mutex::new(control) })
    }

    pub(crate) fn worker(&self) -> Result<SqliteSession> {
        let db = self.database.connect()?.restrict_to_thread()?;
        if self.database.access == Access::Write {
            db.time_checkpoints()?;
        }
        let by_blob = self.database.settings.get("api") == Some("blob");
        SqliteSession::new(db, Arc::clone(&self.table), by_blob)
    }

    pub(crate) fn table(&self) -> &SqlTable {
        &self.table
    }

    pub(crate) fn access(&self) -> Access {
        self.database.access
    }

    /// Returns the version as a number: 3,050,004 for 3.50.4.
    pub(crate) fn version_number(&self) -> i32 {
        lock::hold(&self.control).version_number()
    }

    /// Runs a statement that returns nothing of interest.
    pub(crate) fn execute(&self, sql: &str) -> Result<()> {
        lock::hold(&self.control).execute(sql)
    }

    /// Returns the first column of the first row of `sql` as a number; 0 if there is no row.
    pub(crate) fn number(&self, sql: &str) -> Result<i64> {
        lock::hold(&self.control).number(sql)
    }

    /// Returns one column of all rows of `sql`, as text.
    pub(crate) fn column(&self, sql: &str, column: c_int) -> Result<Vec<String>> {
        lock::hold(&self.control).column(sql, column)
    }
}

/// The text that SQLite prints before what is wrong with the pages of a database.
const HEADING: &str = "*** in database main ***\n";

impl Store for SqliteStore {
    fn keys(&self) -> KeyKind {
        self.table.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(self.worker()?))
    }

    /// Checks the length of a row with all its columns, which is limited; the other columns take
    /// some bytes.
    fn check_item(&self, key: Key<'_>, length: u64) -> Result<()> {
        let name = if let Key::Name(name) = key { name.len() as u64 } else { 0 };
        if self.table.users.is_some() {
            self.table.key_columns.values(key, &mut Vec::new())?;
        }
        refusal::check_value(key, length, LONGEST_ROW.saturating_sub(name))
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let (settings, class) =
            self.database.in_effect(&lock::hold(&self.control), Facet::Blobs)?;
        let users = self.table.users.as_ref().map(|users| &users.settings);
        Ok((users.map_or(settings.clone(), |users| settings.overlaid(users)), class))
    }

    fn flush_writes(&self) -> Result<()> {
        let Database { access, settings, .. } = &self.database;
        if *access == Access::Read || settings.get("checkpoint") == Some("none") {
            return Ok(());
        }
        database::checkpoint(&lock::hold(&self.control))
    }

    fn integrity(&self) -> Result<Option<Vec<String>>> {
        let mut complaints = lock::hold(&self.control).column("PRAGMA integrity_check", 0)?;
        complaints.retain(|row| row != "ok");
        let bare = |row: &String| row.strip_prefix(HEADING).unwrap_or(row).to_owned();
        let complaints: Vec<_> = complaints.iter().map(bare).collect();
        Ok(Some(complaints.iter().flat_map(|rows| rows.lines()).map(str::to_owned).collect()))
    }

    fn left_out(&self) -> Result<Vec<Entry>> {
        inspect::left_out(&lock::hold(&self.control), &self.table)
    }

    fn arrangement(&self) -> Result<Option<Arrangement>> {
        inspect::arrangement(&lock::hold(&self.control), &self.table).map(Some)
    }

    fn reclaim(self: Box<Self>) -> Result<()> {
        self.execute("VACUUM")?;
        self.flush_writes()
    }
}

/// A worker's session.
pub(crate) struct SqliteSession {
    /// Whether values are read and overwritten through blob handles.
    by_blob: bool,
    table: Arc<SqlTable>,
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
    /// What writes; or why nothing does.
    writes: Result<Writes, String>,
    delete: Result<Statement, String>,
    scans: Scans,
    begin_read: Statement,
    begin_write: Statement,
    commit: Statement,
    db: Connection,
}

/// The statements that put values.
struct Writes {
    insert: Statement,
    update: Statement,
    /// The upsert; `None` in old builds and in tables of the user's own, where an update that finds no
    /// row is followed by an insert.
    upsert: Option<Statement>,
}

impl Writes {
    fn new(db: &Connection, table: &SqlTable) -> Result<Self> {
        let SqlTable { name, unique, insert, set, at, .. } = table;
        let old = db.version_number() < ON_CONFLICT;
        let prepare = |sql: String| db.prepare(&db.adapt_sql(&sql));
        Ok(Self {
            insert: prepare(if old {
                insert.replacen("INSERT", "INSERT OR IGNORE", 1)
            } else {
                format!("{insert} ON CONFLICT DO NOTHING")
            })?,
            update: prepare(format!("UPDATE {name} SET {set} WHERE {at}"))?,
            upsert: (!old && table.users.is_none())
                .then(|| prepare(format!("{insert} ON CONFLICT({unique}) DO UPDATE SET {set}")))
                .transpose()?,
        })
    }
}

/// The statements that visit rows.
struct Scans {
    /// All rows with their values.
    whole: Statement,
    /// All rows with lengths and types of their values.
    list: Statement,
    /// The rows from a key on, as `whole` and `list`; `None` if none of the two uses an index.
    from: Option<[Statement; 2]>,
    /// Reads the value of a rowid.
    value: Option<Statement>,
}

/// A condition for all rows: those that are no values may be before the smallest key.
const ALL: &str = "(?1 OR 1)";

impl Scans {
    fn new(db: &Connection, table: &SqlTable) -> Result<Self> {
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

impl SqliteSession {
    fn new(db: Connection, table: Arc<SqlTable>, by_blob: bool) -> Result<Self> {
        let SqlTable { name, value, length, at, .. } = &*table;
        let prepare = |sql: String| db.prepare(&db.adapt_sql(&sql));
        let rowid = table.rowid.as_ref();
        Ok(Self {
            by_blob,
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
            // A view, or a trigger with a function of the user's program, lets only reads through.
            writes: Writes::new(&db, &table).map_err(|error| error.to_string()),
            delete: prepare(format!("DELETE FROM {name} WHERE {at}"))
                .map_err(|error| error.to_string()),
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

    /// Undoes the batch, also after an error that ended it already.
    pub(crate) fn roll_back(&mut self) {
        self.in_batch = false;
        let _ = self.db.execute("ROLLBACK");
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
        // No index of the user's refuses a key that is there.
        let may_repeat = self.table.users.as_ref().is_some_and(|users| !users.is_unique);
        if may_repeat && put.how == How::Insert && self.length(key)?.is_some() {
            return Ok(false);
        }
        let Self { db, table, room, writes, .. } = self;
        let writes = writes.as_mut().map_err(|why| Error::usage(why.clone()))?;
        if let Some(column) = table.users.as_ref().and_then(|users| users.needs.as_ref()) {
            check_insert(table, column, put)?;
        }
        let of = match &table.users {
            Some(users) if users.of_text => ValueType::Text,
            _ => put.value_type,
        };
        let bound = (table.key_columns.values(key, room)?, stored::value(value, of)?);
        let run = |statement: &mut Statement| write(db, table, statement, &bound, put);
        match (put.how, &mut writes.upsert) {
            (How::Insert, _) => run(&mut writes.insert),
            (How::Update, _) => run(&mut writes.update),
            (How::Upsert, Some(upsert)) => run(upsert),
            (How::Upsert, None) => Ok(run(&mut writes.update)? || run(&mut writes.insert)?),
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
        let Self { table, room, scans, get, .. } = self;
        let limit = Parameter::Integer(i64::try_from(scan.limit).unwrap_or(i64::MAX));
        let apart = users.sorts && scan.values;
        let (from, rows) = match (scan.from, &mut scans.from) {
            (None, _) if scan.values && !apart => (None, &mut scans.whole),
            (None, _) => (None, &mut scans.list),
            (Some(from), Some([_, list])) if apart || !scan.values => (Some(from), list),
            (Some(from), Some([whole, _])) => (Some(from), whole),
            (Some(_), None) => {
                let why = "rows from a key on are not read by a key of several columns";
                return Err(users::refused(users, why));
            }
        };
        let mut bytes = Vec::new();
        let from = from.map(|from| table.key_columns.values(from, &mut bytes)).transpose()?;
        let first = from.map_or_else(|| vec![Parameter::Null], |from| from.iter().collect());
        let (mut number, mut check) = ([0; 8], RowCheck::new(users));
        let value = &mut scans.value;
        rows.rows(first.into_iter().chain([limit]), |row| {
            let item = check.item(row, stored::item(row, table.keys, &mut number)?)?;
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

/// Fails if `put` may insert a row of the user's own table, which needs a value in `column` as well.
fn check_insert(table: &SqlTable, column: &str, put: &Put) -> Result<()> {
    match &table.users {
        Some(users) if put.how != How::Update => Err(users::refused(
            users,
            &format!("an insert needs a value for {column}, which is NOT NULL and has no default"),
        )),
        _ => Ok(()),
    }
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
            return Err(users::refused(users, why));
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
        let Self { delete, table, room, .. } = self;
        let delete = delete.as_mut().map_err(|why| Error::usage(why.clone()))?;
        delete.run(table.key_columns.values(key, room)?.iter())?;
        Ok(self.db.changes() > 0)
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        let begin = match mode {
            Mode::Read => &mut self.begin_read,
            Mode::Write => &mut self.begin_write,
        };
        begin.run([])?;
        self.in_batch = true;
        Ok(())
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
        let Scans { from: rows, whole, list, .. } = &mut self.scans;
        let [whole, list] = rows.as_mut().map_or([whole, list], |[whole, list]| [whole, list]);
        let rows = if scan.values { whole } else { list };
        let mut number = [0; 8];
        let key = table.key_columns.values(from, &mut self.room)?;
        rows.rows(key.iter().chain([limit]), |row| {
            visit(stored::item(row, table.keys, &mut number)?)
        })
    }

    fn statistics(&self) -> Vec<(&'static str, i64)> {
        self.db.cache_counters().chain(self.db.waits()).collect()
    }

    fn background_work(&self) -> Vec<FinishedWork> {
        self.db.checkpoints()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use model::Item;

    use super::*;

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
        assert!(writer.put(Key::Int(1), b"first", &Put::default()).unwrap());
        for value in [&b"long"[..], b"short", b"short", b""] {
            assert!(writer.put(Key::Int(1), value, &Put::new(How::Update)).unwrap());
            let mut buffer = [0; 8];
            assert_eq!(reader.get(Key::Int(1), &mut buffer).unwrap(), Some(value.len()));
            assert_eq!(&buffer[..value.len()], value);
        }
    }

    #[test]
    fn bytes_that_replace_a_text_are_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let mut session = store.session().unwrap();
        for of in [ValueType::Text, ValueType::Bytes] {
            let put = Put { value_type: of, ..Put::default() };
            assert!(session.put(Key::Int(1), b"text", &put).unwrap());
            let mut found = None;
            let mut visit = |item: Item<'_>| {
                found = Some(item.value_type);
                Ok(ControlFlow::Continue(()))
            };
            session.scan(Scan::ALL, &mut visit).unwrap();
            assert_eq!(found, Some(of));
        }
    }

    fn created(folder: &tempfile::TempDir, journal: &str, sync: &str) -> Box<dyn Store> {
        let mut settings = Settings::default();
        settings.set("journal", journal);
        settings.set("sync", sync);
        let options = OpenOptions { settings, access: Access::Write, keys: KeyKind::Integers };
        Sqlite.create(&folder.path().join(format!("{journal}-{sync}")), &options).unwrap()
    }

    #[test]
    fn each_journal_and_sync_gives_the_class_that_it_keeps() {
        use Durability::{Consistent, Durable, None};
        let folder = tempfile::tempdir().unwrap();
        for (journal, classes) in [
            ("delete", [None, Consistent, Consistent, Durable]),
            ("truncate", [None, Consistent, Durable, Durable]),
            ("persist", [None, Consistent, Durable, Durable]),
            ("wal", [None, Consistent, Durable, Durable]),
            ("memory", [None; 4]),
            ("off", [None; 4]),
        ] {
            for (sync, class) in ["off", "normal", "full", "extra"].into_iter().zip(classes) {
                let store = created(&folder, journal, sync);
                assert_eq!(store.in_effect().unwrap().1, class, "journal={journal} sync={sync}");
            }
        }
    }

    #[test]
    fn a_flush_reaches_the_drive() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let db = Database::create(&path, &Settings::default()).unwrap().connect().unwrap();
        assert_eq!(db.number("PRAGMA fullfsync").unwrap(), 1);
        assert_eq!(db.number("PRAGMA checkpoint_fullfsync").unwrap(), 1);
    }
}
