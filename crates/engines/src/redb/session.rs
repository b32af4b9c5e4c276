//! One worker's use of a database.

use std::{
    cell::Cell,
    ops::{Bound, ControlFlow},
};

use model::{Error, How, Item, Key, LOCK_WAITS, Mode, Put, Result, Session, Visit};
use redb::{
    ReadOnlyTable, ReadTransaction, ReadableTable, TableDefinition, TableHandle, Value,
    WriteTransaction,
};

use super::{kind::Kind, sought::Sought, store::RedbStore};
use crate::{first::first, meta};

/// A read transaction with its table, opened once for all reads.
struct Reading<K: Kind> {
    txn: ReadTransaction,
    values: ReadOnlyTable<Sought<K::Stored>, &'static [u8]>,
}

#[expect(clippy::large_enum_variant, reason = "a session has one, and begins without the heap")]
enum Batch<K: Kind> {
    /// Each operation is a transaction of its own.
    None,
    Read(Reading<K>),
    Write(WriteTransaction),
}

pub(super) struct RedbSession<'s, K: Kind> {
    store: &'s RedbStore,
    batch: Batch<K>,
    /// Write transactions that had to wait for another session's, since they were last told.
    waits: Cell<i64>,
}

/// A key as the table has it.
type Stored<'k, K> = <<K as Kind>::Stored as Value>::SelfType<'k>;

/// Where a scan begins.
type From<'k, K> = Bound<Stored<'k, K>>;

impl<'s, K: Kind> RedbSession<'s, K> {
    pub(super) fn new(store: &'s RedbStore) -> Self {
        Self { store, batch: Batch::None, waits: Cell::new(0) }
    }

    fn write<T>(
        &mut self,
        change: impl FnOnce(&WriteTransaction) -> Result<T, redb::Error>,
    ) -> Result<T> {
        match &self.batch {
            Batch::Write(txn) => change(txn).map_err(|e| self.store.failed(e)),
            Batch::Read(_) => Err(Error::usage("the batch was begun to read; nothing was written")),
            Batch::None => {
                let txn = self.begin_write()?;
                let answer = change(&txn).map_err(|e| self.store.failed(e))?;
                self.store.commit(txn)?;
                Ok(answer)
            }
        }
    }

    fn begin_write(&self) -> Result<WriteTransaction> {
        self.store.write(|| self.waits.set(self.waits.get() + 1))
    }

    fn begin_read(&self) -> Result<Reading<K>> {
        let txn = self.store.read()?;
        let values = TableDefinition::new(K::VALUES.name());
        let values = txn.open_table(values).map_err(|e| self.store.failed(e))?;
        Ok(Reading { txn, values })
    }
}

/// Copies the value of a key to the front of `into` if it fits, and returns its length.
#[inline]
fn get<S: redb::Key + 'static>(
    values: &impl ReadableTable<S, &'static [u8]>,
    key: S::SelfType<'_>,
    into: &mut [u8],
) -> Result<Option<usize>, redb::StorageError> {
    let Some(found) = values.get(key)? else { return Ok(None) };
    let value = found.value();
    if let Some(front) = into.get_mut(..value.len()) {
        front.copy_from_slice(value);
    }
    Ok(Some(value.len()))
}

fn put<K: Kind>(
    txn: &WriteTransaction,
    key: &Stored<'_, K>,
    value: &[u8],
    put: &Put,
) -> Result<bool, redb::Error> {
    let mut values = txn.open_table(K::VALUES)?;
    let there = put.how != How::Upsert && values.get(key)?.is_some();
    match put.how {
        How::Insert if there => return Ok(false),
        How::Update if !there => return Ok(false),
        _ => values.insert(key, value)?,
    };
    if let (Some(metas), Some(meta)) = (K::METAS, put.meta) {
        txn.open_table(metas)?.insert(key, &meta::bytes(meta)[..])?;
    }
    Ok(true)
}

fn delete<K: Kind>(txn: &WriteTransaction, key: &Stored<'_, K>) -> Result<bool, redb::Error> {
    if let Some(metas) = K::METAS {
        txn.open_table(metas)?.remove(key)?;
    }
    Ok(txn.open_table(K::VALUES)?.remove(key)?.is_some())
}

impl<K: Kind> RedbSession<'_, K> {
    fn scan_all(&self, from: From<'_, K>, visit: &mut dyn FnMut(Item<'_>) -> Visit) -> Result<()> {
        match &self.batch {
            Batch::Read(reading) => self.scan_read(reading, from, visit),
            Batch::Write(txn) => self.scan_written(txn, from, visit),
            Batch::None => self.scan_read(&self.begin_read()?, from, visit),
        }
    }

    fn scan_read(
        &self,
        reading: &Reading<K>,
        from: From<'_, K>,
        visit: &mut dyn FnMut(Item<'_>) -> Visit,
    ) -> Result<()> {
        let txn = &reading.txn;
        let table = |definition| txn.open_table(definition).map_err(|e| self.store.failed(e));
        let metas = K::METAS.map(table).transpose()?;
        self.visit(&table(K::VALUES)?, metas.as_ref(), from, visit)
    }

    /// Shows also what the batch wrote.
    fn scan_written(
        &self,
        txn: &WriteTransaction,
        from: From<'_, K>,
        visit: &mut dyn FnMut(Item<'_>) -> Visit,
    ) -> Result<()> {
        let table = |definition| txn.open_table(definition).map_err(|e| self.store.failed(e));
        let metas = K::METAS.map(table).transpose()?;
        self.visit(&table(K::VALUES)?, metas.as_ref(), from, visit)
    }

    fn visit(
        &self,
        values: &impl ReadableTable<K::Stored, &'static [u8]>,
        metas: Option<&impl ReadableTable<K::Stored, &'static [u8]>>,
        from: From<'_, K>,
        visit: &mut dyn FnMut(Item<'_>) -> Visit,
    ) -> Result<()> {
        let range = (from, Bound::Unbounded);
        for found in values.range::<Stored<'_, K>>(range).map_err(|e| self.store.failed(e))? {
            let (key, value) = found.map_err(|e| self.store.failed(e))?;
            let meta = match metas {
                Some(metas) => metas.get(key.value()).map_err(|e| self.store.failed(e))?,
                None => None,
            };
            let item = Item {
                key: K::key(key.value()),
                value: value.value(),
                meta: meta.and_then(|bytes| meta::of(bytes.value())),
            };
            if visit(item)? == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(())
    }
}

impl<K: Kind> Session for RedbSession<'_, K> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let key = K::stored(&key)?;
        match &self.batch {
            Batch::Read(reading) => get(&reading.values, key, into),
            Batch::None => get(&self.begin_read()?.values, key, into),
            Batch::Write(txn) => {
                let values = txn.open_table(K::VALUES).map_err(|e| self.store.failed(e))?;
                get(&values, key, into)
            }
        }
        .map_err(|e| self.store.failed(e))
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], how: &Put) -> Result<bool> {
        let key = K::stored(&key)?;
        self.write(|txn| put::<K>(txn, &key, value, how))
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        let key = K::stored(&key)?;
        self.write(|txn| delete::<K>(txn, &key))
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        // An old one goes first: a writer would wait for itself.
        self.batch = Batch::None;
        self.batch = match mode {
            Mode::Read => Batch::Read(self.begin_read()?),
            Mode::Write => Batch::Write(self.begin_write()?),
        };
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.batch, Batch::None) {
            Batch::Write(txn) => self.store.commit(txn),
            Batch::Read(_) | Batch::None => Ok(()),
        }
    }

    fn list(&mut self, visit: &mut dyn FnMut(Key<'_>, u64) -> Visit) -> Result<()> {
        self.scan(&mut |item| visit(item.key, item.value.len() as u64))
    }

    fn scan(&mut self, visit: &mut dyn FnMut(Item<'_>) -> Visit) -> Result<()> {
        self.scan_all(Bound::Unbounded, visit)
    }

    fn scan_from(
        &mut self,
        from: Key<'_>,
        limit: u64,
        visit: &mut dyn FnMut(Item<'_>) -> Visit,
    ) -> Result<()> {
        self.scan_all(Bound::Included(K::stored(&from)?), &mut first(limit, visit))
    }

    fn statistics(&self) -> Vec<(&'static str, i64)> {
        vec![(LOCK_WAITS, self.waits.take())]
    }
}
