//! SQLite: one database file; integers in kvtest's table `kv`, names in the archive table
//! `sqlar`.

pub(crate) mod ffi;
mod inspect;
mod pages;
pub(crate) mod prepared;
mod rows;
mod session;
pub(crate) mod store;
mod table;
mod tasks;

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use model::{
    Accepts, Access, Blobs, Declaration, Durability, DurabilitySettings, Engine, Error, Facet,
    Fill, Library, OpenOptions, Result, Rows, Setting, Settings, Store, Tasks, rows::NULL,
};

pub use inspect::{Stat, memory_counters, stat};
use store::SqliteStore;
use table::Table;

/// The engine.
pub struct Sqlite;

/// Pages are counted in 31 bits, and a page has at most 64 KiB.
const MAX_BYTES: u64 = 1 << 47;

static DECLARATION: Declaration = Declaration {
    settings: &[
    Setting::new("api", Accepts::Words(&["sql", "blob"]), "read and overwrite by SQL statements or by incremental blob handles").only(&[Facet::Blobs]),
    Setting::new("store", Accepts::Words(&["file", "memory"]), "a database file, or a database in the memory of each process").only(&[Facet::Rows]),
    Setting::new("connection", Accepts::Words(&["own", "shared", "pool"]), "one for each worker, one for all in turns, or as published: from a pool for each step, where two stay open").only(&[Facet::Tasks]),
    Setting::new("journal", Accepts::Words(&["delete", "truncate", "persist", "memory", "wal", "off"]), "PRAGMA journal_mode"),
    Setting::new("sync", Accepts::Words(&["off", "normal", "full", "extra"]), "PRAGMA synchronous"),
    Setting::new("page_size", Accepts::PowerOfTwo { min: 512, max: 65536 }, "PRAGMA page_size; fixed once the database is made").only(&[Facet::Blobs]),
    Setting::new("cache", Accepts::Size { min: 0, max: MAX_BYTES }, "page cache in bytes (PRAGMA cache_size, negative form; whole KiB)"),
    Setting::new("cache_pages", Accepts::Integer { min: 0, max: i32::MAX as i64 }, "page cache in pages (PRAGMA cache_size, positive form), as kvtest's --cache-size").only(&[Facet::Blobs]),
    Setting::new("mmap", Accepts::Size { min: 0, max: MAX_BYTES }, "PRAGMA mmap_size in bytes").only(&[Facet::Blobs]),
    Setting::new("checkpoint", Accepts::Words(&["auto", "none"]), "whether a WAL is checkpointed, automatically and at the end of a pass").only(&[Facet::Blobs]),
    NULL,
],
    durability: &[DurabilitySettings::new(Durability::None, &[("journal", "off"), ("sync", "off")],
                "pages written in place, no journal, no flush: a power cut may leave no readable \
                 database"),
DurabilitySettings::new(Durability::Consistent, &[("journal", "wal"), ("sync", "normal")],
                "pages appended to the log, fdatasync(2) only at a checkpoint: a power cut may undo \
                 the last commits"),
DurabilitySettings::new(Durability::Durable, &[("journal", "wal"), ("sync", "full")],
                "pages appended to the log, fdatasync(2) of it before the commit returns")],

    // With a journal, so that a killed process leaves its last commit readable. Pages past the
    // old end of the file are not journaled, so that it costs next to nothing.
    fill: Some(Fill { settings: &[("journal", "delete"), ("sync", "off")], sessions: 1, whole_blocks: false }),
    ..Declaration::new("sqlite", "an SQLite database: table kv for integers, sqlar for names")
};

impl Engine for Sqlite {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }

    fn library(&self) -> Option<Library> {
        Some(Library {
            name: "SQLite".to_owned(),
            version: ffi::version(),
            options: ffi::compile_options(),
        })
    }

    fn unsupported_reason(&self, class: Durability, settings: &Settings) -> Option<String> {
        let lost = rows::in_memory(settings) && class != Durability::None;
        lost.then(|| "store=memory is gone with the process (none)".to_owned())
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }

    fn rows(&'static self) -> Option<&'static dyn Rows> {
        Some(self)
    }

    fn tasks(&'static self) -> Option<&'static dyn Tasks> {
        Some(self)
    }
}

impl Blobs for Sqlite {
    /// Each connection has one, in whole KiB.
    fn cache(&self, bytes: u64, sessions: u32) -> Option<u64> {
        Some(bytes / u64::from(sessions.max(1)) / 1024 * 1024)
    }

    fn recognises(&self, path: &Path) -> bool {
        header(path).is_some()
    }

    fn files(&self, location: &Path) -> Vec<PathBuf> {
        ["", "-journal", "-wal", "-shm"].iter().map(|suffix| beside(location, suffix)).collect()
    }

    fn reading_changes(&self, location: &Path, settings: &Settings) -> Option<String> {
        let holds = |suffix| fs::metadata(beside(location, suffix)).is_ok_and(|m| m.len() > 0);
        let wal = header(location)?.is_wal();
        if holds("-wal") || holds("-journal") {
            return Some("an unfinished or unmerged transaction stands beside it".to_owned());
        }
        match settings.get("journal") {
            _ if wal => Some("opening a database in WAL mode makes files beside it".to_owned()),
            Some(mode) if mode != "delete" => {
                Some(format!("journal={mode} takes effect on writing"))
            }
            _ => None,
        }
    }

    fn others(&self, location: &Path) -> Result<Vec<String>> {
        inspect::others(location)
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        ffi::check_version()?;
        check_cache(&options.settings)?;
        File::create_new(location).map_err(|e| Error::io(location.display(), e))?;
        let made = SqliteStore::create(location, options, Table::of(options.keys));
        if made.is_err() {
            // The file was made a moment ago, by this call.
            let _ = fs::remove_file(location);
        }
        Ok(Box::new(made?))
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        ffi::check_version()?;
        check_cache(&options.settings)?;
        check_whole(location)?;
        check_no_journal(location, options.access)?;
        Ok(Box::new(SqliteStore::open(location, options)?))
    }
}

fn check_cache(settings: &Settings) -> Result<()> {
    match (settings.get("cache"), settings.get("cache_pages")) {
        (Some(_), Some(_)) => Err(Error::usage("cache= and cache_pages= exclude each other")),
        _ => Ok(()),
    }
}

/// `location` with `suffix` at its end, as SQLite names its side files.
pub(crate) fn beside(location: &Path, suffix: &str) -> PathBuf {
    let mut name = location.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The start of a database file (<https://sqlite.org/fileformat2.html#the_database_header>).
struct Header([u8; 100]);

impl Header {
    /// Write and read version are 2 in WAL mode.
    fn is_wal(&self) -> bool {
        self.0[18] == 2 || self.0[19] == 2
    }

    /// Bytes that the file must have, where the header's page count is valid.
    fn length(&self) -> Option<u64> {
        let number = |at: usize| {
            u32::from_be_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
        };
        // 65536 does not fit in the two bytes and is written as 1.
        let page_size = match u16::from_be_bytes([self.0[16], self.0[17]]) {
            1 => 65536,
            size => u64::from(size),
        };
        (number(24) == number(92)).then(|| u64::from(number(28)) * page_size)
    }
}

/// The header of a file that says it is an SQLite database.
fn header(path: &Path) -> Option<Header> {
    // Opening a pipe would wait for its writer.
    if !fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return None;
    }
    let mut start = [0; 100];
    File::open(path).ok()?.read_exact(&mut start).ok()?;
    start.starts_with(b"SQLite format 3\0").then_some(Header(start))
}

/// A file that lost its end is refused: SQLite reads missing pages as zeros and may not notice.
fn check_whole(path: &Path) -> Result<()> {
    let metadata = fs::metadata(path).map_err(|e| Error::io(path.display(), e))?;
    if !metadata.is_file() {
        return Err(Error::usage(format!("{}: is not a file", path.display())));
    }
    match header(path).and_then(|header| header.length()) {
        Some(length) if metadata.len() < length => Err(Error::corrupt(format!(
            "{}: is cut short: it has {} of {length} bytes",
            path.display(),
            metadata.len()
        ))),
        _ => Ok(()),
    }
}

/// How to open `path` for reading so that nothing changes. A database in WAL mode that no
/// connection has open has no side files (the last one to close removes them); it is read without
/// making any. With side files, someone may be writing, and SQLite's locks are needed.
fn open_kind(path: &Path, access: Access) -> ffi::Open {
    let alone = || ["-wal", "-shm"].iter().all(|suffix| !beside(path, suffix).exists());
    match access {
        Access::Write => ffi::Open::ReadWrite,
        Access::Read if header(path).is_some_and(|h| h.is_wal()) && alone() => ffi::Open::Immutable,
        Access::Read => ffi::Open::ReadOnly,
    }
}

/// A journal beside a database belongs to a transaction under way, or to one that was killed and
/// has to be rolled back, which would change the file.
fn check_no_journal(path: &Path, access: Access) -> Result<()> {
    let journal = beside(path, "-journal");
    let holds = fs::metadata(&journal).is_ok_and(|metadata| metadata.len() > 0);
    // PERSIST and TRUNCATE leave a journal that SQLite knows for empty by its zeroed header.
    let hot = holds && !starts_with_zeros(&journal);
    if access == Access::Read && hot {
        return Err(Error::usage(format!(
            "{}: is being written to, or its writer was killed: {} stands beside it; \
             opening it once with sqlite3 rolls it back",
            path.display(),
            journal.display()
        )));
    }
    Ok(())
}

fn starts_with_zeros(path: &Path) -> bool {
    let mut start = [1; 8];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == [0; 8]
}
