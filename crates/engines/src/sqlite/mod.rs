//! SQLite: one database file; integers in kvtest's table `kv`, names in the archive table
//! `sqlar`.

mod database;
mod ffi;
mod file;
mod inspect;
mod pages;
mod prepared;
mod rows;
mod session;
mod store;
mod table;
mod tasks;

use std::path::{Path, PathBuf};

use model::{
    Accepts, Blobs, Declaration, Durability, DurabilitySettings, Engine, Error, Facet, Fill,
    Library, OpenOptions, Result, Rows, Setting, Settings, Store, Tasks, rows::NULL,
};

use crate::fresh;
use file::Header;
pub use inspect::{Stat, memory_counters, stat};
use store::SqliteStore;

pub struct Sqlite;

/// Pages are counted in 31 bits, and a page has at most 64 KiB.
const MAX_BYTES: u64 = 1 << 47;

static DECLARATION: Declaration = Declaration {
    settings: &[
        Setting::new(
            "api",
            Accepts::Words(&["sql", "blob"]),
            "read and overwrite by SQL statements or by incremental blob handles",
        )
        .only(&[Facet::Blobs]),
        Setting::new(
            "store",
            Accepts::Words(&["file", "memory"]),
            "a database file, or a database in the memory of each process",
        )
        .only(&[Facet::Rows]),
        Setting::new(
            "connection",
            Accepts::Words(&["own", "shared", "pool"]),
            "one for each worker, one for all in turns, or as published: from a pool for each \
             step, where two stay open",
        )
        .only(&[Facet::Tasks]),
        Setting::new(
            "journal",
            Accepts::Words(&["delete", "truncate", "persist", "memory", "wal", "off"]),
            "PRAGMA journal_mode",
        ),
        Setting::new(
            "sync",
            Accepts::Words(&["off", "normal", "full", "extra"]),
            "PRAGMA synchronous",
        ),
        Setting::new(
            "page_size",
            Accepts::PowerOfTwo { min: 512, max: 65536 },
            "PRAGMA page_size; fixed once the database is created",
        )
        .only(&[Facet::Blobs]),
        Setting::new(
            "cache",
            Accepts::Size { min: 0, max: MAX_BYTES },
            "page cache in bytes (PRAGMA cache_size, negative form; whole KiB)",
        ),
        Setting::new(
            "cache_pages",
            Accepts::Integer { min: 0, max: i32::MAX as i64 },
            "page cache in pages (PRAGMA cache_size, positive form), as kvtest's --cache-size",
        )
        .only(&[Facet::Blobs]),
        Setting::new("mmap", Accepts::Size { min: 0, max: MAX_BYTES }, "PRAGMA mmap_size in bytes")
            .only(&[Facet::Blobs]),
        Setting::new(
            "checkpoint",
            Accepts::Words(&["auto", "none"]),
            "whether a WAL is checkpointed, automatically and at the end of a pass",
        )
        .only(&[Facet::Blobs]),
        NULL,
    ],
    durability: &[
        DurabilitySettings::new(
            Durability::None,
            &[("journal", "off"), ("sync", "off")],
            "pages written in place, no journal, no flush: a power cut may leave no readable \
             database",
        ),
        DurabilitySettings::new(
            Durability::Consistent,
            &[("journal", "wal"), ("sync", "normal")],
            "pages appended to the log, fdatasync(2) only at a checkpoint: a power cut may undo the \
             last commits",
        ),
        DurabilitySettings::new(
            Durability::Durable,
            &[("journal", "wal"), ("sync", "full")],
            "pages appended to the log, fdatasync(2) of it before the commit returns",
        ),
    ],
    // With a journal, so that a killed process leaves its last commit readable. Pages past the
    // old end of the file are not journaled, so that it costs next to nothing.
    fill: Some(Fill {
        settings: &[("journal", "delete"), ("sync", "off")],
        sessions: 1,
        whole_blocks: false,
    }),
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
        Header::of(path).is_some()
    }

    fn files(&self, location: &Path) -> Vec<PathBuf> {
        file::all_of(location)
    }

    fn reading_changes(&self, location: &Path, settings: &Settings) -> Option<String> {
        let wal = Header::of(location)?.is_wal();
        if file::is_filled(location, "-wal") || file::is_filled(location, "-journal") {
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

    fn others(&self, location: &Path) -> Result<Vec<String>> {
        inspect::others(location)
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        ffi::check_version()?;
        check_cache(&options.settings)?;
        fresh::file(location, |file| {
            // Closing it later would give up the locks that SQLite has on it.
            drop(file);
            SqliteStore::create(location, options)
        })
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        ffi::check_version()?;
        check_cache(&options.settings)?;
        file::check_whole(location)?;
        file::check_no_journal(location, options.access)?;
        Ok(Box::new(SqliteStore::open(location, options)?))
    }
}

fn check_cache(settings: &Settings) -> Result<()> {
    match (settings.get("cache"), settings.get("cache_pages")) {
        (Some(_), Some(_)) => Err(Error::usage("cache= and cache_pages= exclude each other")),
        _ => Ok(()),
    }
}
