//! An open `RocksDB` database and its column family.

use std::{
    ffi::CStr,
    fs::File,
    path::{Path, PathBuf},
    sync::atomic::{AtomicI64, Ordering::Relaxed},
    thread,
    time::Duration,
};

use model::{
    Access, Durability, Entry, Error, ErrorKind, Key, KeyKind, Maintenance, OpenOptions, Result,
    Session, Settings, Store, TableFacts,
};
use rocksdb::{
    ColumnFamily, DB, DEFAULT_COLUMN_FAMILY_NAME, Env, Options, SnapshotWithThreadMode, WriteBatch,
    WriteOptions,
    backup::{BackupEngine, BackupEngineOptions},
    checkpoint::Checkpoint,
    properties,
};

use super::{DECLARATION, FAMILY, options};
use crate::{
    lsm::{self, Buffered, Changes, Shared, Tree, Visitor},
    ordered::TransactionSession,
    part::{Part, Size},
};

pub(super) struct RocksStore {
    path: PathBuf,
    database: DB,
    _named: Named,
    shared: Shared,
    settings: Settings,
    writing: (WriteOptions, bool),
    /// The milliseconds that writers were held up at the last call.
    stalled: AtomicI64,
}

/// A path in the form of the library, which is UTF-8: another one is named through the descriptor
/// of the folder, which has to stay open.
struct Named {
    path: PathBuf,
    _folder: Option<File>,
}

impl Named {
    fn resolve(path: &Path) -> Result<Self> {
        if path.to_str().is_some() {
            return Ok(Self { path: path.to_owned(), _folder: None });
        }
        #[cfg(target_os = "linux")]
        {
            let folder = File::open(path).map_err(|e| Error::io(path.display(), e))?;
            let number = std::os::fd::AsRawFd::as_raw_fd(&folder);
            Ok(Self { path: format!("/proc/self/fd/{number}").into(), _folder: Some(folder) })
        }
        #[cfg(not(target_os = "linux"))]
        Err(Error::unsupported("RocksDB takes names in UTF-8 only").at(path.display()))
    }
}

fn columns(path: &Path) -> Result<Vec<String>> {
    let named = Named::resolve(path)?;
    DB::list_cf(&Options::default(), &named.path).map_err(|e| to_error(path, &e))
}

/// Returns whether a file of a store is a part of its write-ahead log.
pub(super) fn is_log(path: &Path) -> bool {
    path.extension() == Some("log".as_ref())
}

/// Checks that a store has its write-ahead log, without which the library would leave out its last
/// commits. A store that was opened to write has one; a copy that the library made of the tables
/// alone has no lock.
fn check_log(path: &Path) -> Result<()> {
    let entries = path.read_dir().map_err(|e| Error::io(path.display(), e))?;
    if !path.join("LOCK").exists() || entries.flatten().any(|entry| is_log(&entry.path())) {
        return Ok(());
    }
    let path = path.display();
    Err(Error::corrupt("is damaged: its write-ahead log is missing").at(&path))
}

/// Replaces the list of tables by one of those that the library finds in the store at `path`.
pub(super) fn repair(path: &Path) -> Result<()> {
    let named = Named::resolve(path)?;
    DB::repair(&Options::default(), &named.path).map_err(|e| to_error(path, &e))?;
    // The tables have what was in the log: as of a copy of them alone, none is looked for.
    std::fs::remove_file(path.join("LOCK")).map_err(|e| Error::io(path.display(), e))
}

/// Returns how much each column family of the store at `path` holds, as the library estimates it.
pub(super) fn sizes(path: &Path) -> Result<Vec<Size>> {
    check_log(path)?;
    let columns = columns(path)?;
    let named = Named::resolve(path)?;
    let options = Options::default();
    let database = DB::open_cf_for_read_only(&options, &named.path, &columns, false);
    Ok(sizes_in(&database.map_err(|e| to_error(path, &e))?, path, columns))
}

/// Returns how much each of these column families of an open store holds.
fn sizes_in(database: &DB, path: &Path, columns: Vec<String>) -> Vec<Size> {
    let counted = path.join("IDENTITY").is_file();
    let size = |name: String| {
        let number = |property: &CStr| {
            let column = database.cf_handle(&name)?;
            database.property_int_value_cf(column, property).ok().flatten()
        };
        // The tables of LevelDB do not count their keys.
        let values = number(properties::ESTIMATE_NUM_KEYS).filter(|_| counted);
        let bytes = number(properties::ESTIMATE_LIVE_DATA_SIZE).filter(|bytes| *bytes > 0);
        Size { name, values, how: "about ", bytes }
    };
    columns.into_iter().map(size).collect()
}

impl RocksStore {
    /// Creates a database in the empty folder `path`, with a column family for the dataset, and
    /// opens it to write. Fails if the folder already has a database.
    pub(super) fn create(path: &Path, options: &OpenOptions) -> Result<Self> {
        let library = options::build(&options.settings, true)?;
        let part = Part::new(FAMILY, &options.settings, options.keys)?;
        // RocksDB requires the default column family.
        let own = Some(&*part.name).filter(|name| *name != DEFAULT_COLUMN_FAMILY_NAME);
        let columns = [DEFAULT_COLUMN_FAMILY_NAME].into_iter().chain(own);
        let columns = columns.map(|name| (name, library.clone()));
        let named = Named::resolve(path)?;
        let database = DB::open_cf_with_opts(&library, &named.path, columns);
        let database = database.map_err(|e| to_error(path, &e))?;
        let shared = Shared::new(part, Access::Write);
        Ok(Self::new(path, named, database, shared, options.settings.clone()))
    }

    /// Opens a store. Settings that are not asked for stay as the store was last opened to write.
    pub(super) fn open(path: &Path, options: &OpenOptions) -> Result<Self> {
        check_log(path)?;
        let columns = columns(path)?;
        let part = Part::choose(FAMILY, &options.settings, path, &columns)?;
        let settings = options::recorded_settings(path, &part.name)?.overlaid(&options.settings);
        let library = options::build(&settings, false)?;
        let columns = columns.iter().map(|name| (name, library.clone()));
        let named = Named::resolve(path)?;
        let at = &named.path;
        let database = match options.access {
            Access::Read => DB::open_cf_with_opts_for_read_only(&library, at, columns, false),
            Access::Write => DB::open_cf_with_opts(&library, at, columns),
        };
        let database = database.map_err(|e| to_error(path, &e))?;
        Ok(Self::new(path, named, database, Shared::new(part, options.access), settings))
    }

    fn new(path: &Path, named: Named, database: DB, shared: Shared, settings: Settings) -> Self {
        let (path, writing) = (path.to_owned(), options::write_options(&settings));
        let stalled = AtomicI64::new(0);
        Self { path, database, _named: named, shared, settings, writing, stalled }
    }

    fn column(&self) -> Result<&ColumnFamily> {
        let name = &self.shared.part.name;
        let missing = || Error::corrupt(format!("has no {name}")).at(self.path.display());
        self.database.cf_handle(name).ok_or_else(missing)
    }

    #[cold]
    fn to_error(&self, error: &rocksdb::Error) -> Error {
        to_error(&self.path, error)
    }

    /// Returns a number of the library about the dataset's column family.
    fn number(&self, property: &CStr) -> Result<u64> {
        let number = self.database.property_int_value_cf(self.column()?, property);
        Ok(number.map_err(|e| self.to_error(&e))?.unwrap_or(0))
    }

    /// Waits until the library has nothing left to do.
    fn wait_idle(&self) -> Result<()> {
        const BUSY: [&CStr; 4] = [
            properties::MEM_TABLE_FLUSH_PENDING,
            properties::NUM_RUNNING_FLUSHES,
            properties::COMPACTION_PENDING,
            properties::NUM_RUNNING_COMPACTIONS,
        ];
        let busy = || BUSY.iter().try_fold(0, |sum, name| Ok(sum + self.number(name)?));
        while busy()? > 0 {
            if self.number(properties::BACKGROUND_ERRORS)? > 0 {
                let path = self.path.display();
                return Err(Error::failed(format!(
                    "RocksDB failed in the background; see {path}/LOG"
                ))
                .at(&path));
            }
            thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }

    /// Returns the milliseconds that writers were held up since the store was opened, from the line
    /// `Cumulative stall: 00:00:0.000 H:M:S, 0.0 percent`.
    fn stalled_ms(&self) -> Option<i64> {
        let stats = self.database.property_value(properties::DBSTATS).ok()??;
        let (_, rest) = stats.split_once("Cumulative stall: ")?;
        let (time, _) = rest.split_once(" H:M:S")?;
        let seconds = time
            .split(':')
            .try_fold(0.0, |sum, part| Some(sum * 60.0 + part.parse::<f64>().ok()?))?;
        i64::try_from(Duration::try_from_secs_f64(seconds).ok()?.as_millis()).ok()
    }
}

/// Writes a backup of what is committed into the new folder `to`.
fn back_up(database: &DB, to: &Path) -> Result<(), rocksdb::Error> {
    let mut engine = BackupEngine::open(&BackupEngineOptions::new(to)?, &Env::new()?)?;
    engine.create_new_backup_flush(database, true)
}

/// Converts the library's error to an error on one line.
#[cold]
fn to_error(path: &Path, error: &rocksdb::Error) -> Error {
    let path = path.display();
    let text = error.to_string();
    if text.contains("lock file") || text.contains("lock hold by current process") {
        return Error::failed(format!(
            "is open already, in another process or in this one, which holds its lock (the \
             file {path}/LOCK)"
        ))
        .at(&path);
    }
    let kind = match error.kind() {
        rocksdb::ErrorKind::Corruption => ErrorKind::Corrupt,
        rocksdb::ErrorKind::NotSupported => ErrorKind::Unsupported,
        // The store itself was found: one of its files was not.
        _ if text.contains("No such file") => ErrorKind::Corrupt,
        _ => ErrorKind::Failed,
    };
    Error::new(kind, text.replace('\n', " ").clone()).at(&path)
}

impl Store for RocksStore {
    fn keys(&self) -> KeyKind {
        self.shared.part.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let handle = ColumnHandle { store: self, column: self.column()? };
        let library = Buffered { tree: handle, shared: &self.shared };
        Ok(Box::new(TransactionSession::new(library, &self.path)))
    }

    fn check_item(&self, key: Key<'_>, length: u64) -> Result<()> {
        lsm::check(key, length, <ColumnHandle<'_> as Tree>::LONGEST_KEY)
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let mut settings = options::recorded_settings(&self.path, &self.shared.part.name)?;
        settings.set("cache", self.number(properties::BLOCK_CACHE_CAPACITY)?);
        // Options of each write, so that only storemark knows them.
        settings.set("wal", self.settings.get("wal").unwrap_or("on"));
        settings.set("sync", self.settings.get("sync").unwrap_or("off"));
        self.shared.part.report(FAMILY, &mut settings);
        let class = DECLARATION.class_of(&settings);
        Ok((settings, class))
    }

    fn left_out(&self) -> Result<Vec<Entry>> {
        let sizes = sizes_in(&self.database, &self.path, columns(&self.path)?);
        Ok(self.shared.part.left_out(FAMILY, &sizes))
    }

    fn table(&self) -> Result<Option<TableFacts>> {
        let sizes = sizes_in(&self.database, &self.path, columns(&self.path)?);
        Ok(self.shared.part.facts(&sizes))
    }

    /// Returns what the library does in the background. Work that holds writers up is named alone:
    /// they wait for it.
    fn background_work(&self) -> Option<Vec<&'static str>> {
        const HELD_UP: [&CStr; 2] =
            [properties::IS_WRITE_STOPPED, properties::ACTUAL_DELAYED_WRITE_RATE];
        const UNDER_WAY: [(&CStr, &str); 2] = [
            (properties::NUM_RUNNING_FLUSHES, "flush"),
            (properties::NUM_RUNNING_COMPACTIONS, "compaction"),
        ];
        let is = |property| self.number(property).is_ok_and(|number| number > 0);
        if HELD_UP.into_iter().any(is) {
            return Some(vec!["write stall"]);
        }
        Some(UNDER_WAY.into_iter().filter_map(|(p, name)| is(p).then_some(name)).collect())
    }

    /// Writes what is in memory to tables, which the log deferred, and waits for them and their
    /// compaction.
    fn flush_writes(&self) -> Result<()> {
        if self.shared.access == Access::Write {
            self.database.flush_cf(self.column()?).map_err(|e| self.to_error(&e))?;
            self.wait_idle()?;
        }
        Ok(())
    }

    fn maintain(&self, what: Maintenance, to: &Path, _: &dyn Fn() -> bool) -> Result<bool> {
        let done = match what {
            Maintenance::Backup => back_up(&self.database, to),
            Maintenance::Copy => {
                Checkpoint::new(&self.database).and_then(|all| all.create_checkpoint(to))
            }
            _ => {
                self.database.compact_range_cf(self.column()?, None::<&[u8]>, None::<&[u8]>);
                Ok(())
            }
        };
        done.map(|()| true).map_err(|e| self.to_error(&e))
    }

    fn reclaim(self: Box<Self>) -> Result<()> {
        self.flush_writes()?;
        self.database.compact_range_cf(self.column()?, None::<&[u8]>, None::<&[u8]>);
        self.close()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.flush_writes()?;
        self.database.cancel_all_background_work(true);
        Ok(())
    }
}

/// The column family as a session uses it.
struct ColumnHandle<'s> {
    store: &'s RocksStore,
    column: &'s ColumnFamily,
}

impl<'s> Tree for ColumnHandle<'s> {
    const PANICS: bool = false;

    type View = SnapshotWithThreadMode<'s, DB>;
    type Value = Box<[u8]>;
    /// A key and what the library puts behind it are counted in 32 bits.
    const LONGEST_KEY: usize = 1 << 30;

    fn view(&self) -> Self::View {
        self.store.database.snapshot()
    }

    #[inline]
    fn read<T>(
        &self,
        view: Option<&Self::View>,
        key: &[u8],
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>> {
        let found = match view {
            Some(view) => view.get_pinned_cf(self.column, key),
            None => self.store.database.get_pinned_cf(self.column, key),
        };
        Ok(found.map_err(|e| self.store.to_error(&e))?.map(|value| take(&value)))
    }

    fn write(&self, changes: Changes<Box<[u8]>>) -> Result<()> {
        let mut batch = WriteBatch::default();
        for (key, value) in changes {
            match value {
                Some(value) => batch.put_cf(self.column, key, value),
                None => batch.delete_cf(self.column, key),
            }
        }
        let RocksStore { database, writing: (options, _), .. } = self.store;
        database.write_opt(batch, options).map_err(|e| self.store.to_error(&e))
    }

    fn persist(&self) -> Result<()> {
        let RocksStore { database, writing: (_, sync), .. } = self.store;
        if *sync { database.flush_wal(true).map_err(|e| self.store.to_error(&e)) } else { Ok(()) }
    }

    fn walk(&self, view: &Self::View, from: &[u8], _: bool, visit: &mut Visitor<'_>) -> Result<()> {
        let mut rows = view.raw_iterator_cf(self.column);
        rows.seek(from);
        while let Some((key, value)) = rows.item() {
            if visit(key, value.len() as u64, value)?.is_break() {
                return Ok(());
            }
            rows.next();
        }
        rows.status().map_err(|e| self.store.to_error(&e))
    }

    fn counters(&self) -> Vec<(&'static str, i64)> {
        let Some(now) = self.store.stalled_ms() else { return Vec::new() };
        vec![("write stall ms", now - self.store.stalled.swap(now, Relaxed))]
    }
}
