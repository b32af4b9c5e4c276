//! The databases of an environment, and LMDB's transactions as a session uses them.

use std::{
    cell::Cell,
    fs,
    ops::Bound,
    sync::{Arc, Mutex, MutexGuard},
};

use heed::{
    CommitOrAbort, Database, Env, MdbError, PutFlags, RoTxn, RwTxn, WithoutTls, types::Bytes,
};
use model::{
    Access, Durability, Error, How, Item, Key, KeyKind, Put, Result, Session, Settings, Store,
    Visitor,
};

use super::{DECLARATION, environment::Environment, os};
use kit::{lock, meta, refusal};

use crate::{
    at,
    caught::StoreName,
    ordered::{self, Library, TransactionSession, Txn},
};

/// The database of values.
type Values = Database<'static, Bytes, Bytes>;

/// An open store.
pub(super) struct LmdbStore {
    environment: Arc<Environment>,
    keys: KeyKind,
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
    pub(super) fn create(environment: Environment, keys: KeyKind) -> Result<Self> {
        let env = &environment.env;
        let make = || {
            let created = env.create_databases_and_commit(env.write_txn()?, |opener, txn| {
                let values = opener.create_database(txn, Some(keys.as_str()))?;
                let named = keys == KeyKind::Names;
                let metas = named.then(|| opener.create_database(txn, Some("meta"))).transpose()?;
                Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit((values, metas)))
            });
            created.map(CommitOrAbort::unwrap_commit)
        };
        let (values, metas) = make().map_err(|e| environment.failed(e))?;
        let (environment, turn) = (Arc::new(environment), Mutex::new(()));
        Ok(Self { environment, keys, values, metas, turn, joined: false })
    }

    pub(super) fn open(environment: Arc<Environment>, joined: bool) -> Result<Self> {
        let mut found = None;
        let keys = ordered::kind(&environment.path, |name| {
            found = find(&environment.env, name).transpose();
            found.is_some()
        })?;
        let found = found.expect("its kind was found");
        let (values, metas) = found.map_err(|e| environment.failed(e))?;
        Ok(Self { environment, keys, values, metas, turn: Mutex::new(()), joined })
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

    fn try_scan(
        &self,
        txn: &RoTxn<'_>,
        from: Option<&[u8]>,
        visit: &mut Visitor<'_>,
    ) -> heed::Result<Result<()>> {
        let range = (from.map_or(Bound::Unbounded, Bound::Included), Bound::Unbounded);
        for found in self.values.range(txn, &range)? {
            let (bytes, value) = found?;
            let meta = match &self.metas {
                Some(metas) => metas.get(txn, bytes)?.and_then(meta::from_bytes),
                None => None,
            };
            let key = ordered::key(bytes, self.keys);
            match key.and_then(|key| visit(Item::new(key, value, meta))) {
                Ok(going) if going.is_continue() => {}
                stopped => return Ok(stopped.map(drop)),
            }
        }
        Ok(Ok(()))
    }
}

/// Opens the database `name` of an environment, and that of mode and time; returns `None` if there
/// is none.
fn find(env: &Env<WithoutTls>, name: &str) -> heed::Result<Option<(Values, Option<Values>)>> {
    let found = env.open_databases_and_commit(env.read_txn()?, |opener, txn| {
        let Some(values) = opener.open_database(txn, Some(name))? else {
            return Ok(CommitOrAbort::Abort(()));
        };
        let metas = opener.open_database(txn, Some("meta"))?;
        Ok::<_, heed::Error>(CommitOrAbort::Commit((values, metas)))
    });
    found.map(CommitOrAbort::commit)
}

impl<'s> Library for &'s LmdbStore {
    const PANICS: bool = false;

    type Key<'k> = &'k [u8];
    type Read = RoTxn<'s, WithoutTls>;
    type Write = WriteTurn<'s>;

    #[inline]
    fn key<'k>(&self, key: &Key<'k>, room: &'k mut [u8; 8]) -> Result<&'k [u8]> {
        ordered::bytes(key, self.keys, room)
    }

    fn read(&self) -> Result<Self::Read> {
        self.environment.env.read_txn().map_err(|e| self.failed(e))
    }

    fn write(&self, waits: &Cell<i64>) -> Result<WriteTurn<'s>> {
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
        Ok(WriteTurn { txn: txn.map_err(|e| self.failed(e))?, _turn: turn })
    }

    fn commit(&self, WriteTurn { txn, _turn }: WriteTurn<'_>) -> Result<()> {
        txn.commit().map_err(|e| self.failed(e))
    }

    #[inline]
    fn get(&self, txn: Txn<'_, Self>, key: &[u8], into: &mut [u8]) -> Result<Option<usize>> {
        let found = self.values.get(read_in(&txn), key).map_err(|e| self.failed(e))?;
        Ok(found.map(|value| model::copy_value(value, into)))
    }

    fn put(&self, txn: &mut WriteTurn<'_>, key: &[u8], value: &[u8], put: &Put) -> Result<bool> {
        self.check_item(ordered::key(key, self.keys)?, value.len() as u64)?;
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
        self.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(TransactionSession::new(self, &self.environment.path)))
    }

    fn check_item(&self, key: Key<'_>, length: u64) -> Result<()> {
        refusal::check_name(key, self.environment.env.max_key_size())?;
        refusal::check_value(key, length, u32::MAX.into())
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let settings = self.environment.settings()?;
        let class = DECLARATION.class_of(&settings);
        Ok((settings, class))
    }

    /// Replaces the file by a copy without the free pages, as LMDB has no way to shorten a file
    /// that is in use.
    fn reclaim(self: Box<Self>) -> Result<()> {
        let path = self.environment.path.clone();
        let copy = self.environment.copy_without_free_pages()?;
        self.close()?;
        let renamed = fs::rename(&copy, path.join("data.mdb"));
        renamed.map_err(|e| Error::io(copy.display(), e))?;
        at::flush_folder(&path)
    }

    /// Closes the store; the last one of an environment closes that.
    fn close(self: Box<Self>) -> Result<()> {
        let environment = &self.environment;
        StoreName::intern(&environment.path).at_work(|| environment.make_whole())
    }
}
