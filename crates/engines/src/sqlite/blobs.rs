//! Values in SQLite: an open database, with a connection of its own for settings and checkpoints.

use std::{
    ffi::c_int,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use kit::{lock, refusal};
use model::{
    Access, Arrangement, Batch, Blobs, CopiedValues, Durability, EngineFacts as _, Entry, Facet,
    FoundValues, Key, KeyKind, Maintenance, OpenOptions, Result, Session, Settings, Store,
    TableFacts,
};

use super::{
    Sqlite,
    database::{self, Database, Header},
    ffi::{Connection, LINKED, Open},
    inspect, library, maintenance, repair,
    session::SqliteSession,
    table::SqlTable,
    users,
};

use crate::fresh;

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

    fn logs(&self, location: &Path) -> Vec<PathBuf> {
        ["-journal", "-wal"].map(|suffix| database::with_suffix(location, suffix)).into()
    }

    fn reading_changes(
        &self,
        location: &Path,
        settings: &Settings,
        batch: Batch,
    ) -> Option<String> {
        let wal = Header::read(location)?.is_wal();
        if database::is_filled(location, "-wal") || database::is_filled(location, "-journal") {
            return Some("an unfinished or unmerged transaction is next to it".to_owned());
        }
        // Without locks, reads cost the same if all are one transaction. Another build may be too old for that.
        let is_alone = database::opening(location, Access::Read) == Open::Immutable
            && settings.get(library::SETTING).is_none();
        match settings.get("journal") {
            Some(mode) if mode != if wal { "wal" } else { "delete" } => {
                Some(format!("journal={mode} takes effect on writing"))
            }
            _ if wal && !(is_alone && batch == Batch::All) => {
                Some("opening a database in WAL mode creates files next to it".to_owned())
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

    fn find_values(&self, location: &Path, asked: &Settings) -> Result<Option<FoundValues>> {
        let find = |db: &Connection| db.with_short_waits(|db| users::find(db, asked));
        read_schema(location, find)
    }

    /// Returns why rows are not updated, as this program's SQLite sees it.
    fn only_read(&self, location: &Path, settings: &Settings) -> Result<Option<String>> {
        if !users::is_named(settings) || settings.get(library::SETTING).is_some() {
            return Ok(None);
        }
        read_schema(location, |db| db.with_short_waits(|db| users::only_read(db, settings)))
    }

    fn repair(&self, location: &Path) -> Option<String> {
        repair::repair(location)
    }

    fn replace_by_paths(&self, copied: &CopiedValues<'_>) -> Result<Option<Vec<String>>> {
        if !users::is_named(copied.settings) {
            return Ok(None);
        }
        read_schema(copied.location, |db| users::replace_by_paths(db, copied))
    }

    fn reads_unguarded(&self, location: &Path) -> bool {
        database::opening(location, Access::Read) == Open::Immutable
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

/// Calls `read` with a connection by which nothing changes next to the database.
fn read_schema<T>(location: &Path, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
    database::check(location, Access::Read)?;
    let opening = if database::lacks_log_index(location) {
        Open::Unindexed
    } else {
        database::opening(location, Access::Read)
    };
    let db = Connection::open(&LINKED, location, opening)?;
    read(&db).map_err(|error| match error.location() {
        "" => error.at(db.file()),
        _ => error,
    })
}

/// The longest row: `SQLITE_MAX_LENGTH` as it is by default, less what a row needs in addition to
/// name and value.
const LONGEST_ROW: u64 = 1_000_000_000 - 64;

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
            return Err(users.refused("api=blob needs a rowid, which its rows do not have"));
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
            self.table.key_columns.check(key)?;
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

    fn check_unlocked(&self) -> Result<()> {
        lock::hold(&self.control).with_short_waits(|db| {
            db.execute("BEGIN IMMEDIATE")?;
            db.execute("ROLLBACK")
        })
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

    fn table(&self) -> Result<Option<TableFacts>> {
        inspect::table_facts(&lock::hold(&self.control), &self.table)
    }

    fn arrangement(&self) -> Result<Option<Arrangement>> {
        inspect::arrangement(&lock::hold(&self.control), &self.table).map(Some)
    }

    fn maintain(&self, what: Maintenance, to: &Path, is_over: &dyn Fn() -> bool) -> Result<bool> {
        maintenance::maintain(&self.database, what, to, is_over)
    }

    fn reclaim(self: Box<Self>) -> Result<()> {
        self.execute("VACUUM")?;
        self.flush_writes()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use model::{How, Item, Put, Scan, ValueType};

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
