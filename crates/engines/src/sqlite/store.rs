//! An open database of values: a connection of its own for settings and checkpoints, and one more
//! for each session.

use std::{
    path::Path,
    sync::{Mutex, MutexGuard},
};

use model::{
    Access, Arrangement, Durability, Facet, KeyKind, OpenOptions, Result, Session, Settings, Store,
};

use super::{
    database::{Database, checkpoint, durability},
    ffi::Connection,
    pages,
    session::{Api, SqliteSession},
    table::Table,
};
use crate::lock;

pub(super) struct SqliteStore {
    database: Database,
    table: &'static Table,
    control: Mutex<Connection>,
    in_effect: Settings,
}

impl SqliteStore {
    /// Creates the table in a new file.
    pub(super) fn create(path: &Path, options: &OpenOptions) -> Result<Self> {
        let database = Database::at(path, &options.settings);
        let (control, table) = (database.open()?, Table::of(options.keys));
        // A WAL fixes the page size, so the journal mode waits until the file has its pages.
        if let Some(size) = options.settings.get("page_size") {
            control.execute(&format!("PRAGMA page_size={size}"))?;
        }
        control.execute(table.create)?;
        Self::new(database, table, control)
    }

    pub(super) fn open(path: &Path, options: &OpenOptions) -> Result<Self> {
        let database = Database { access: options.access, ..Database::at(path, &options.settings) };
        let control = database.open()?;
        let table = control.first(Table::find)?;
        Self::new(database, table, control)
    }

    fn new(database: Database, table: &'static Table, control: Connection) -> Result<Self> {
        database.configure(&control)?;
        let in_effect = database.read_back(&control, Facet::Blobs)?;
        Ok(Self { database, table, control: Mutex::new(control), in_effect })
    }

    fn control(&self) -> MutexGuard<'_, Connection> {
        lock::hold(&self.control)
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
        let mut db = self.database.connect()?;
        if self.database.access == Access::Write {
            db.time_checkpoints()?;
        }
        let api = if self.is("api", "blob") { Api::Blob } else { Api::Sql };
        Ok(Box::new(SqliteSession::new(db, self.table, api)?))
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let settings = self.database.read_back(&self.control(), Facet::Blobs)?;
        let class = durability(&settings);
        Ok((settings, class))
    }

    fn settle(&self) -> Result<()> {
        let has_log = self.is("journal", "wal") && self.is("checkpoint", "auto");
        if self.database.access == Access::Read || !has_log {
            return Ok(());
        }
        checkpoint(&self.control())
    }

    fn integrity(&self) -> Result<Option<Vec<String>>> {
        let mut complaints = self.control().column("PRAGMA integrity_check")?;
        complaints.retain(|line| line != "ok");
        Ok(Some(complaints))
    }

    fn arrangement(&self) -> Result<Option<Arrangement>> {
        pages::arrangement(&self.control(), self.table).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn created(folder: &tempfile::TempDir, journal: &str, sync: &str) -> SqliteStore {
        let mut settings = Settings::default();
        settings.set("journal", journal);
        settings.set("sync", sync);
        let options = OpenOptions { settings, access: Access::Write, keys: KeyKind::Integers };
        let path = folder.path().join(format!("{journal}-{sync}"));
        std::fs::File::create_new(&path).unwrap();
        SqliteStore::create(&path, &options).unwrap()
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
                let store = created(&folder, journal, sync);
                assert_eq!(store.in_effect().unwrap().1, class, "journal={journal} sync={sync}");
            }
        }
    }

    #[test]
    fn a_flush_reaches_the_drive() {
        let folder = tempfile::tempdir().unwrap();
        let store = created(&folder, "wal", "full");
        let db = store.control();
        assert_eq!(db.number("PRAGMA fullfsync").unwrap(), 1);
        assert_eq!(db.number("PRAGMA checkpoint_fullfsync").unwrap(), 1);
    }
}
