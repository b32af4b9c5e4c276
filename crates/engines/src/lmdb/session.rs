//! One worker's use of an environment.

use std::{
    cell::Cell,
    ops::{Bound, ControlFlow},
};

use heed::{MdbError, PutFlags, RoTxn, RwTxn, WithoutTls};
use model::{Error, How, Item, Key, LOCK_WAITS, Meta, Mode, Put, Result, Session, Visit};

use super::store::{LmdbStore, Writing};
use crate::{first::first, meta, ordered};

enum Batch<'s> {
    /// Each operation is a transaction of its own.
    None,
    Read(RoTxn<'s, WithoutTls>),
    Write(Writing<'s>),
}

pub(super) struct LmdbSession<'s> {
    store: &'s LmdbStore,
    batch: Batch<'s>,
    /// Write transactions that had to wait for another session's, since they were last told.
    waits: Cell<i64>,
}

impl<'s> LmdbSession<'s> {
    pub(super) fn new(store: &'s LmdbStore) -> Self {
        Self { store, batch: Batch::None, waits: Cell::new(0) }
    }

    #[inline]
    fn read<T>(&self, read: impl FnOnce(&RoTxn<'_>) -> Result<T>) -> Result<T> {
        match &self.batch {
            Batch::Read(txn) => read(txn),
            Batch::Write(writing) => read(&writing.txn),
            Batch::None => read(&*self.store.read()?),
        }
    }

    fn write<T>(&mut self, change: impl FnOnce(&mut RwTxn<'_>) -> Result<T>) -> Result<T> {
        match &mut self.batch {
            Batch::Write(writing) => change(&mut writing.txn),
            Batch::Read(_) => Err(Error::usage("the batch was begun to read; nothing was written")),
            Batch::None => {
                let mut writing = self.begin_write()?;
                let answer = change(&mut writing.txn)?;
                self.finish(writing)?;
                Ok(answer)
            }
        }
    }

    fn begin_write(&self) -> Result<Writing<'s>> {
        self.store.write(|| self.waits.set(self.waits.get() + 1))
    }

    fn finish(&self, writing: Writing<'_>) -> Result<()> {
        writing.commit().map_err(|e| self.store.failed(e))
    }
}

impl LmdbStore {
    #[inline]
    fn get(&self, txn: &RoTxn<'_>, key: &[u8], into: &mut [u8]) -> Result<Option<usize>> {
        let found = self.values.get(txn, key).map_err(|e| self.failed(e))?;
        Ok(found.map(|value| {
            if let Some(front) = into.get_mut(..value.len()) {
                front.copy_from_slice(value);
            }
            value.len()
        }))
    }

    fn put(&self, txn: &mut RwTxn<'_>, key: &[u8], value: &[u8], put: &Put) -> heed::Result<bool> {
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

    fn delete(&self, txn: &mut RwTxn<'_>, key: &[u8]) -> heed::Result<bool> {
        if let Some(metas) = &self.metas {
            metas.delete(txn, key)?;
        }
        self.values.delete(txn, key)
    }

    fn visit(
        &self,
        txn: &RoTxn<'_>,
        from: Bound<&[u8]>,
        visit: &mut dyn FnMut(Item<'_>) -> Visit,
    ) -> Result<()> {
        let range = (from, Bound::Unbounded);
        for found in self.values.range(txn, &range).map_err(|e| self.failed(e))? {
            let (bytes, value) = found.map_err(|e| self.failed(e))?;
            let key = ordered::key(bytes, self.keys)?;
            let item = Item { key, value, meta: self.meta(txn, bytes)? };
            if visit(item)? == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(())
    }

    fn meta(&self, txn: &RoTxn<'_>, key: &[u8]) -> Result<Option<Meta>> {
        let Some(metas) = &self.metas else { return Ok(None) };
        let found = metas.get(txn, key).map_err(|e| self.failed(e))?;
        Ok(found.and_then(meta::of))
    }
}

impl Session for LmdbSession<'_> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let mut room = [0; 8];
        let key = ordered::bytes(&key, self.store.keys, &mut room)?;
        self.read(|txn| self.store.get(txn, key, into))
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        let (store, mut room) = (self.store, [0; 8]);
        let key = ordered::bytes(&key, store.keys, &mut room)?;
        store.check_key(key)?;
        self.write(|txn| store.put(txn, key, value, put).map_err(|e| store.failed(e)))
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        let (store, mut room) = (self.store, [0; 8]);
        let key = ordered::bytes(&key, store.keys, &mut room)?;
        self.write(|txn| store.delete(txn, key).map_err(|e| store.failed(e)))
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        // An old one goes first: a writer would wait for itself.
        self.batch = Batch::None;
        self.batch = match mode {
            Mode::Read => Batch::Read(self.store.read()?),
            Mode::Write => Batch::Write(self.begin_write()?),
        };
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.batch, Batch::None) {
            Batch::Write(writing) => self.finish(writing),
            Batch::Read(_) | Batch::None => Ok(()),
        }
    }

    fn list(&mut self, visit: &mut dyn FnMut(Key<'_>, u64) -> Visit) -> Result<()> {
        self.scan(&mut |item| visit(item.key, item.value.len() as u64))
    }

    fn scan(&mut self, visit: &mut dyn FnMut(Item<'_>) -> Visit) -> Result<()> {
        self.read(|txn| self.store.visit(txn, Bound::Unbounded, visit))
    }

    fn scan_from(
        &mut self,
        from: Key<'_>,
        limit: u64,
        visit: &mut dyn FnMut(Item<'_>) -> Visit,
    ) -> Result<()> {
        let mut room = [0; 8];
        let from = ordered::bytes(&from, self.store.keys, &mut room)?;
        self.read(|txn| self.store.visit(txn, Bound::Included(from), &mut first(limit, visit)))
    }

    fn statistics(&self) -> Vec<(&'static str, i64)> {
        vec![(LOCK_WAITS, self.waits.take())]
    }
}
