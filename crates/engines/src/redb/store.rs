//! An open database.

use std::{
    cell::Cell,
    fs::File,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use model::{Access, Durability, Error, KeyKind, OpenOptions, Result, Session, Settings, Store};
use redb::{
    Builder, ConcurrencyMode, Database, ReadOnlyDatabase, ReadTransaction, ReadableDatabase,
    TableHandle, TransactionError, WriteTransaction,
};

use super::{
    file::DatabaseFile,
    kind::{Integers, Kind, Names},
    session::Tables,
};
use crate::{choice::Choice, ordered::TransactionSession, refusal};

/// What [`Builder::new`] says it takes.
const CACHE: u64 = 1 << 30;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sync {
    Off,
    Deferred,
    Immediate,
}

const SYNC: Choice<Sync> =
    Choice(&[("immediate", Sync::Immediate), ("deferred", Sync::Deferred), ("off", Sync::Off)]);

const SHARE: Choice<ConcurrencyMode> = Choice(&[
    ("none", ConcurrencyMode::ExclusiveWriter),
    ("readers", ConcurrencyMode::SingleWriter),
    ("writers", ConcurrencyMode::MultiWriter),
]);

struct Chosen {
    cache: u64,
    sync: Sync,
    two_phase: bool,
    share: ConcurrencyMode,
}

impl Chosen {
    fn new(settings: &Settings) -> Result<Self> {
        let share = SHARE.of(settings, "share");
        let shared = share != ConcurrencyMode::ExclusiveWriter;
        let sync = SYNC.of(settings, "sync");
        if shared && sync == Sync::Deferred {
            return Err(Error::usage(
                "sync=deferred keeps commits in the memory of one process; it goes with \
                 share=none only",
            ));
        }
        // Shared, redb always commits in two phases.
        let two_phase = shared || settings.get("two_phase") == Some("on");
        Ok(Self { cache: settings.parse("cache").unwrap_or(CACHE), sync, two_phase, share })
    }

    fn builder(&self) -> Result<Builder> {
        let cache = refusal::size(self.cache)?;
        let mut builder = Builder::new();
        builder.set_cache_size(cache).set_concurrency_mode(self.share);
        Ok(builder)
    }

    fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        settings.set("cache", self.cache);
        settings.set("sync", SYNC.word(self.sync));
        settings.set("two_phase", if self.two_phase { "on" } else { "off" });
        settings.set("share", SHARE.word(self.share));
        settings
    }
}

enum Handle {
    Read(ReadOnlyDatabase),
    Write(Database),
}

pub(super) struct RedbStore {
    path: PathBuf,
    chosen: Chosen,
    handle: Handle,
    keys: KeyKind,
    /// There are commits that only an immediate one will write out.
    unflushed: AtomicBool,
}

impl RedbStore {
    pub(super) fn create(path: &Path, file: File, options: &OpenOptions) -> Result<Self> {
        let chosen = Chosen::new(&options.settings)?;
        let builder = chosen.builder()?;
        let make = || {
            let file = DatabaseFile::new(file, chosen.sync != Sync::Off)?;
            let database = builder.create_with_backend(file)?;
            let txn = database.begin_write()?;
            match options.keys {
                KeyKind::Integers => make_tables::<Integers>(&txn)?,
                KeyKind::Names => make_tables::<Names>(&txn)?,
            }
            txn.commit()?;
            Ok(database)
        };
        let database = make().map_err(|e: redb::Error| failed(path, e))?;
        Ok(Self::new(path, chosen, Handle::Write(database), options.keys))
    }

    pub(super) fn open(path: &Path, file: File, options: &OpenOptions) -> Result<Self> {
        let chosen = Chosen::new(&options.settings)?;
        let builder = chosen.builder()?;
        let open = || {
            let file = DatabaseFile::new(file, chosen.sync != Sync::Off)?;
            let handle = match options.access {
                Access::Read => Handle::Read(builder.open_read_only_with_backend(file)?),
                Access::Write => Handle::Write(builder.create_with_backend(file)?),
            };
            let keys = handle.keys()?;
            Ok((handle, keys))
        };
        match open().map_err(|e: redb::Error| failed(path, e))? {
            (handle, Some(keys)) => Ok(Self::new(path, chosen, handle, keys)),
            _ => Err(Error::usage(format!(
                "{}: has neither a table integers nor names",
                path.display()
            ))),
        }
    }

    fn new(path: &Path, chosen: Chosen, handle: Handle, keys: KeyKind) -> Self {
        Self { path: path.to_owned(), chosen, handle, keys, unflushed: AtomicBool::new(false) }
    }

    pub(super) fn read(&self) -> Result<ReadTransaction> {
        self.handle.read().map_err(|e| self.failed(e))
    }

    /// Starts a write transaction, and counts in `waits` if another session is in one.
    pub(super) fn write(&self, waits: &Cell<i64>) -> Result<WriteTransaction> {
        let Handle::Write(database) = &self.handle else { return Err(refusal::read_only()) };
        let begun = match database.try_begin_write() {
            Err(TransactionError::WouldBlock) => {
                waits.set(waits.get() + 1);
                database.begin_write()
            }
            begun => begun,
        };
        let mut txn = begun.map_err(|e| self.failed(e))?;
        txn.set_two_phase_commit(self.chosen.two_phase);
        Ok(txn)
    }

    pub(super) fn commit(&self, mut txn: WriteTransaction) -> Result<()> {
        if self.chosen.sync == Sync::Deferred {
            txn.set_durability(redb::Durability::None).map_err(|e| self.failed(e))?;
            self.unflushed.store(true, Relaxed);
        }
        txn.commit().map_err(|e| self.failed(e))
    }

    #[cold]
    pub(super) fn failed(&self, error: impl Into<redb::Error>) -> Error {
        failed(&self.path, error.into())
    }
}

impl Handle {
    fn read(&self) -> Result<ReadTransaction, TransactionError> {
        match self {
            Self::Read(database) => database.begin_read(),
            Self::Write(database) => database.begin_read(),
        }
    }

    /// The kind of keys that it has a table for.
    fn keys(&self) -> Result<Option<KeyKind>, redb::Error> {
        let names: Vec<_> = self.read()?.list_tables()?.collect();
        let has = |table: &str| names.iter().any(|name| name.name() == table);
        let integers = has(Integers::VALUES.name()).then_some(KeyKind::Integers);
        Ok(integers.or_else(|| has(Names::VALUES.name()).then_some(KeyKind::Names)))
    }
}

fn make_tables<K: Kind>(txn: &WriteTransaction) -> Result<(), redb::TableError> {
    txn.open_table(K::VALUES)?;
    K::METAS.map_or(Ok(()), |metas| txn.open_table(metas).map(drop))
}

fn failed(path: &Path, error: redb::Error) -> Error {
    let path = path.display();
    match error {
        redb::Error::Io(cause) if cause.kind() == std::io::ErrorKind::UnexpectedEof => {
            Error::corrupt(format!("{path}: is cut short"))
        }
        redb::Error::Io(cause) => Error::io(path, cause),
        redb::Error::DatabaseAlreadyOpen => Error::usage(format!(
            "{path}: is open elsewhere, and redb lets one process write, alone; opened with \
             share=writers everywhere, several may"
        )),
        redb::Error::RepairAborted => Error::corrupt(format!(
            "{path}: its writer was killed, or it is damaged; opening it once to write repairs it \
             if that can be done"
        )),
        redb::Error::Corrupted(_) => Error::corrupt(format!("{path}: {error}")),
        redb::Error::UpgradeRequired(_) | redb::Error::LockProtocolMismatch => {
            Error::unsupported(format!("{path}: {error}"))
        }
        other => Error::failed(format!("{path}: {other}")),
    }
}

impl Store for RedbStore {
    fn keys(&self) -> KeyKind {
        self.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(match self.keys {
            KeyKind::Integers => Box::new(TransactionSession::new(Tables::<Integers>::new(self))),
            KeyKind::Names => Box::new(TransactionSession::new(Tables::<Names>::new(self))),
        })
    }

    /// redb does not report them; it takes what was asked for.
    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let class = match self.chosen.sync {
            Sync::Off => Durability::None,
            Sync::Deferred => Durability::Consistent,
            Sync::Immediate => Durability::Durable,
        };
        Ok((self.chosen.settings(), class))
    }

    fn settle(&self) -> Result<()> {
        if self.unflushed.swap(false, Relaxed) {
            // Immediate, as a transaction is by default.
            self.write(&Cell::new(0))?.commit().map_err(|e| self.failed(e))?;
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { handle, path, .. } = *self;
        let closed = match handle {
            Handle::Read(database) => database.close(),
            Handle::Write(database) => database.close(),
        };
        closed.map_err(|e| failed(&path, e.into()))
    }
}
