//! SQLite: one database file; integers in kvtest's table `kv`, names in the archive table
//! `sqlar`.

pub(crate) mod ffi;
mod inspect;
mod pages;
pub(crate) mod prepared;
mod session;
pub(crate) mod store;
mod table;

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use model::{
    Accepts, Access, Blobs, Capabilities, Durability, DurabilitySettings, Engine, Error, Facet,
    Fill, Library, OpenOptions, Result, Setting, Settings, Store,
};

pub use inspect::{Stat, memory_counters, stat};
use store::SqliteStore;
use table::Table;

/// The engine.
pub struct Sqlite;

/// Pages are counted in 31 bits, and a page has at most 64 KiB.
const MAX_BYTES: u64 = 1 << 47;

const SETTINGS: &[Setting] = &[
    Setting {
        name: "api",
        accepts: Accepts::Words(&["sql", "blob"]),
        help: "read and overwrite by SQL statements or by incremental blob handles",
    },
    Setting {
        name: "journal",
        accepts: Accepts::Words(&["delete", "truncate", "persist", "memory", "wal", "off"]),
        help: "PRAGMA journal_mode",
    },
    Setting {
        name: "sync",
        accepts: Accepts::Words(&["off", "normal", "full", "extra"]),
        help: "PRAGMA synchronous",
    },
    Setting {
        name: "page_size",
        accepts: Accepts::PowerOfTwo { min: 512, max: 65536 },
        help: "PRAGMA page_size; fixed once the database is made",
    },
    Setting {
        name: "cache",
        accepts: Accepts::Size { min: 0, max: MAX_BYTES },
        help: "page cache in bytes (PRAGMA cache_size, negative form; whole KiB)",
    },
    Setting {
        name: "cache_pages",
        accepts: Accepts::Integer { min: 0, max: i32::MAX as i64 },
        help: "page cache in pages (PRAGMA cache_size, positive form), as kvtest's --cache-size",
    },
    Setting {
        name: "mmap",
        accepts: Accepts::Size { min: 0, max: MAX_BYTES },
        help: "PRAGMA mmap_size in bytes",
    },
    Setting {
        name: "checkpoint",
        accepts: Accepts::Words(&["auto", "none"]),
        help: "whether a WAL is checkpointed, automatically and at the end of a pass",
    },
];

impl Engine for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn about(&self) -> &'static str {
        "an SQLite database: table kv for integers, sqlar for names"
    }

    fn library(&self) -> Option<Library> {
        Some(Library {
            name: "SQLite".to_owned(),
            version: ffi::version(),
            options: ffi::compile_options(),
        })
    }

    fn settings(&self, _: Facet) -> &'static [Setting] {
        SETTINGS
    }

    fn durability_settings(&self, _: Facet, class: Durability) -> Option<DurabilitySettings> {
        let (settings, how): (&'static [_], _) = match class {
            Durability::None => (
                &[("journal", "off"), ("sync", "off")],
                "pages written in place, no journal, no flush: a power cut may leave no readable \
                 database",
            ),
            Durability::Consistent => (
                &[("journal", "wal"), ("sync", "normal")],
                "pages appended to the log, fdatasync(2) only at a checkpoint: a power cut may undo \
                 the last commits",
            ),
            Durability::Durable => (
                &[("journal", "wal"), ("sync", "full")],
                "pages appended to the log, fdatasync(2) of it before the commit returns",
            ),
        };
        Some(DurabilitySettings { settings, how })
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }
}

impl Blobs for Sqlite {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            persistent: true,
            retains: true,
            meta: true,
            concurrent_writes: true,
            processes: true,
            remote: false,
        }
    }

    /// Each connection has one, in whole KiB.
    fn cache(&self, bytes: u64, sessions: u32) -> Option<u64> {
        Some(bytes / u64::from(sessions.max(1)) / 1024 * 1024)
    }

    /// With a journal, so that a killed process leaves its last commit readable. Pages past the
    /// old end of the file are not journaled, so that it costs next to nothing.
    fn fill(&self) -> Fill {
        let settings = &[("journal", "delete"), ("sync", "off")];
        Fill { settings, sessions: 1, whole_blocks: false }
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
