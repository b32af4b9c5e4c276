//! A database file with its settings: whether it may be opened, how values, rows and tasks connect
//! to it, and what they read back.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use model::{Access, Durability, EngineFacts, Error, Facet, Result, Settings, units};

use super::{
    Sqlite,
    ffi::{Connection, Open},
    library, os,
};
use crate::at;

/// The first SQLite that creates databases with such pages.
const PAGES_OF_4096: i32 = 3_012_000;

/// A database file with the settings that were asked for.
pub(super) struct Database {
    pub(super) path: PathBuf,
    pub(super) settings: Settings,
    pub(super) access: Access,
}

impl Database {
    /// Describes an existing database, to read and write.
    pub(super) fn existing(path: &Path, settings: &Settings) -> Self {
        let settings = settings.clone();
        Self { path: path.to_owned(), settings, access: Access::Write }
    }

    /// Creates the empty file of a new database.
    pub(super) fn create(path: &Path, settings: &Settings) -> Result<Self> {
        File::create_new(path).map_err(|e| Error::io(path.display(), e))?;
        Ok(Self::existing(path, settings))
    }

    /// Opens a connection as SQLite makes it.
    pub(super) fn open(&self) -> Result<Connection> {
        let in_memory = is_in_memory(&self.settings);
        let opening = if in_memory { Open::Memory } else { opening(&self.path, self.access) };
        Connection::open(library::functions(&self.settings)?, &self.path, opening)
    }

    /// Creates the tables of a new database, with pages of 4096 bytes unless others were asked for. A WAL
    /// fixes the size of pages, so the settings wait until the file has some.
    pub(super) fn lay_out(&self, db: &Connection, tables: &[&str]) -> Result<()> {
        let old = (db.version_number() < PAGES_OF_4096).then_some("4096");
        if let Some(size) = self.settings.get("page_size").or(old) {
            db.execute(&format!("PRAGMA page_size={size}"))?;
        }
        tables.iter().try_for_each(|sql| db.execute(sql))
    }

    /// Opens a connection with the settings that were asked for.
    pub(super) fn connect(&self) -> Result<Connection> {
        let db = self.open()?;
        self.configure(&db)?;
        Ok(db)
    }

    /// Sets what was asked for; a journal mode only if it may be written into the database. What
    /// SQLite silently ignores shows when it is read back.
    pub(super) fn configure(&self, db: &Connection) -> Result<()> {
        let set = |pragma: &str, value: &str| db.execute(&format!("PRAGMA {pragma}={value}"));
        let settings = &self.settings;
        if let (Access::Write, Some(mode)) = (self.access, settings.get("journal")) {
            set("journal_mode", mode)?;
            // A database that has just become WAL opens its log on the next read. Left to the first
            // checkpoint, that read would be what the checkpoint waits for.
            db.number("SELECT count(*) FROM sqlite_master")?;
        }
        let busy = settings.get("busy").and_then(|text| units::parse_duration(text).ok());
        if let Some(ms) = busy.and_then(|busy| u64::try_from(busy.as_millis()).ok()) {
            db.limit_waits(ms);
        }
        let cache = settings.parse::<u64>("cache").map(|bytes| format!("-{}", bytes / 1024));
        let no_checkpoint = settings.get("checkpoint") == Some("none");
        let pages = if no_checkpoint { Some("0") } else { settings.get("autocheckpoint") };
        for (pragma, value) in [
            ("synchronous", settings.get("sync")),
            ("cache_size", settings.get("cache_pages").or(cache.as_deref())),
            ("mmap_size", settings.get("mmap")),
            ("wal_autocheckpoint", pages),
            // On Apple's systems fsync leaves the bytes in the drive's cache unless SQLite is asked
            // for more; elsewhere these change nothing
            // (<https://sqlite.org/pragma.html#pragma_fullfsync>).
            ("fullfsync", Some("1")),
            ("checkpoint_fullfsync", Some("1")),
        ] {
            if let Some(value) = value {
                set(pragma, value)?;
            }
        }
        Ok(())
    }

    /// Returns the settings of `facet` as SQLite reports them, those that are not SQLite's own as
    /// asked, and the class that they give.
    pub(super) fn in_effect(
        &self,
        db: &Connection,
        facet: Facet,
    ) -> Result<(Settings, Durability)> {
        const SYNC: [&str; 4] = ["off", "normal", "full", "extra"];
        let page_size = db.number("PRAGMA page_size")?;
        let cache = db.number("PRAGMA cache_size")?;
        let cache_bytes = if cache < 0 { -cache * 1024 } else { cache * page_size };
        // Read without locks, a database does not report its WAL.
        let is_wal =
            self.access == Access::Read && Header::read(&self.path).is_some_and(|h| h.is_wal());
        let journal = if is_wal {
            "wal".to_owned()
        } else {
            db.column("PRAGMA journal_mode", 0)?.pop().unwrap_or_default()
        };
        let sync = usize::try_from(db.number("PRAGMA synchronous")?).unwrap_or(usize::MAX);
        let sync = *SYNC.get(sync).unwrap_or(&"unknown");
        let class = durability(&journal, sync);
        let pages = db.number("PRAGMA wal_autocheckpoint")?;
        let file = db.column("PRAGMA database_list", 2)?;
        let in_file = file.first().is_some_and(|file| !file.is_empty());

        let mut settings = Settings::default();
        for (name, usual) in [("api", "sql"), ("connection", "own")] {
            settings.set(name, self.settings.get(name).unwrap_or(usual));
        }
        settings.set("store", if in_file { "file" } else { "memory" });
        settings.set("journal", journal);
        settings.set("sync", sync);
        settings.set("page_size", page_size);
        settings.set("cache", cache_bytes);
        settings.set("cache_pages", cache_bytes / page_size.max(1));
        settings.set("mmap", db.number("PRAGMA mmap_size")?);
        settings.set("busy", self.settings.get("busy").unwrap_or("60s"));
        settings.set("checkpoint", if pages == 0 { "none" } else { "auto" });
        settings.set("autocheckpoint", pages);
        let own = Sqlite.settings(facet);
        settings.0.retain(|name, _| own.iter().any(|setting| setting.name == name));
        if let Some(name) = self.settings.get(library::SETTING) {
            settings.set(library::SETTING, name);
            settings.set("version", db.version());
            let source = db.source_id();
            let check_in = source.split_whitespace().last().unwrap_or_default();
            settings.set("source", check_in.get(..CHECK_IN).unwrap_or(check_in));
        }
        Ok((settings, class))
    }
}

/// The characters by which check-ins are named for people.
const CHECK_IN: usize = 12;

pub(super) fn is_in_memory(settings: &Settings) -> bool {
    settings.get("store") == Some("memory")
}

/// Returns the class that settings in effect give.
///
/// In DELETE mode, FULL does not sync the directory after the journal was removed: after a power
/// cut the journal may come back and roll the last commit back. EXTRA does, and TRUNCATE and
/// PERSIST sync the journal itself (<https://sqlite.org/pragma.html#pragma_synchronous>).
fn durability(journal: &str, sync: &str) -> Durability {
    match (journal, sync) {
        ("off" | "memory", _) | (_, "off") => Durability::None,
        (_, "normal") | ("delete", "full") => Durability::Consistent,
        _ => Durability::Durable,
    }
}

/// The first SQLite that empties a WAL in a checkpoint.
const TRUNCATE: i32 = 3_008_008;

/// Moves all of a WAL into the database, if it has one.
pub(super) fn checkpoint(db: &Connection) -> Result<()> {
    // Older ones would take the word they do not know for a passive checkpoint.
    let whole = if db.version_number() < TRUNCATE { "RESTART" } else { "TRUNCATE" };
    match db.number(&format!("PRAGMA wal_checkpoint({whole})"))? {
        0 => Ok(()),
        _ => Err(db.add_file_name(Error::failed("a reader kept the WAL from its checkpoint"))),
    }
}

/// Returns `location` with `suffix` at its end, as SQLite names its side files.
pub(crate) fn with_suffix(location: &Path, suffix: &str) -> PathBuf {
    let mut name = location.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns the database at `location` and its side files, present or not.
pub(super) fn files(location: &Path) -> Vec<PathBuf> {
    ["", "-journal", "-wal", "-shm"].map(|suffix| with_suffix(location, suffix)).into()
}

/// Returns whether the side file has anything in it.
pub(super) fn is_filled(location: &Path, suffix: &str) -> bool {
    fs::metadata(with_suffix(location, suffix)).is_ok_and(|metadata| metadata.len() > 0)
}

/// Returns whether opening the database to read would create or rebuild its index of the log, as no
/// process has it open.
pub(crate) fn lacks_log_index(location: &Path) -> bool {
    is_filled(location, "-wal") && !is_open(location)
}

/// Returns whether a process has the database open in WAL mode.
fn is_open(location: &Path) -> bool {
    /// The byte of the index that each connection locks: `UNIX_SHM_DMS` of SQLite's `os_unix.c`.
    const CONNECTED: u64 = 128;
    os::is_locked(&with_suffix(location, "-shm"), CONNECTED)
}

/// The start of a database file (<https://sqlite.org/fileformat2.html#the_database_header>).
pub(super) struct Header([u8; 100]);

impl Header {
    /// Reads the header of a file that starts as an SQLite database; returns `None` for other
    /// files.
    pub(super) fn read(path: &Path) -> Option<Self> {
        at::start(path).filter(|start| start.starts_with(b"SQLite format 3\0")).map(Self)
    }

    /// Returns whether the database is in WAL mode: write and read version are 2 then.
    pub(super) fn is_wal(&self) -> bool {
        self.0[18] == 2 || self.0[19] == 2
    }

    /// Returns the bytes that the file must have; `None` if the header's page count is not valid.
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

/// Returns how to open `path` for reading so that nothing changes. A database in WAL mode that no
/// connection has open has no log (the last one to close removes it), or an empty one; it is read without
/// creating side files. Where another has it open, SQLite's locks are needed.
pub(super) fn opening(path: &Path, access: Access) -> Open {
    let alone = || !is_filled(path, "-wal") && !is_open(path);
    match access {
        Access::Write => Open::ReadWrite,
        Access::Read if Header::read(path).is_some_and(|h| h.is_wal()) && alone() => {
            Open::Immutable
        }
        Access::Read => Open::ReadOnly,
    }
}

/// Checks that an existing database can be opened as it is.
///
/// # Errors
///
/// Fails if it lost its end, as SQLite reads missing pages as zeros and may not notice, and, to
/// read, if it has a journal. That belongs to a transaction under way, or to one that was killed
/// and has to be rolled back, which would change the file.
pub(super) fn check(path: &Path, access: Access) -> Result<()> {
    let has = at::length(path)?;
    // PERSIST and TRUNCATE leave a journal that SQLite knows for empty by its zeroed header.
    let is_zeroed = || at::start(&with_suffix(path, "-journal")) == Some([0; 8]);
    let has_journal = is_filled(path, "-journal") && !is_zeroed();
    // A log has the pages that a checkpoint was about to write; a journal brings the old length back.
    let is_restored = has_journal || is_filled(path, "-wal");
    check_log(path, has)?;
    let header = Header::read(path);
    if header.is_none() {
        File::open(path).map_err(|error| Error::io(path.display(), error))?;
    }
    if let Some(length) = header.and_then(|header| header.length())
        && has < length
        && !is_restored
    {
        return Err(Error::corrupt(format!("is cut short: it has {has} of {length} bytes"))
            .at(path.display()));
    }
    if access == Access::Read && has_journal {
        return Err(Error::usage(format!(
            "{0}: is being written to, or its writer was killed: {0}-journal is next to it; \
             opening it once with sqlite3 rolls it back",
            path.display()
        )));
    }
    Ok(())
}

/// Checks that a file of so many bytes has not lost all that its log belongs to: SQLite takes that log for a
/// leftover then, and removes it.
pub(super) fn check_log(path: &Path, has: u64) -> Result<()> {
    if has > 0 || !is_filled(path, "-wal") {
        return Ok(());
    }
    let shown = path.display();
    let why = format!(
        "is empty, but {shown}-wal is not; opening it would remove that: put the database back to which \
         the log belongs, or move the log away"
    );
    Err(Error::corrupt(why).at(shown))
}

#[cfg(test)]
mod check_tests {
    use std::fs;

    use super::*;

    /// A power cut during a checkpoint or a transaction leaves such files.
    #[test]
    fn a_short_database_is_opened_with_what_brings_its_pages_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mut header = [0; 512];
        header[..16].copy_from_slice(b"SQLite format 3\0");
        // Pages of 512 bytes, of which there should be three, as both counters say.
        header[16] = 2;
        header[31] = 3;
        fs::write(&path, header).unwrap();
        let opens = |access| check(&path, access);
        assert!(opens(Access::Read).is_err() && opens(Access::Write).is_err());
        let aside = |suffix, bytes: &[u8]| fs::write(with_suffix(&path, suffix), bytes).unwrap();
        aside("-wal", b"");
        aside("-journal", &[0; 512]);
        assert!(opens(Access::Write).is_err(), "both are empty");
        aside("-wal", b"log");
        assert!(opens(Access::Read).is_ok() && opens(Access::Write).is_ok());
        aside("-wal", b"");
        aside("-journal", b"a journal");
        assert!(opens(Access::Read).is_err() && opens(Access::Write).is_ok());
    }
}
