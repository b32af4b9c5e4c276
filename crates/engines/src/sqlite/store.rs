//! An open database: a connection of its own for settings and checkpoints, and one more for
//! each session.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use model::{
    Access, Arrangement, Durability, Error, KeyKind, OpenOptions, Result, Session, Settings, Store,
};

use super::{
    ffi::Connection,
    open_kind, pages,
    session::{Api, SqliteSession},
    table::Table,
};

pub(super) struct SqliteStore {
    path: PathBuf,
    settings: Settings,
    access: Access,
    pub(super) table: &'static Table,
    control: Mutex<Connection>,
    in_effect: Settings,
}

impl SqliteStore {
    /// Makes the table in an empty file.
    pub(super) fn create(
        path: &Path,
        options: &OpenOptions,
        table: &'static Table,
    ) -> Result<Self> {
        let control = Connection::open(path, open_kind(path, Access::Write))?;
        // A WAL fixes the page size, so the journal mode waits until the file has its pages.
        if let Some(size) = options.settings.get("page_size") {
            control.execute(&format!("PRAGMA page_size={size}"))?;
        }
        control.execute(table.create)?;
        Self::new(path, options, table, control)
    }

    pub(super) fn open(path: &Path, options: &OpenOptions) -> Result<Self> {
        let control = Connection::open(path, open_kind(path, options.access))?;
        let table = control.first(Table::find)?;
        Self::new(path, options, table, control)
    }

    fn new(
        path: &Path,
        options: &OpenOptions,
        table: &'static Table,
        control: Connection,
    ) -> Result<Self> {
        configure(&control, &options.settings, options.access)?;
        let in_effect = read_back(&control, &options.settings)?;
        Ok(Self {
            path: path.to_owned(),
            settings: options.settings.clone(),
            access: options.access,
            table,
            control: Mutex::new(control),
            in_effect,
        })
    }

    fn control(&self) -> MutexGuard<'_, Connection> {
        // A connection has no half-done state that a panic elsewhere could leave.
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is(&self, name: &str, value: &str) -> bool {
        self.in_effect.get(name) == Some(value)
    }
}

impl Store for SqliteStore {
    fn keys(&self) -> KeyKind {
        self.table.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let mut db = Connection::open(&self.path, open_kind(&self.path, self.access))?;
        configure(&db, &self.settings, self.access)?;
        if self.access == Access::Write {
            db.time_checkpoints()?;
        }
        let api = if self.is("api", "blob") { Api::Blob } else { Api::Sql };
        Ok(Box::new(SqliteSession::new(db, self.table, api)?))
    }

    fn in_effect(&self) -> Result<Settings> {
        read_back(&self.control(), &self.settings)
    }

    fn durability(&self) -> Durability {
        durability(&self.in_effect)
    }

    fn settle(&self) -> Result<()> {
        let owed = self.is("journal", "wal") && self.is("checkpoint", "auto");
        if self.access == Access::Read || !owed {
            return Ok(());
        }
        checkpoint(&self.control())
    }

    fn integrity(&self) -> Result<Option<Vec<String>>> {
        let mut said = self.control().column("PRAGMA integrity_check")?;
        said.retain(|line| line != "ok");
        Ok(Some(said))
    }

    fn arrangement(&self) -> Result<Option<Arrangement>> {
        pages::arrangement(&self.control(), self.table).map(Some)
    }
}

/// The class that settings in effect give.
///
/// In DELETE mode, FULL does not sync the directory after the journal was removed: after a power
/// cut the journal may come back and roll the last commit back. EXTRA does, and TRUNCATE and PERSIST
/// sync the journal itself (<https://sqlite.org/pragma.html#pragma_synchronous>).
pub(crate) fn durability(in_effect: &Settings) -> Durability {
    let journal = in_effect.get("journal").unwrap_or_default();
    let sync = in_effect.get("sync").unwrap_or_default();
    match (journal, sync) {
        ("off" | "memory", _) | (_, "off") => Durability::None,
        (_, "normal") | ("delete", "full") => Durability::Consistent,
        _ => Durability::Durable,
    }
}

/// Moves all of a WAL into the database.
pub(crate) fn checkpoint(db: &Connection) -> Result<()> {
    match db.number("PRAGMA wal_checkpoint(TRUNCATE)")? {
        0 => Ok(()),
        _ => Err(db.named(Error::failed("a reader kept the WAL from its checkpoint"))),
    }
}

/// Sets what was asked for; a journal mode only where it may be written into the database. What
/// SQLite silently ignores shows when it is read back.
pub(crate) fn configure(db: &Connection, settings: &Settings, access: Access) -> Result<()> {
    let set = |pragma: &str, value: &str| db.execute(&format!("PRAGMA {pragma}={value}"));
    if let (Access::Write, Some(mode)) = (access, settings.get("journal")) {
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
    if let Some(bytes) = settings.number::<u64>("cache") {
        set("cache_size", &format!("-{}", bytes / 1024))?;
    }
    if settings.get("checkpoint") == Some("none") {
        set("wal_autocheckpoint", "0")?;
    }
    // On Apple's systems fsync leaves the bytes in the drive's cache, and SQLite asks for more only
    // when it is told to; elsewhere these change nothing (<https://sqlite.org/pragma.html#pragma_fullfsync>).
    set("fullfsync", "1")?;
    set("checkpoint_fullfsync", "1")
}

/// All settings as SQLite reports them; `api` is this engine's own.
pub(crate) fn read_back(db: &Connection, asked: &Settings) -> Result<Settings> {
    const SYNC: [&str; 4] = ["off", "normal", "full", "extra"];
    let word = |pragma: &str| {
        Ok::<_, Error>(db.column(&format!("PRAGMA {pragma}"))?.pop().unwrap_or_default())
    };
    let page_size = db.number("PRAGMA page_size")?;
    let cache = db.number("PRAGMA cache_size")?;
    let cache_bytes = if cache < 0 { -cache * 1024 } else { cache * page_size };
    let sync = usize::try_from(db.number("PRAGMA synchronous")?).unwrap_or(usize::MAX);
    let automatic = db.number("PRAGMA wal_autocheckpoint")? != 0;

    let mut settings = Settings::default();
    settings.set("api", asked.get("api").unwrap_or("sql"));
    settings.set("journal", word("journal_mode")?);
    settings.set("sync", SYNC.get(sync).unwrap_or(&"unknown"));
    settings.set("page_size", page_size);
    settings.set("cache", cache_bytes);
    settings.set("cache_pages", cache_bytes / page_size.max(1));
    settings.set("mmap", db.number("PRAGMA mmap_size")?);
    settings.set("checkpoint", if automatic { "auto" } else { "none" });
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(folder: &tempfile::TempDir, journal: &str, sync: &str) -> SqliteStore {
        let mut settings = Settings::default();
        settings.set("journal", journal);
        settings.set("sync", sync);
        let options = OpenOptions { settings, access: Access::Write, keys: KeyKind::Integers };
        let path = folder.path().join(format!("{journal}-{sync}"));
        std::fs::File::create_new(&path).unwrap();
        SqliteStore::create(&path, &options, Table::of(KeyKind::Integers)).unwrap()
    }

    #[test]
    fn each_journal_and_sync_gives_the_class_that_it_keeps() {
        use Durability::{Consistent, Durable, None};
        let folder = tempfile::tempdir().unwrap();
        for (journal, classes) in [
            ("delete", [None, Consistent, Consistent, Durable]),
            ("truncate", [None, Consistent, Durable, Durable]),
            ("persist", [None, Consistent, Durable, Durable]),
            ("wal", [None, Consistent, Durable, Durable]),
            ("memory", [None; 4]),
            ("off", [None; 4]),
        ] {
            for (sync, class) in ["off", "normal", "full", "extra"].into_iter().zip(classes) {
                let store = made(&folder, journal, sync);
                assert_eq!(store.durability(), class, "journal={journal} sync={sync}");
            }
        }
    }

    #[test]
    fn a_flush_reaches_the_drive() {
        let folder = tempfile::tempdir().unwrap();
        let store = made(&folder, "wal", "full");
        let db = store.control();
        assert_eq!(db.number("PRAGMA fullfsync").unwrap(), 1);
        assert_eq!(db.number("PRAGMA checkpoint_fullfsync").unwrap(), 1);
    }
}
