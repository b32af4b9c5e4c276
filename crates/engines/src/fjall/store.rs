//! An open fjall database and its one keyspace.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicI64, Ordering::Relaxed},
    thread,
    time::Duration,
};

use fjall::{
    CompressionType, Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions, LsmError,
    PersistMode, Readable, Slice, Snapshot, config::CompressionPolicy,
};
use kit::refusal;
use model::{
    Access, Durability, Entry, Error, Key, KeyKind, Maintenance, OpenOptions, Result, Session,
    Settings, Store, TableFacts,
};

use super::KEYSPACE;
use crate::{
    caught::catch,
    lsm::{self, Buffered, Changes, Shared, Tree, Visitor},
    ordered::TransactionSession,
    part::{Part, Size},
};

pub(super) struct FjallStore {
    path: PathBuf,
    // Dropped before the database, which waits for its threads.
    keyspace: Keyspace,
    database: Database,
    shared: Shared,
    persist: Option<PersistMode>,
    /// The counters at the last call, to return differences.
    before: [AtomicI64; 2],
}

/// The words of the setting `sync`, what each asks of a commit, and the class that it gives; the
/// first is the library's default.
const COMMITS: [(&str, Option<PersistMode>, Durability); 4] = [
    ("buffer", Some(PersistMode::Buffer), Durability::Consistent),
    ("off", None, Durability::None),
    ("data", Some(PersistMode::SyncData), Durability::Durable),
    ("all", Some(PersistMode::SyncAll), Durability::Durable),
];

/// The number of reads after which the library finds out which deleted values nobody can see any
/// longer.
const READS: u32 = 10_000;

fn compression(settings: &Settings) -> CompressionType {
    match settings.get("compression") {
        Some("lz4") => CompressionType::Lz4,
        _ => CompressionType::None,
    }
}

/// Opens the database at `path`, or creates it if there is none. Opened to read it has no threads,
/// which would rewrite files.
fn database(path: &Path, settings: &Settings, access: Access) -> Result<Database> {
    let mut builder = Database::builder(path).journal_compression(compression(settings));
    if let Some(bytes) = settings.parse("cache") {
        builder = builder.cache_size(bytes);
    }
    if access == Access::Read {
        builder = builder.worker_threads_unchecked(0);
    }
    builder.open().map_err(|e| to_error(path, e))
}

fn keyspace_options(settings: &Settings) -> KeyspaceCreateOptions {
    let compression = compression(settings);
    let blobs = settings.get("blobs") != Some("off");
    let separation = blobs.then(|| KvSeparationOptions::default().compression(compression));
    KeyspaceCreateOptions::default()
        .data_block_compression_policy(CompressionPolicy::all(compression))
        .with_kv_separation(separation)
}

impl FjallStore {
    /// Returns how much each keyspace holds; their values are not counted.
    fn sizes(&self) -> Vec<Size> {
        let size = |name: String| {
            let bytes = (name == self.shared.part.name).then(|| self.keyspace.disk_space());
            Size { name, values: None, how: "", bytes }
        };
        let names = self.database.list_keyspace_names();
        names.iter().map(|name| size(name.to_string())).collect()
    }

    pub(super) fn create(path: &Path, options: &OpenOptions) -> Result<Self> {
        let database = database(path, &options.settings, Access::Write)?;
        let part = Part::new(KEYSPACE, &options.settings, options.keys)?;
        Self::new(path, database, Shared::new(part, Access::Write), &options.settings)
    }

    pub(super) fn open(path: &Path, options: &OpenOptions) -> Result<Self> {
        let database = database(path, &options.settings, options.access)?;
        let names: Vec<_> =
            database.list_keyspace_names().iter().map(ToString::to_string).collect();
        let part = Part::choose(KEYSPACE, &options.settings, path, &names)?;
        Self::new(path, database, Shared::new(part, options.access), &options.settings)
    }

    /// Opens the keyspace with the dataset. The settings only count if it does not exist yet.
    fn new(path: &Path, database: Database, shared: Shared, settings: &Settings) -> Result<Self> {
        let keyspace = database.keyspace(&shared.part.name, || keyspace_options(settings));
        let keyspace = keyspace.map_err(|e| to_error(path, e))?;
        let (path, before) = (path.to_owned(), Default::default());
        let commit = COMMITS.iter().find(|(word, ..)| settings.is("sync", word));
        let (_, persist, _) = *commit.unwrap_or(&COMMITS[0]);
        Ok(Self { path, keyspace, database, shared, persist, before })
    }

    fn to_error(&self, error: fjall::Error) -> Error {
        to_error(&self.path, error)
    }

    /// Waits until nothing is left to write to tables, and for compactions that run meanwhile.
    fn wait_idle(&self) -> Result<()> {
        while self.keyspace.sealed_memtable_count() > 0
            || self.database.outstanding_flushes() > 0
            || self.database.active_compactions() > 0
        {
            // This fails if the thread that is waited for has failed.
            self.database.persist(PersistMode::Buffer).map_err(|e| self.to_error(e))?;
            thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }
}

/// Converts the library's error to an error on one line.
#[cold]
fn to_error(path: &Path, error: fjall::Error) -> Error {
    let path = path.display();
    match error {
        fjall::Error::Io(cause) | fjall::Error::Storage(LsmError::Io(cause)) => {
            refusal::damaged_file(path, cause)
        }
        fjall::Error::Locked => Error::failed(format!(
            "is open already, in another process or in this one, which holds its lock (the \
             file {path}/lock)"
        ))
        .at(&path),
        fjall::Error::Poisoned => {
            Error::failed("fjall refuses writes, because writing failed before (is the disk full?)")
                .at(&path)
        }
        fjall::Error::InvalidVersion(Some(version)) => Error::unsupported(format!(
            "fjall's format {version} is not the one of this version of the library"
        ))
        .at(&path),
        fjall::Error::JournalRecovery(_) => Error::corrupt(
            "its journal holds a commit that is not whole, as a power cut may leave it, \
             and fjall does not open it",
        )
        .at(&path),
        fjall::Error::Storage(error) => Error::corrupt(of_tree(&error)).at(&path),
        fjall::Error::KeyspaceDeleted => Error::failed("its keyspace was deleted").at(&path),
        // All others are about what is read.
        _ => Error::corrupt("its files are damaged, or not all there").at(&path),
    }
}

/// Returns the meaning of an error of the library below, which has no words of its own for it.
fn of_tree(error: &LsmError) -> &'static str {
    match error {
        LsmError::ChecksumMismatch { .. } => "is damaged: the checksum of a block is another",
        LsmError::Decompress(_) => "is damaged: a block cannot be decompressed",
        LsmError::InvalidVersion(_) => "its tables have a format that fjall does not know",
        LsmError::Utf8(_) => "is damaged: a name is not UTF-8",
        LsmError::Unrecoverable => "is damaged: tables are missing, or not as they were written",
        _ => "is damaged: a block does not start or end as one does",
    }
}

impl Store for FjallStore {
    fn keys(&self) -> KeyKind {
        self.shared.part.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let library = Buffered { tree: self, shared: &self.shared };
        Ok(Box::new(TransactionSession::new(library, &self.path)))
    }

    fn check_item(&self, key: Key<'_>, length: u64) -> Result<()> {
        lsm::check(key, length, <&FjallStore as Tree>::LONGEST_KEY)
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let config = &self.keyspace.config;
        let blocks = config.data_block_compression_policy.first().copied();
        let values = config.kv_separation_opts.as_ref().map(|options| options.compression);
        let compression = values.or(blocks).unwrap_or(CompressionType::None);
        let mut settings = Settings::default();
        settings.set("cache", self.database.cache_capacity());
        settings.set("compression", compression);
        let commit = COMMITS.into_iter().find(|(_, persist, _)| *persist == self.persist);
        let (sync, _, class) = commit.expect("it is from this table");
        settings.set("sync", sync);
        settings.set("blobs", if self.keyspace.is_kv_separated() { "on" } else { "off" });
        self.shared.part.report(KEYSPACE, &mut settings);
        Ok((settings, class))
    }

    fn left_out(&self) -> Result<Vec<Entry>> {
        Ok(self.shared.part.left_out(KEYSPACE, &self.sizes()))
    }

    fn table(&self) -> Result<Option<TableFacts>> {
        Ok(self.shared.part.facts(&self.sizes()))
    }

    fn background_work(&self) -> Option<Vec<&'static str>> {
        let flushes = self.database.outstanding_flushes() > 0;
        let compactions = self.database.active_compactions() > 0;
        let under_way = [(flushes, "flush"), (compactions, "compaction")].into_iter();
        Some(under_way.filter_map(|(is, name)| is.then_some(name)).collect())
    }

    /// Writes what is in memory to tables, which the journal deferred, and waits for it.
    fn flush_writes(&self) -> Result<()> {
        if self.shared.access == Access::Write {
            self.keyspace.rotate_memtable().map_err(|e| self.to_error(e))?;
            self.wait_idle()?;
        }
        Ok(())
    }

    fn maintain(&self, _: Maintenance, _: &Path, _: &dyn Fn() -> bool) -> Result<bool> {
        catch(&self.path, || {
            // The library's own wait (`rotate_memtable_and_wait`) has no end if a thread of it failed.
            self.flush_writes()?;
            self.keyspace.major_compact().map_err(|e| self.to_error(e))
        })?;
        Ok(true)
    }

    fn reclaim(self: Box<Self>) -> Result<()> {
        catch(&self.path, || {
            self.flush_writes()?;
            for _ in 0..READS {
                drop(self.database.snapshot());
            }
            // The first one finds the files of values that are worth a rewrite, which the second does.
            (0..2).try_for_each(|_| self.keyspace.major_compact().map_err(|e| self.to_error(e)))
        })?;
        self.close()
    }

    fn close(self: Box<Self>) -> Result<()> {
        if self.shared.access == Access::Read {
            return Ok(());
        }
        catch(&self.path, || {
            self.flush_writes()?;
            self.database.persist(PersistMode::Buffer).map_err(|e| self.to_error(e))
        })
    }
}

impl Tree for &FjallStore {
    const PANICS: bool = true;

    type View = Snapshot;
    type Value = Slice;
    /// The library counts the length of a key in 16 bits.
    const LONGEST_KEY: usize = u16::MAX as usize;

    fn view(&self) -> Snapshot {
        self.database.snapshot()
    }

    #[inline]
    fn read<T>(
        &self,
        view: Option<&Snapshot>,
        key: &[u8],
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>> {
        let found = match view {
            Some(view) => view.get(&self.keyspace, key),
            None => self.keyspace.get(key),
        };
        Ok(found.map_err(|e| self.to_error(e))?.map(|value| take(&value)))
    }

    fn length(&self, view: Option<&Snapshot>, key: &[u8]) -> Result<Option<u64>> {
        let size = match view {
            Some(view) => view.size_of(&self.keyspace, key),
            None => self.keyspace.size_of(key),
        };
        Ok(size.map_err(|e| self.to_error(e))?.map(u64::from))
    }

    fn holds(&self, key: &[u8]) -> Result<bool> {
        self.keyspace.contains_key(key).map_err(|e| self.to_error(e))
    }

    fn write(&self, changes: Changes<Slice>) -> Result<()> {
        let mut batch = self.database.batch().durability(self.persist);
        for (key, value) in changes {
            match value {
                Some(value) => batch.insert(&self.keyspace, &*key, value),
                None => batch.remove(&self.keyspace, &*key),
            }
        }
        batch.commit().map_err(|e| self.to_error(e))
    }

    fn walk(
        &self,
        view: &Snapshot,
        from: &[u8],
        values: bool,
        visit: &mut Visitor<'_>,
    ) -> Result<()> {
        for guard in view.range(&self.keyspace, from..) {
            let (key, value) = guard.into_inner_if(|_| values).map_err(|e| self.to_error(e))?;
            let going = if let Some(value) = value {
                visit(&key, value.len() as u64, &value)?
            } else {
                let size = view.size_of(&self.keyspace, &key).map_err(|e| self.to_error(e))?;
                visit(&key, size.unwrap_or(0).into(), &[])?
            };
            if going.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn counters(&self) -> Vec<(&'static str, i64)> {
        let micros = i64::try_from(self.database.time_compacting().as_micros()).unwrap_or(i64::MAX);
        let count = i64::try_from(self.database.compactions_completed()).unwrap_or(i64::MAX);
        [("compactions", count), ("compaction µs", micros)]
            .into_iter()
            .zip(&self.before)
            .map(|((name, now), before)| (name, now - before.swap(now, Relaxed)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, sync::mpsc};

    use model::{Key, Put};

    use super::*;

    /// Replaces each folder `tables` below `path` by a file, in which no table can be written.
    fn block_tables(path: &Path) {
        for entry in fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.ends_with("tables") {
                fs::remove_dir_all(&entry).unwrap();
                fs::write(&entry, "").unwrap();
            } else if entry.is_dir() {
                block_tables(&entry);
            }
        }
    }

    #[test]
    fn nothing_waits_for_a_table_that_cannot_be_written() {
        let waits: [fn(&FjallStore) -> Result<()>; 2] = [FjallStore::flush_writes, |store| {
            store.maintain(Maintenance::Compact, Path::new(""), &|| false).map(drop)
        }];
        for wait in waits {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("store");
            let settings = Settings::default();
            let options = OpenOptions { settings, access: Access::Write, keys: KeyKind::Names };
            let store = FjallStore::create(&path, &options).unwrap();
            store.session().unwrap().put(Key::Name(b"a"), b"value", &Put::default()).unwrap();
            block_tables(&path);
            let (done, result) = mpsc::channel();
            thread::spawn(move || done.send(wait(&store).map_err(|error| error.to_string())));
            let ended = result.recv_timeout(Duration::from_secs(60)).expect("it ends");
            assert!(ended.unwrap_err().contains("writing failed before"));
        }
    }
}
