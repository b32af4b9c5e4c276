//! LMDB's transactions, as a session uses them.

use std::{cell::Cell, ops::Bound};

use heed::{MdbError, PutFlags, RoTxn, WithoutTls};
use model::{How, Item, Key, Meta, Put, Result, Visitor};

use super::store::{LmdbStore, Writing};
use crate::{
    meta,
    ordered::{self, Library},
};

type Batch<'s> = ordered::Batch<RoTxn<'s, WithoutTls>, Writing<'s>>;

impl LmdbStore {
    #[inline]
    fn within<T>(
        &self,
        batch: &Batch<'_>,
        read: impl FnOnce(&RoTxn<'_>) -> heed::Result<T>,
    ) -> Result<T> {
        match batch {
            Batch::Read(txn) => read(txn),
            Batch::Write(writing) => read(&writing.txn),
            Batch::None => read(&*self.begin_read()?),
        }
        .map_err(|e| self.failed(e))
    }

    fn meta(&self, txn: &RoTxn<'_>, key: &[u8]) -> heed::Result<Option<Meta>> {
        let Some(metas) = &self.metas else { return Ok(None) };
        Ok(metas.get(txn, key)?.and_then(meta::of))
    }

    fn try_put(
        &self,
        Writing { txn, .. }: &mut Writing<'_>,
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
}

impl<'s> Library for &'s LmdbStore {
    type Key<'k> = &'k [u8];
    type Read = RoTxn<'s, WithoutTls>;
    type Write = Writing<'s>;

    #[inline]
    fn key<'k>(&self, key: &Key<'k>, room: &'k mut [u8; 8]) -> Result<&'k [u8]> {
        ordered::bytes(key, self.keys, room)
    }

    fn read(&self) -> Result<Self::Read> {
        self.begin_read()
    }

    fn write(&self, waits: &Cell<i64>) -> Result<Writing<'s>> {
        self.begin_write(waits)
    }

    fn commit(&self, writing: Writing<'_>) -> Result<()> {
        writing.commit().map_err(|e| self.failed(e))
    }

    #[inline]
    fn get(&self, batch: &Batch<'_>, key: &[u8], into: &mut [u8]) -> Result<Option<usize>> {
        self.within(batch, |txn| {
            let found = self.values.get(txn, key)?;
            Ok(found.map(|value| ordered::copy(value, into)))
        })
    }

    fn put(&self, txn: &mut Writing<'_>, key: &[u8], value: &[u8], put: &Put) -> Result<bool> {
        self.check_key(key)?;
        self.try_put(txn, key, value, put).map_err(|e| self.failed(e))
    }

    fn delete(&self, Writing { txn, .. }: &mut Writing<'_>, key: &[u8]) -> Result<bool> {
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
        batch: &Batch<'_>,
        from: Option<&[u8]>,
        _: bool,
        visit: &mut Visitor<'_>,
    ) -> Result<()> {
        let range = (from.map_or(Bound::Unbounded, Bound::Included), Bound::Unbounded);
        let stopped = self.within(batch, |txn| {
            for found in self.values.range(txn, &range)? {
                let (bytes, value) = found?;
                let meta = self.meta(txn, bytes)?;
                let key = ordered::key(bytes, self.keys);
                match key
                    .and_then(|key| visit(Item { key, value, length: value.len() as u64, meta }))
                {
                    Ok(going) if going.is_continue() => {}
                    stopped => return Ok(stopped.map(drop)),
                }
            }
            Ok(Ok(()))
        });
        stopped?
    }
}
