//! An open database.

mod session;
mod user;

use std::{
    fs::File,
    io,
    marker::PhantomData,
    ops::Bound,
    path::{Path, PathBuf},
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use kit::{
    lock::{self, Waits},
    refusal,
};
use model::{
    Access, Durability, Entry, Error, Key, KeyKind, Maintenance, OpenOptions, Result, Session,
    Settings, Store, TableFacts,
};
use redb::{
    BackendError, Builder, CompactionError, ConcurrencyMode, Database, ReadOnlyDatabase,
    ReadTransaction, ReadableDatabase, StorageBackend, TableHandle, TransactionError,
    WriteTransaction, backends::FileBackend,
};

use super::{
    DECLARATION, check,
    kind::{Bytes, KeyType},
    tables::{self, AnyKey, TABLE, UserKey, UserKeys, UserTable},
};

use crate::{
    caught::catch,
    forward::forward,
    ordered::TransactionSession,
    part::{Part, Size},
};
use session::KeyTables;
use user::UserReader;

/// The default size of the cache, according to [`Builder::new`].
const CACHE: u64 = 1 << 30;
/// How long compaction waits for transactions to end, while none starts.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time between two looks whether they have.
const PAUSE: Duration = Duration::from_micros(200);

/// A file of redb's whose flush can be left out. Everything else is unchanged, so that a commit
/// without its flush is the same commit: the system has the pages before the header, and a killed
/// process leaves what it committed.
#[derive(Debug)]
struct DatabaseFile {
    file: FileBackend,
    flush: bool,
}

impl DatabaseFile {
    fn new(file: File, flush: bool) -> Result<Self, redb::DatabaseError> {
        Ok(Self { file: FileBackend::new(file)?, flush })
    }
}

impl StorageBackend for DatabaseFile {
    fn sync_data(&self) -> io::Result<()> {
        if self.flush { self.file.sync_data() } else { Ok(()) }
    }

    forward! { file:
        fn len(&self) -> io::Result<u64>;
        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;
        fn set_len(&self, len: u64) -> io::Result<()>;
        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()>;
        fn close(&self) -> io::Result<()>;
        fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError>;
        fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError>;
        fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError>;
        fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError>;
        fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError>;
        fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError>;
    }
}

/// Returns all settings: those that were asked for, and else the library's defaults. redb reports
/// none, but accepts what was asked for.
fn complete(asked: &Settings) -> Result<Settings> {
    let mut settings = Settings::default();
    settings.set("cache", CACHE);
    for (name, word) in [("sync", "immediate"), ("two_phase", "off"), ("share", "none")] {
        settings.set(name, word);
    }
    let mut settings = settings.overlaid(asked);
    if settings.is("share", "none") {
        return Ok(settings);
    }
    if settings.is("sync", "deferred") {
        return Err(Error::usage(
            "sync=deferred keeps commits in the memory of one process; it goes with share=none only",
        ));
    }
    // Shared, redb always commits in two phases.
    settings.set("two_phase", "on");
    Ok(settings)
}

fn builder(settings: &Settings) -> Result<Builder> {
    let share = match settings.get("share") {
        Some("readers") => ConcurrencyMode::SingleWriter,
        Some("writers") => ConcurrencyMode::MultiWriter,
        _ => ConcurrencyMode::ExclusiveWriter,
    };
    let cache = settings.parse("cache").unwrap_or(CACHE);
    let mut builder = Builder::new();
    builder.set_cache_size(refusal::size(cache)?).set_concurrency_mode(share);
    Ok(builder)
}

enum OpenDatabase {
    Read(ReadOnlyDatabase),
    Write(Database),
}

pub(super) struct RedbStore {
    path: PathBuf,
    settings: Settings,
    /// Whether each write commits in two phases.
    two_phase: bool,
    /// Whether commits are flushed only at the end of a pass.
    deferred: bool,
    /// Compaction has it alone.
    handle: RwLock<OpenDatabase>,
    keys: KeyKind,
    /// The table of another program with the values; `None` if they are in storemark's own.
    user: Option<UserTable>,
    /// Whether there are commits that only an immediate one will write out.
    unflushed: AtomicBool,
}

impl RedbStore {
    pub(super) fn create(path: &Path, file: File, options: &OpenOptions) -> Result<Self> {
        if let Some(name) = options.settings.get(TABLE) {
            return Err(Error::usage(format!(
                "{TABLE}={name}: names a table of a database that exists; leave it out for a new one"
            )));
        }
        Self::new(path, file, &options.settings, |builder, file| {
            let database = builder.create_with_backend(file)?;
            let txn = database.begin_write()?;
            match options.keys {
                KeyKind::Integers => make_tables::<i64>(&txn)?,
                KeyKind::Names => make_tables::<Bytes>(&txn)?,
            }
            txn.commit()?;
            Ok(OpenDatabase::Write(database))
        })
    }

    pub(super) fn open(path: &Path, file: File, options: &OpenOptions) -> Result<Self> {
        Self::new(path, file, &options.settings, |builder, file| match options.access {
            Access::Read => Ok(OpenDatabase::Read(builder.open_read_only_with_backend(file)?)),
            Access::Write => Ok(OpenDatabase::Write(builder.create_with_backend(file)?)),
        })
    }

    fn new(
        path: &Path,
        file: File,
        asked: &Settings,
        open: impl FnOnce(&Builder, DatabaseFile) -> Result<OpenDatabase, redb::Error>,
    ) -> Result<Self> {
        let settings = complete(asked)?;
        let builder = builder(&settings)?;
        let open = || {
            let handle = open(&builder, DatabaseFile::new(file, !settings.is("sync", "off"))?)?;
            let txn = handle.read()?;
            let names = txn.list_tables()?.map(|table| table.name().to_owned()).collect::<Vec<_>>();
            Ok((handle, txn, names))
        };
        let (handle, txn, names) = open().map_err(|e| to_error(path, e))?;
        let part = Part::choose(TABLE, &settings, path, &names)?;
        let find = || UserTable::find(&txn, &part.name).map_err(|e| e.at(path.display()));
        let user = part.is_users.then(find).transpose()?;
        let keys = user.as_ref().map_or(part.keys, |table| table.keys.kind());
        let mut settings = settings;
        part.report(TABLE, &mut settings);
        drop(txn);
        let (two_phase, deferred) =
            (settings.is("two_phase", "on"), settings.is("sync", "deferred"));
        let (path, handle) = (path.to_owned(), RwLock::new(handle));
        let unflushed = AtomicBool::new(false);
        Ok(Self { path, settings, two_phase, deferred, handle, keys, user, unflushed })
    }

    /// Returns how many values each table of the database in `file` has.
    pub(super) fn sizes(path: &Path, file: File, asked: &Settings) -> Result<Vec<Size>> {
        let settings = complete(asked)?;
        let builder = builder(&settings)?;
        let sizes = || {
            let database = builder.open_read_only_with_backend(DatabaseFile::new(file, false)?)?;
            tables::sizes(&database.begin_read()?)
        };
        sizes().map_err(|e: redb::Error| to_error(path, e))
    }

    fn all_sizes(&self) -> Result<Vec<Size>> {
        tables::sizes(&self.read()?).map_err(|e| self.to_error(e))
    }

    /// Returns the table with the values.
    fn part(&self) -> Part {
        let name = self.user.as_ref().map_or(self.keys.as_str(), |table| &table.name);
        Part { name: name.to_owned(), keys: self.keys, is_users: self.user.is_some() }
    }

    pub(super) fn read(&self) -> Result<ReadTransaction> {
        lock::read(&self.handle).read().map_err(|e| self.to_error(e))
    }

    /// Starts a write transaction, and counts in `waits` if another session is in one.
    pub(super) fn write(&self, waits: &Waits) -> Result<WriteTransaction> {
        let handle = lock::read(&self.handle);
        let OpenDatabase::Write(database) = &*handle else { return Err(refusal::read_only()) };
        let begun = match database.try_begin_write() {
            Err(TransactionError::WouldBlock) => {
                let since = Instant::now();
                let begun = database.begin_write();
                waits.note(since);
                begun
            }
            begun => begun,
        };
        let mut txn = begun.map_err(|e| self.to_error(e))?;
        txn.set_two_phase_commit(self.two_phase);
        Ok(txn)
    }

    pub(super) fn commit(&self, mut txn: WriteTransaction) -> Result<()> {
        if self.deferred {
            txn.set_durability(redb::Durability::None).map_err(|e| self.to_error(e))?;
            self.unflushed.store(true, Relaxed);
        }
        txn.commit().map_err(|e| self.to_error(e))
    }

    #[cold]
    pub(super) fn to_error(&self, error: impl Into<redb::Error>) -> Error {
        to_error(&self.path, error.into())
    }
}

impl OpenDatabase {
    fn read(&self) -> Result<ReadTransaction, TransactionError> {
        match self {
            Self::Read(database) => database.begin_read(),
            Self::Write(database) => database.begin_read(),
        }
    }
}

fn make_tables<K: KeyType>(txn: &WriteTransaction) -> Result<(), redb::TableError> {
    txn.open_table(K::VALUES)?;
    K::METAS.map_or(Ok(()), |metas| txn.open_table(metas).map(drop))
}

fn to_error(path: &Path, error: redb::Error) -> Error {
    let path = path.display();
    match error {
        redb::Error::Io(cause) if cause.kind() == std::io::ErrorKind::UnexpectedEof => {
            Error::corrupt("is cut short").at(&path)
        }
        redb::Error::Io(cause) => Error::io(path, cause),
        redb::Error::DatabaseAlreadyOpen => Error::usage(
            "is open elsewhere, and redb lets one process write, alone; opened with \
             share=writers everywhere, several may",
        )
        .at(&path),
        redb::Error::RepairAborted => Error::corrupt(
            "its writer was killed, or it is damaged; opening it once to write repairs it \
             if that can be done",
        )
        .at(&path),
        redb::Error::Corrupted(_) => Error::corrupt(format!("{error}")).at(&path),
        redb::Error::UpgradeRequired(_) | redb::Error::LockProtocolMismatch => {
            Error::unsupported(format!("{error}")).at(&path)
        }
        other => Error::failed(format!("{other}")).at(&path),
    }
}

fn session<K: KeyType>(store: &RedbStore) -> Box<dyn Session + '_> {
    let tables = KeyTables::<K> { store, kind: PhantomData };
    Box::new(TransactionSession::new(tables, &store.path))
}

fn user_session<'s, K: UserKey>(
    store: &'s RedbStore,
    table: &'s UserTable,
) -> Box<dyn Session + 's> {
    let reader = UserReader::<K> { store, table, keys: PhantomData };
    Box::new(TransactionSession::new(reader, &store.path))
}

impl Store for RedbStore {
    fn keys(&self) -> KeyKind {
        self.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(match (&self.user, self.keys) {
            (Some(table), _) => match table.keys {
                UserKeys::Bytes => user_session::<AnyKey>(self, table),
                UserKeys::U32 => user_session::<u32>(self, table),
                UserKeys::U64 => user_session::<u64>(self, table),
                UserKeys::I32 => user_session::<i32>(self, table),
                UserKeys::I64 => user_session::<i64>(self, table),
            },
            (None, KeyKind::Integers) => session::<i64>(self),
            (None, KeyKind::Names) => session::<Bytes>(self),
        })
    }

    fn check_item(&self, key: Key<'_>, length: u64) -> Result<()> {
        refusal::check_value(key, length, 3 << 30)
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        Ok((self.settings.clone(), DECLARATION.class_of(&self.settings)))
    }

    fn left_out(&self) -> Result<Vec<Entry>> {
        Ok(self.part().left_out(TABLE, &self.all_sizes()?))
    }

    fn table(&self) -> Result<Option<TableFacts>> {
        Ok(self.part().facts(&self.all_sizes()?))
    }

    fn flush_writes(&self) -> Result<()> {
        if self.unflushed.swap(false, Relaxed) {
            // Immediate, as a transaction is by default.
            self.write(&Waits::default())?.commit().map_err(|e| self.to_error(e))?;
        }
        Ok(())
    }

    fn integrity(&self) -> Result<Option<Vec<String>>> {
        let cache = refusal::size(self.settings.parse("cache").unwrap_or(CACHE))?;
        let wrong = |e| Error::io(self.path.display(), e);
        catch(&self.path, || check::complaints(&self.path, cache).map(Some).map_err(wrong))
    }

    fn maintain(&self, _: Maintenance, _: &Path, is_over: &dyn Fn() -> bool) -> Result<bool> {
        self.flush_writes()?;
        let mut handle = lock::write(&self.handle);
        let OpenDatabase::Write(database) = &mut *handle else { return Err(refusal::read_only()) };
        let since = Instant::now();
        loop {
            match catch(&self.path, || Ok(database.compact()))? {
                Err(CompactionError::TransactionInProgress) => {
                    if is_over() || since.elapsed() > PATIENCE {
                        return Ok(false);
                    }
                    thread::sleep(PAUSE);
                }
                done => return done.map(|_| true).map_err(|e| to_error(&self.path, e.into())),
            }
        }
    }

    fn reclaim(mut self: Box<Self>) -> Result<()> {
        self.flush_writes()?;
        let Self { handle, path, .. } = &mut *self;
        let handle = handle.get_mut().unwrap_or_else(PoisonError::into_inner);
        let OpenDatabase::Write(database) = handle else { return Err(refusal::read_only()) };
        catch(path, || database.compact().map_err(|e| to_error(path, e.into())))?;
        self.close()
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { handle, path, .. } = *self;
        let close = || match handle.into_inner().unwrap_or_else(PoisonError::into_inner) {
            OpenDatabase::Read(database) => database.close(),
            OpenDatabase::Write(database) => database.close(),
        };
        catch(&path, || close().map_err(|e| to_error(&path, e.into())))
    }
}
