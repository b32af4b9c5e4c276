//! A database with what was asked of it: how values, rows and tasks connect to it, and what they
//! read back.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use model::{Access, Durability, Engine, Error, Facet, Result, Settings};

use super::{
    Sqlite,
    ffi::{Connection, Open},
    file,
};

pub(super) struct Database {
    pub(super) path: PathBuf,
    pub(super) settings: Settings,
    pub(super) access: Access,
}

impl Database {
    /// An existing one, to read and write.
    pub(super) fn at(path: &Path, settings: &Settings) -> Self {
        let settings = settings.clone();
        Self { path: path.to_owned(), settings, access: Access::Write }
    }

    /// A new one, whose file is empty yet.
    pub(super) fn create(path: &Path, settings: &Settings) -> Result<Self> {
        File::create_new(path).map_err(|e| Error::io(path.display(), e))?;
        Ok(Self::at(path, settings))
    }

    /// A connection as SQLite makes it.
    pub(super) fn open(&self) -> Result<Connection> {
        let opening = match self.settings.get("store") {
            Some("memory") => Open::Memory,
            _ => file::opening(&self.path, self.access),
        };
        Connection::open(&self.path, opening)
    }

    /// A connection with the settings that were asked for.
    pub(super) fn connect(&self) -> Result<Connection> {
        let db = self.open()?;
        self.configure(&db)?;
        Ok(db)
    }

    /// Sets what was asked for; a journal mode only where it may be written into the database.
    /// What SQLite silently ignores shows when it is read back.
    pub(super) fn configure(&self, db: &Connection) -> Result<()> {
        let set = |pragma: &str, value: &str| db.execute(&format!("PRAGMA {pragma}={value}"));
        let settings = &self.settings;
        if let (Access::Write, Some(mode)) = (self.access, settings.get("journal")) {
            set("journal_mode", mode)?;
            // A database that has just become WAL opens its log on the next read. Left to the first
            // checkpoint, that read would be what the checkpoint waits for.
            db.number("SELECT count(*) FROM sqlite_schema")?;
        }
        for (name, pragma) in
            [("sync", "synchronous"), ("cache_pages", "cache_size"), ("mmap", "mmap_size")]
        {
            if let Some(value) = settings.get(name) {
                set(pragma, value)?;
            }
        }
        if let Some(bytes) = settings.parse::<u64>("cache") {
            set("cache_size", &format!("-{}", bytes / 1024))?;
        }
        if settings.get("checkpoint") == Some("none") {
            set("wal_autocheckpoint", "0")?;
        }
        // On Apple's systems fsync leaves the bytes in the drive's cache unless SQLite is asked for
        // more; elsewhere these change nothing (<https://sqlite.org/pragma.html#pragma_fullfsync>).
        set("fullfsync", "1")?;
        set("checkpoint_fullfsync", "1")
    }

    /// The settings of `facet` as SQLite reports them; those that are not SQLite's own, as asked.
    pub(super) fn read_back(&self, db: &Connection, facet: Facet) -> Result<Settings> {
        const SYNC: [&str; 4] = ["off", "normal", "full", "extra"];
        let page_size = db.number("PRAGMA page_size")?;
        let cache = db.number("PRAGMA cache_size")?;
        let cache_bytes = if cache < 0 { -cache * 1024 } else { cache * page_size };
        let journal = db.column("PRAGMA journal_mode")?.pop();
        let sync = usize::try_from(db.number("PRAGMA synchronous")?).unwrap_or(usize::MAX);
        let automatic = db.number("PRAGMA wal_autocheckpoint")? != 0;

        let mut settings = Settings::default();
        for (name, usual) in [("api", "sql"), ("connection", "own")] {
            settings.set(name, self.settings.get(name).unwrap_or(usual));
        }
        settings.set("journal", journal.unwrap_or_default());
        settings.set("sync", SYNC.get(sync).unwrap_or(&"unknown"));
        settings.set("page_size", page_size);
        settings.set("cache", cache_bytes);
        settings.set("cache_pages", cache_bytes / page_size.max(1));
        settings.set("mmap", db.number("PRAGMA mmap_size")?);
        settings.set("checkpoint", if automatic { "auto" } else { "none" });
        let own = Sqlite.settings(facet);
        settings.0.retain(|name, _| own.iter().any(|setting| setting.name == name));
        Ok(settings)
    }

    /// The database and its side files, present or not.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        file::all_of(&self.path)
    }

    /// Whether a WAL was asked for.
    pub(super) fn has_log(&self) -> bool {
        self.settings.get("journal") == Some("wal")
    }
}

/// The class that settings in effect give.
///
/// In DELETE mode, FULL does not sync the directory after the journal was removed: after a power
/// cut the journal may come back and roll the last commit back. EXTRA does, and TRUNCATE and PERSIST
/// sync the journal itself (<https://sqlite.org/pragma.html#pragma_synchronous>).
pub(super) fn durability(in_effect: &Settings) -> Durability {
    let journal = in_effect.get("journal").unwrap_or_default();
    let sync = in_effect.get("sync").unwrap_or_default();
    match (journal, sync) {
        ("off" | "memory", _) | (_, "off") => Durability::None,
        (_, "normal") | ("delete", "full") => Durability::Consistent,
        _ => Durability::Durable,
    }
}

/// Moves all of a WAL into the database.
pub(super) fn checkpoint(db: &Connection) -> Result<()> {
    match db.number("PRAGMA wal_checkpoint(TRUNCATE)")? {
        0 => Ok(()),
        _ => Err(db.named(Error::failed("a reader kept the WAL from its checkpoint"))),
    }
}
