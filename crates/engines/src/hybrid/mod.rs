//! `hybrid:DIR` keeps small values in the rows of an SQLite database, `hybrid.db`, and larger ones in
//! files of their own below `hybrid.files`, each named by its row.
//!
//! A file is written once, under a number that no file had before, and flushed with its folder before
//! the row that names it is committed. It is removed after the commit that replaced or deleted the row,
//! and only once no power cut can undo that commit. So a row never names a file that is missing or
//! torn; what is left is a file that no row names.
//!
//! Files are written within a write transaction, of which SQLite allows one at a time: who has one open
//! finds no file whose row is yet to come.

mod orphans;
mod parts;
mod session;
mod store;
mod table;

use std::path::{Path, PathBuf};

use model::{
    Accepts, Access, Batch, Blobs, Capabilities, Declaration, Durability, Engine, Facet, Fill,
    KeyKind, Library, OpenOptions, Result, Setting, Settings, Store, Try,
};

use crate::{
    at, fresh,
    sqlite::{self, SqlTable, Sqlite, Stat},
};
use store::HybridStore;

/// The engine of SQLite with files.
pub(crate) struct Hybrid;

/// The name of the setting, in the database as well.
const INLINE: &str = "inline";

/// Below 100 kB values are read faster from a database, above from files
/// (<https://sqlite.org/intern-v-extern-blob.html>).
const USUAL_INLINE: u64 = 100_000;

/// The largest threshold: half of what a row of SQLite can have.
const MAX_INLINE: u64 = 500_000_000;

static DECLARATION: Declaration = Declaration {
    settings: &[
        Setting::new(
            INLINE,
            Accepts::Size(0, MAX_INLINE),
            "the largest value in bytes that is kept in the database; fixed once the store is created",
        )
        .only_for(&[Facet::Blobs]),
        sqlite::JOURNAL.only_for(&[Facet::Blobs]),
        sqlite::SYNC.only_for(&[Facet::Blobs]),
        sqlite::PAGE_SIZE.only_for(&[Facet::Blobs]),
        sqlite::CACHE.only_for(&[Facet::Blobs]),
        sqlite::MMAP,
        sqlite::CHECKPOINT,
        sqlite::LIB.only_for(&[Facet::Blobs]),
    ],
    durability: &[
        Durability::None.kept_by(
            &[("journal", "off"), ("sync", "off")],
            "a file for each large value, pages of the database written in place, no journal, no \
             flush: a power cut may leave no readable store",
        ),
        Durability::Consistent.kept_by(
            &[("journal", "wal"), ("sync", "normal")],
            if sqlite::FDATASYNC {
                "a large value: write(2) and fsync(2) of its file, fsync(2) of its folder; then the \
                 row, appended to the log: fdatasync(2) of it at a checkpoint, and before files that \
                 were replaced are removed; a power cut may undo the last commits"
            } else {
                "a large value: write(2) and fsync(2) of its file, fsync(2) of its folder; then the \
                 row, appended to the log: fsync(2) of it at a checkpoint, and fdatasync(2) before \
                 files that were replaced are removed; a power cut may undo the last commits"
            },
        ),
        Durability::Durable.kept_by(
            &[("journal", "wal"), ("sync", "full")],
            if sqlite::FDATASYNC {
                "a large value: write(2) and fsync(2) of its file, fsync(2) of its folder; then the \
                 row, appended to the log, fdatasync(2) of it before the commit returns"
            } else {
                "a large value: write(2) and fsync(2) of its file, fsync(2) of its folder; then the \
                 row, appended to the log, fsync(2) of it before the commit returns"
            },
        ),
    ],
    limitations: &[
        "two sessions that write at once: one waits, also while the other writes a file",
        "a batch that reads sees one state of the store, until it reads a large value that was \
         replaced meanwhile",
    ],
    fill: Some(Fill {
        settings: &[("journal", "delete"), ("sync", "off")],
        sessions: 1,
        whole_blocks_from: None,
    }),
    capabilities: Capabilities::ON_DISK,
    integrity: Some(
        "PRAGMA integrity_check, and the file of each row with its length (no checksums)",
    ),
    reclaim: Some("VACUUM of the database; files are removed with their values"),
    blobs: Some(&Hybrid),
    worth_trying: &[
        Try::new("", "each size where it is read faster; two kinds of files to keep together"),
        Try::new("mmap=1GiB", sqlite::MAPPED),
    ],
    threshold: Some(INLINE),
    title: "SQLite and files",
    extension: Some("hybrid"),
    ..Declaration::new("hybrid", "small values in an SQLite database, larger ones in files")
};

impl Engine for Hybrid {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }

    fn library(&self, settings: &Settings) -> Option<Library> {
        Sqlite.library(settings)
    }

    fn check(&self, facet: Facet, settings: &Settings) -> Result<()> {
        Sqlite.check(facet, settings)
    }

    fn unsupported_reason(&self, class: Durability, settings: &Settings) -> Option<String> {
        Sqlite.unsupported_reason(class, settings)
    }
}

impl Blobs for Hybrid {
    fn cache(&self, bytes: u64, sessions: u32) -> Option<u64> {
        Sqlite.cache(bytes, sessions)
    }

    fn recognises(&self, path: &Path) -> bool {
        Sqlite.recognises(&database(path))
    }

    fn reading_changes(
        &self,
        location: &Path,
        settings: &Settings,
        batch: Batch,
    ) -> Option<String> {
        Sqlite.reading_changes(&database(location), settings, batch)
    }

    fn reads_a_copy(&self, location: &Path) -> Result<bool> {
        Ok(sqlite::lacks_log_index(&database(location)))
    }

    fn shares_files(&self, own: &Settings, other: &Settings) -> bool {
        own.get(INLINE) == other.get(INLINE) && Sqlite.shares_files(own, other)
    }

    fn reads_unguarded(&self, location: &Path) -> bool {
        Sqlite.reads_unguarded(&database(location))
    }

    fn other_contents(&self, location: &Path) -> Result<Vec<String>> {
        at::other_files(location, &["hybrid."])
    }

    fn repair(&self, location: &Path) -> Option<String> {
        Sqlite.repair(&database(location))
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        fresh::folder(location, || HybridStore::create(location, options))
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        at::check(self, location)?;
        Ok(Box::new(HybridStore::open(location, options)?))
    }
}

/// Returns statistics of the store or SQLite database at `path`, whose values `settings` may name; with `vacuum`, it rewrites the
/// database first.
///
/// # Errors
///
/// Fails if it is no such store, or cannot be read.
pub fn stat(path: &Path, settings: &Settings, vacuum: bool) -> Result<Stat> {
    if !Hybrid.recognises(path) {
        return sqlite::stat(path, |db| sqlite::find_table(db, settings), vacuum);
    }
    let find = |db: &_| SqlTable::find(db, &table::TABLES).cloned();
    let stat = sqlite::stat(&database(path), find, vacuum)?;
    let access = if vacuum { Access::Write } else { Access::Read };
    let (settings, keys) = (Settings::default(), KeyKind::Integers);
    let store = HybridStore::open(path, &OpenOptions { settings, access, keys })?;
    Ok(Stat { left_out: store.left_out()?, inline: Some(store.inline()), ..stat })
}

/// Returns the path of the database of the store at `location`.
fn database(location: &Path) -> PathBuf {
    location.join("hybrid.db")
}

/// Returns the folder of the store's files.
fn folder(location: &Path) -> PathBuf {
    location.join("hybrid.files")
}
