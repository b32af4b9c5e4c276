//! The parts of an open store: its database and its folder of files, and the files that are to be
//! removed.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::Mutex,
};

use kit::lock;
use model::{Access, Durability, Error, Key, OpenOptions, Result, Store};

use super::{
    INLINE, USUAL_INLINE, database, folder,
    table::{self, TABLES},
};

use crate::{
    at,
    files::{FilesFolder, FilesWorker, Sync},
    sqlite::{SqlTable, SqliteStore, with_suffix},
};

/// The first SQLite with partial indexes; without one, the rows that name files are found by
/// looking at all.
const PARTIAL_INDEXES: i32 = 3_008_000;

/// The number of replaced files that wait for the flush of the log and share it.
const WAITING: usize = 64;

/// The parts of an open store.
pub(super) struct Parts {
    pub(super) path: PathBuf,
    pub(super) rows: SqliteStore,
    pub(super) files: FilesFolder,
    /// The length of the largest value that is kept in the database.
    pub(super) inline: u64,
    class: Durability,
    /// The numbers of files that no row names since a commit that a power cut may still undo.
    waiting: Mutex<Vec<i64>>,
}

impl Parts {
    pub(super) fn create(location: &Path, options: &OpenOptions) -> Result<Self> {
        let (database, folder) = (database(location), folder(location));
        let new = File::create_new(&database).and_then(|_| fs::create_dir(&folder));
        new.map_err(|e| Error::io(location.display(), e))?;
        let table = table::for_keys(options.keys);
        let rows = SqliteStore::create(&database, &table.create, options, |_| Ok(table.clone()))?;
        let inline = options.settings.parse(INLINE).unwrap_or(USUAL_INLINE);
        if rows.version_number() >= PARTIAL_INDEXES {
            let columns = format!("{}(file) WHERE file IS NOT NULL", table.name);
            rows.execute(&format!("CREATE INDEX in_files ON {columns}"))?;
        }
        rows.execute("CREATE TABLE hybrid(next INTEGER, inline INTEGER)")?;
        rows.execute(&format!("INSERT INTO hybrid VALUES(1, {inline})"))?;
        let parts = Self::new(location, rows, inline, Access::Write)?;
        if parts.class > Durability::None {
            // Without the tables the store would not open.
            parts.flush_log()?;
            at::flush_folder_of(location)?;
        }
        Ok(parts)
    }

    pub(super) fn open(location: &Path, options: &OpenOptions) -> Result<Self> {
        let rows = SqliteStore::open(&database(location), options, |db| {
            SqlTable::find(db, &TABLES).cloned()
        })?;
        let inline = rows.number("SELECT inline FROM hybrid")?.unsigned_abs();
        Self::new(location, rows, inline, options.access)
    }

    fn new(location: &Path, rows: SqliteStore, inline: u64, access: Access) -> Result<Self> {
        let (_, class) = rows.in_effect()?;
        let sync = if class > Durability::None { Sync::Full } else { Sync::None };
        let files = FilesFolder::numbered(&folder(location), access, sync)?;
        let (path, waiting) = (location.to_owned(), Mutex::default());
        Ok(Self { path, rows, files, inline, class, waiting })
    }

    /// Removes files that no row names since the caller's commit, or later if a power cut may undo
    /// it.
    pub(super) fn release(
        &self,
        numbers: &mut Vec<i64>,
        files: &mut FilesWorker<'_>,
    ) -> Result<()> {
        if self.class == Durability::Consistent {
            let mut waiting = lock::hold(&self.waiting);
            waiting.append(numbers);
            if waiting.len() < WAITING {
                return Ok(());
            }
            numbers.append(&mut waiting);
            drop(waiting);
            self.flush_log()?;
        }
        discard(numbers.drain(..), files);
        Ok(())
    }

    /// Removes the files that wait for a flush of the log.
    pub(super) fn release_all(&self) -> Result<()> {
        let numbers = std::mem::take(&mut *lock::hold(&self.waiting));
        if numbers.is_empty() {
            return Ok(());
        }
        self.flush_log()?;
        discard(numbers, &mut self.files.worker());
        Ok(())
    }

    /// Makes sure that no power cut undoes a commit: flushes the log or journal, and the removal of
    /// its name.
    pub(super) fn flush_log(&self) -> Result<()> {
        if self.class == Durability::None {
            return Ok(());
        }
        for suffix in ["-wal", "-journal"] {
            let path = with_suffix(&database(&self.path), suffix);
            let flushed = File::options().write(true).open(&path).and_then(|log| log.sync_data());
            match flushed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io(path.display(), error));
                }
                _ => {}
            }
        }
        at::flush_folder(&self.path)
    }

    /// Creates an error about the value of a key.
    #[cold]
    pub(super) fn corrupt(&self, key: Key<'_>, why: &str) -> Error {
        Error::corrupt(format!("the value of {key}: {why}")).at(self.path.display())
    }
}

/// Removes files. A file that cannot be removed is an orphan, which the next opening finds.
fn discard(numbers: impl IntoIterator<Item = i64>, files: &mut FilesWorker<'_>) {
    for number in numbers {
        let _ = files.discard(Key::Int(number));
    }
}
