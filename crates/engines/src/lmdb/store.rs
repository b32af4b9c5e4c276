//! An open environment and its databases.

use std::{
    cell::Cell,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
};

use heed::{
    CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, MdbError, RoTxn, RwTxn, WithoutTls,
    types::Bytes,
};
use model::{Access, Durability, Error, KeyKind, OpenOptions, Result, Session, Settings, Store};

use super::{MAP, os};
use crate::{lock, ordered::TransactionSession, refusal};

pub(super) type Values = Database<'static, Bytes, Bytes>;

/// Two that a store of names has, and one that is looked for as well.
const DATABASES: u32 = 3;

/// Readers at once, of all processes; each costs 64 bytes of the lock file.
const READERS: u32 = 1000;

pub(super) struct Environment {
    path: PathBuf,
    settings: Settings,
    access: Access,
    env: Env<WithoutTls>,
}

impl Environment {
    /// `shared`: others have it open. If none has, it is read without locks.
    pub(super) fn open(
        path: &Path,
        settings: &Settings,
        access: Access,
        shared: bool,
    ) -> Result<Self> {
        let alone = access == Access::Read && !shared;
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.max_dbs(DATABASES).max_readers(READERS).map_size(map_size(settings)?);
        // SAFETY: the file is changed by LMDB alone, under its locks. Without them it is read
        // only while no other process has it open (nothing guards against one that comes
        // later). The flags that leave out flushes endanger the file in a power cut only.
        let env = unsafe { options.flags(flags(settings, access, alone)).open(path) };
        let env = env.map_err(|error| opening(path, settings, error))?;
        if !shared {
            check_whole(path, &env)?;
        }
        Ok(Self { path: path.to_owned(), settings: settings.clone(), access, env })
    }

    /// Whether it is open as `options` ask for it, to read.
    pub(super) fn serves(&self, location: &Path, options: &OpenOptions) -> bool {
        self.access == Access::Read
            && options.access == Access::Read
            && self.settings == options.settings
            && location.canonicalize().is_ok_and(|location| location == self.env.path())
    }

    /// Pages put in use and given up within one batch are never written, and the file may end
    /// before them: lengthened, it passes for whole.
    fn make_whole(&self) -> Result<()> {
        let lengthen = || {
            if self.env.real_disk_size()? >= extent(&self.env) {
                return Ok(());
            }
            // Nobody else lengthens the file meanwhile.
            let _turn = self.env.write_txn()?;
            let file = self.env.try_clone_inner_file()?;
            Ok(file.set_len(file.metadata()?.len().max(extent(&self.env)))?)
        };
        match self.access {
            Access::Read => Ok(()),
            Access::Write => lengthen().map_err(|e| self.failed(e)),
        }
    }

    fn flags(&self) -> Result<EnvFlags> {
        let bits = self.env.get_flags().map_err(|e| self.failed(e))?;
        Ok(EnvFlags::from_bits_truncate(bits))
    }

    fn failed(&self, error: heed::Error) -> Error {
        let path = self.path.display();
        match error {
            heed::Error::Io(cause) => Error::io(path, cause),
            heed::Error::Mdb(MdbError::MapFull) => Error::failed(format!(
                "{path}: the batch does not fit into map={}, of which {} bytes are in use; a \
                 larger map= holds more",
                self.env.info().map_size,
                extent(&self.env)
            )),
            heed::Error::Mdb(MdbError::ReadersFull) => Error::failed(format!(
                "{path}: has {READERS} readers already, which is the most it takes"
            )),
            heed::Error::Mdb(MdbError::Corrupted | MdbError::PageNotFound) => {
                Error::corrupt(format!("{path}: {error}"))
            }
            other => Error::failed(format!("{path}: {other}")),
        }
    }
}

/// A store that is dropped, not closed, is made whole as far as possible.
impl Drop for Environment {
    fn drop(&mut self) {
        let _ = self.make_whole();
    }
}

/// Bytes up to the end of the last page that was ever in use.
fn extent(env: &Env<WithoutTls>) -> u64 {
    let page_size = u64::from(env.unnamed_database_stat().page_size);
    (env.info().last_page_number as u64 + 1) * page_size
}

/// A page that the file lacks would end the process when it is touched.
fn check_whole(path: &Path, env: &Env<WithoutTls>) -> Result<()> {
    let length = env.real_disk_size().map_err(|e| Error::failed(e.to_string()))?;
    if length >= extent(env) {
        return Ok(());
    }
    Err(Error::corrupt(format!(
        "{}: is cut short: data.mdb has {length} of {} bytes",
        path.display(),
        extent(env)
    )))
}

/// Maps consist of whole pages, of 4 KiB to 64 KiB.
fn map_size(settings: &Settings) -> Result<usize> {
    let bytes = settings.parse("map").unwrap_or(MAP).next_multiple_of(1 << 16);
    refusal::size(bytes)
}

fn flags(settings: &Settings, access: Access, alone: bool) -> EnvFlags {
    let mut flags = match settings.get("sync") {
        Some("off") => EnvFlags::NO_SYNC,
        Some("data") => EnvFlags::NO_META_SYNC,
        _ => EnvFlags::empty(),
    };
    flags.set(EnvFlags::NO_READ_AHEAD, settings.get("readahead") == Some("off"));
    flags.set(EnvFlags::READ_ONLY, access == Access::Read);
    flags.set(EnvFlags::NO_LOCK, alone);
    flags
}

fn opening(path: &Path, settings: &Settings, error: heed::Error) -> Error {
    let path = path.display();
    match error {
        heed::Error::EnvAlreadyOpened => {
            Error::usage(format!("{path}: is open in this process already"))
        }
        heed::Error::Io(cause) if cause.kind() == std::io::ErrorKind::OutOfMemory => {
            let map = settings.parse("map").unwrap_or(MAP);
            let what = format!("{path}: cannot map map={map} bytes; a smaller map= may do");
            Error::io(what, cause)
        }
        heed::Error::Io(cause) => Error::io(path, cause),
        other => Error::corrupt(format!("{path}: {other}")),
    }
}

pub(super) struct LmdbStore {
    environment: Arc<Environment>,
    pub(super) keys: KeyKind,
    pub(super) values: Values,
    /// Mode and time of named values.
    pub(super) metas: Option<Values>,
    /// Held during a write transaction, to know whether a session has to wait for it.
    turn: Mutex<()>,
    /// Other processes have it open too, and may be waited for.
    joined: bool,
}

/// A write transaction, and the turn that goes after it.
pub(super) struct Writing<'s> {
    pub(super) txn: RwTxn<'s>,
    _turn: MutexGuard<'s, ()>,
}

impl Writing<'_> {
    pub(super) fn commit(self) -> heed::Result<()> {
        let Self { txn, _turn } = self;
        txn.commit()
    }
}

/// The database that holds keys of this kind.
fn name(keys: KeyKind) -> &'static str {
    match keys {
        KeyKind::Integers => "integers",
        KeyKind::Names => "names",
    }
}

impl LmdbStore {
    pub(super) fn create(environment: Arc<Environment>, keys: KeyKind) -> Result<Self> {
        let env = &environment.env;
        let make = || {
            let created = env.create_databases_and_commit(env.write_txn()?, |opener, txn| {
                let values = opener.create_database(txn, Some(name(keys)))?;
                let named = keys == KeyKind::Names;
                let metas = named.then(|| opener.create_database(txn, Some("meta"))).transpose()?;
                Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit((values, metas)))
            });
            created.map(CommitOrAbort::unwrap_commit)
        };
        let databases = make().map_err(|e| environment.failed(e))?;
        Ok(Self::new(environment, keys, databases))
    }

    pub(super) fn open(environment: Arc<Environment>, joined: bool) -> Result<Self> {
        for keys in [KeyKind::Integers, KeyKind::Names] {
            let databases = find(&environment.env, keys).map_err(|e| environment.failed(e))?;
            if let Some(databases) = databases {
                return Ok(Self { joined, ..Self::new(environment, keys, databases) });
            }
        }
        Err(Error::usage(format!(
            "{}: has neither a database integers nor names",
            environment.path.display()
        )))
    }

    fn new(
        environment: Arc<Environment>,
        keys: KeyKind,
        (values, metas): (Values, Option<Values>),
    ) -> Self {
        Self { environment, keys, values, metas, turn: Mutex::new(()), joined: false }
    }

    pub(super) fn begin_read(&self) -> Result<RoTxn<'_, WithoutTls>> {
        self.environment.env.read_txn().map_err(|e| self.failed(e))
    }

    /// Starts a write transaction, and counts in `waits` if another session or process is in one.
    pub(super) fn begin_write(&self, waits: &Cell<i64>) -> Result<Writing<'_>> {
        if self.environment.access == Access::Read {
            return Err(refusal::read_only());
        }
        let before = waits.get();
        let turn = lock::turn(&self.turn, waits);
        let begin = || self.environment.env.write_txn();
        let (txn, for_others) = if self.joined { os::waits(begin) } else { (begin(), false) };
        if for_others {
            waits.set(before + 1);
        }
        Ok(Writing { txn: txn.map_err(|e| self.failed(e))?, _turn: turn })
    }

    /// Names longer than LMDB's keys are refused before anything is changed.
    pub(super) fn check_key(&self, key: &[u8]) -> Result<()> {
        let most = self.environment.env.max_key_size();
        if (1..=most).contains(&key.len()) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "LMDB takes names of 1 to {most} bytes; one has {}: {}",
            key.len(),
            String::from_utf8_lossy(key)
        )))
    }

    #[cold]
    pub(super) fn failed(&self, error: heed::Error) -> Error {
        self.environment.failed(error)
    }
}

/// The databases of an environment that holds keys of this kind.
fn find(env: &Env<WithoutTls>, keys: KeyKind) -> heed::Result<Option<(Values, Option<Values>)>> {
    let found = env.open_databases_and_commit(env.read_txn()?, |opener, txn| {
        let Some(values) = opener.open_database(txn, Some(name(keys)))? else {
            return Ok(CommitOrAbort::Abort(()));
        };
        let metas = opener.open_database(txn, Some("meta"))?;
        Ok::<_, heed::Error>(CommitOrAbort::Commit((values, metas)))
    });
    found.map(CommitOrAbort::commit)
}

impl Store for LmdbStore {
    fn keys(&self) -> KeyKind {
        self.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(TransactionSession::new(self)))
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let flags = self.environment.flags()?;
        let mut settings = Settings::default();
        settings.set("map", self.environment.env.info().map_size);
        let (sync, class) = sync(flags);
        settings.set("sync", sync);
        let on = !flags.contains(EnvFlags::NO_READ_AHEAD);
        settings.set("readahead", if on { "on" } else { "off" });
        Ok((settings, class))
    }

    /// The last store of an environment closes it.
    fn close(self: Box<Self>) -> Result<()> {
        self.environment.make_whole()
    }
}

fn sync(flags: EnvFlags) -> (&'static str, Durability) {
    if flags.contains(EnvFlags::NO_SYNC) {
        ("off", Durability::None)
    } else if flags.contains(EnvFlags::NO_META_SYNC) {
        ("data", Durability::Consistent)
    } else {
        ("full", Durability::Durable)
    }
}
