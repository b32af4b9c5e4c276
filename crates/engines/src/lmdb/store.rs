//! The databases of an environment, and LMDB's transactions as a session uses them.

use std::{
    fs,
    ops::Bound,
    path::Path,
    sync::{Arc, Mutex, MutexGuard},
    time::Instant,
};

use heed::{CommitOrAbort, MdbError, PutFlags, RoTxn, RwTxn, WithoutTls};
use kit::{
    lock::{self, Waits},
    meta, refusal,
};
use model::{
    Access, Durability, Entry, Error, How, Item, Key, KeyKind, Maintenance, OpenOptions, Put,
    Result, Session, Settings, Store, TableFacts, Visitor,
};

use super::{
    DATABASE, DECLARATION, data_file,
    databases::{self, Values},
    environment::Environment,
    os,
};

use crate::{
    at,
    caught::StoreName,
    ordered::{self, Library, TransactionSession, Txn},
    part::{METAS, Part},
};

pub(super) struct LmdbStore {
    environment: Arc<Environment>,
    part: Part,
    values: Values,
    /// The mode and time of named values.
    metas: Option<Values>,
    /// The lock that is held during a write transaction, to know whether a session has to wait for
    /// it.
    turn: Mutex<()>,
    /// Whether other processes have it open too, and may be waited for.
    joined: bool,
}

/// A write transaction with its turn.
pub(super) struct WriteTurn<'s> {
    txn: RwTxn<'s>,
    _turn: MutexGuard<'s, ()>,
}

impl LmdbStore {
    pub(super) fn create(environment: Environment, options: &OpenOptions) -> Result<Self> {
        let part = Part::new(DATABASE, &options.settings, options.keys)?;
        let env = &environment.env;
        let make = || {
            let created = env.create_databases_and_commit(env.write_txn()?, |opener, txn| {
                let name = Some(&*part.name).filter(|name| !name.is_empty());
                let values = opener.create_database(txn, name)?;
                let metas = || opener.create_database(txn, Some(METAS));
                let metas = part.has_metas().then(metas).transpose()?;
                Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit((values, metas)))
            });
            created.map(CommitOrAbort::unwrap_commit)
        };
        let (values, metas) = make().map_err(|e| environment.failed(e))?;
        let (environment, turn) = (Arc::new(environment), Mutex::new(()));
        Ok(Self { environment, part, values, metas, turn, joined: false })
    }

    pub(super) fn open(
        environment: Arc<Environment>,
        settings: &Settings,
        joined: bool,
    ) -> Result<Self> {
        let names: Vec<_> =
            databases::sizes(&environment)?.into_iter().map(|size| size.name).collect();
        let part = Part::choose(DATABASE, settings, &environment.path, &names)?;
        databases::check(&environment, &part.name)?;
        let find =
            |name: &str| databases::find(&environment.env, name).map_err(|e| environment.failed(e));
        let values = find(&part.name)?.expect("it is among the databases");
        let metas = if part.has_metas() { find(METAS)? } else { None };
        Ok(Self { environment, part, values, metas, turn: Mutex::new(()), joined })
    }

    #[cold]
    fn failed(&self, error: heed::Error) -> Error {
        self.environment.failed(error)
    }

    fn try_put(
        &self,
        txn: &mut RwTxn<'_>,
        key: &[u8],
        value: &[u8],
        put: &Put,
    ) -> heed::Result<bool> {
        let flags = match put.how {
            How::Update if self.values.get(txn, key)?.is_none() => return Ok(false),
            How::Insert => PutFlags::NO_OVERWRITE,
            How::Update | How::Upsert => PutFlags::empty(),
        };
        match self.values.put_with_flags(txn, flags, key, value) {
            Err(heed::Error::Mdb(MdbError::KeyExist)) => return Ok(false),
            other => other?,
        }
        if let (Some(metas), Some(meta)) = (&self.metas, put.meta) {
            metas.put(txn, key, &meta::bytes(meta))?;
        }
        Ok(true)
    }

    /// Returns whether an entry that follows the key `last` is a value, and not the name of a database.
    ///
    /// # Errors
    ///
    /// Fails if the keys of a user's database are in another order than that of their bytes, or repeat.
    fn is_value(&self, (key, value): (&[u8], &[u8]), last: Option<&[u8]>) -> Result<bool> {
        if !self.part.is_users {
            return Ok(true);
        }
        if last.is_some_and(|last| last >= key) {
            return Err(databases::unusual(&self.environment, &self.part.name, "in another order"));
        }
        Ok(!self.part.name.is_empty() || !databases::is_name(&self.environment.env, key, value))
    }

    fn try_scan(
        &self,
        txn: &RoTxn<'_>,
        from: Option<&[u8]>,
        visit: &mut Visitor<'_>,
    ) -> heed::Result<Result<()>> {
        let range = (from.map_or(Bound::Unbounded, Bound::Included), Bound::Unbounded);
        let mut last = None;
        for found in self.values.range(txn, &range)? {
            let (bytes, value) = found?;
            match self.is_value((bytes, value), last.replace(bytes)) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => return Ok(Err(error)),
            }
            let meta = match &self.metas {
                Some(metas) => metas.get(txn, bytes)?.and_then(meta::from_bytes),
                None => None,
            };
            let key = ordered::key(bytes, self.part.keys);
            match key.and_then(|key| visit(Item::new(key, value, meta))) {
                Ok(going) if going.is_continue() => {}
                stopped => return Ok(stopped.map(drop)),
            }
        }
        Ok(Ok(()))
    }
}

impl<'s> Library for &'s LmdbStore {
    const PANICS: bool = false;

    type Key<'k> = &'k [u8];
    type Read = RoTxn<'s, WithoutTls>;
    type Write = WriteTurn<'s>;

    #[inline]
    fn key<'k>(&self, key: &Key<'k>, room: &'k mut [u8; 8]) -> Result<&'k [u8]> {
        ordered::bytes(key, self.part.keys, room)
    }

    fn read(&self) -> Result<Self::Read> {
        self.environment.env.read_txn().map_err(|e| self.failed(e))
    }

    fn write(&self, waits: &Waits) -> Result<WriteTurn<'s>> {
        if self.environment.access == Access::Read {
            return Err(refusal::read_only());
        }
        let turn = lock::turn(&self.turn, waits);
        let (since, begin) = (Instant::now(), || self.environment.env.write_txn());
        let (txn, for_others) = if self.joined { os::waits(begin) } else { (begin(), false) };
        if for_others {
            waits.note(since);
        }
        Ok(WriteTurn { txn: txn.map_err(|e| self.failed(e))?, _turn: turn })
    }

    fn commit(&self, WriteTurn { txn, _turn }: WriteTurn<'_>) -> Result<()> {
        let flushed = txn.commit().and_then(|()| self.environment.flush_drive());
        flushed.map_err(|e| self.failed(e))
    }

    #[inline]
    fn get(&self, txn: Txn<'_, Self>, key: &[u8], into: &mut [u8]) -> Result<Option<usize>> {
        let found = self.values.get(read_in(&txn), key).map_err(|e| self.failed(e))?;
        Ok(found.map(|value| model::copy_value(value, into)))
    }

    fn put(&self, txn: &mut WriteTurn<'_>, key: &[u8], value: &[u8], put: &Put) -> Result<bool> {
        self.check_item(ordered::key(key, self.part.keys)?, value.len() as u64)?;
        self.try_put(&mut txn.txn, key, value, put).map_err(|e| self.failed(e))
    }

    fn delete(&self, WriteTurn { txn, .. }: &mut WriteTurn<'_>, key: &[u8]) -> Result<bool> {
        let mut delete = || {
            if let Some(metas) = &self.metas {
                metas.delete(txn, key)?;
            }
            self.values.delete(txn, key)
        };
        delete().map_err(|e| self.failed(e))
    }

    fn scan(
        &self,
        txn: Txn<'_, Self>,
        from: Option<&[u8]>,
        _: bool,
        visit: &mut Visitor<'_>,
    ) -> Result<()> {
        self.try_scan(read_in(&txn), from, visit).map_err(|e| self.failed(e))?
    }
}

#[inline]
fn read_in<'t>(txn: &'t Txn<'_, &LmdbStore>) -> &'t RoTxn<'t> {
    match txn {
        Txn::Read(txn) => txn,
        Txn::Write(writing) => &writing.txn,
    }
}

impl Store for LmdbStore {
    fn keys(&self) -> KeyKind {
        self.part.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(TransactionSession::new(self, &self.environment.path)))
    }

    fn check_item(&self, key: Key<'_>, length: u64) -> Result<()> {
        refusal::check_name(key, self.environment.env.max_key_size())?;
        refusal::check_value(key, length, u32::MAX.into())
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let mut settings = self.environment.settings()?;
        self.part.report(DATABASE, &mut settings);
        let class = DECLARATION.class_of(&settings);
        Ok((settings, class))
    }

    fn left_out(&self) -> Result<Vec<Entry>> {
        Ok(self.part.left_out(DATABASE, &databases::sizes(&self.environment)?))
    }

    fn table(&self) -> Result<Option<TableFacts>> {
        Ok(self.part.facts(&databases::sizes(&self.environment)?))
    }

    fn maintain(&self, what: Maintenance, to: &Path, _: &dyn Fn() -> bool) -> Result<bool> {
        let compacted = what == Maintenance::Copy;
        self.environment.copy_to(to, compacted).map_err(|e| self.failed(e))?;
        Ok(true)
    }

    /// Replaces the file by a copy without the free pages, as LMDB has no way to shorten a file
    /// that is in use.
    fn reclaim(self: Box<Self>) -> Result<()> {
        let path = self.environment.path.clone();
        let copy = self.environment.copy_without_free_pages()?;
        self.close()?;
        let data = data_file(&path);
        fs::rename(&copy, &data).map_err(|e| Error::io(copy.display(), e))?;
        at::flush_name(&data)
    }

    /// Closes the store; the last one of an environment closes that.
    fn close(self: Box<Self>) -> Result<()> {
        let environment = &self.environment;
        StoreName::intern(&environment.path).at_work(|| environment.make_whole())
    }
}
