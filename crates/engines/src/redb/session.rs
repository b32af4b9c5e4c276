//! redb's transactions, as a session uses them.

use std::{cell::Cell, marker::PhantomData, ops::Bound};

use model::{How, Item, Key, Put, Result, Visitor};
use redb::{
    ReadOnlyTable, ReadTransaction, ReadableTable, TableDefinition, TableHandle, Value,
    WriteTransaction,
};

use super::{kind::Kind, sought::Sought, store::RedbStore};
use crate::{
    meta,
    ordered::{self, Library},
};

/// A read transaction with its table, opened once for all reads.
pub(super) struct Reading<K: Kind> {
    txn: ReadTransaction,
    values: ReadOnlyTable<Sought<K::Stored>, &'static [u8]>,
}

type Stored<'k, K> = <<K as Kind>::Stored as Value>::SelfType<'k>;

type Batch<K> = ordered::Batch<Reading<K>, WriteTransaction>;

/// A store whose keys are of the kind `K`.
pub(super) struct Tables<'s, K> {
    store: &'s RedbStore,
    kind: PhantomData<K>,
}

impl<'s, K> Tables<'s, K> {
    pub(super) fn new(store: &'s RedbStore) -> Self {
        Self { store, kind: PhantomData }
    }
}

#[inline]
fn get<S: redb::Key + 'static>(
    values: &impl ReadableTable<S, &'static [u8]>,
    key: S::SelfType<'_>,
    into: &mut [u8],
) -> Result<Option<usize>, redb::StorageError> {
    Ok(values.get(key)?.map(|found| ordered::copy(found.value(), into)))
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

impl<K: Kind> Tables<'_, K> {
    fn visit(
        &self,
        values: &impl ReadableTable<K::Stored, &'static [u8]>,
        metas: Option<&impl ReadableTable<K::Stored, &'static [u8]>>,
        from: Option<Stored<'_, K>>,
        visit: &mut Visitor<'_>,
    ) -> Result<()> {
        let range = (from.map_or(Bound::Unbounded, Bound::Included), Bound::Unbounded);
        for found in values.range::<Stored<'_, K>>(range).map_err(|e| self.store.failed(e))? {
            let (key, value) = found.map_err(|e| self.store.failed(e))?;
            let meta = match metas {
                Some(metas) => metas.get(key.value()).map_err(|e| self.store.failed(e))?,
                None => None,
            };
            let meta = meta.and_then(|bytes| meta::of(bytes.value()));
            let (key, value) = (K::key(key.value()), value.value());
            if visit(Item { key, value, length: value.len() as u64, meta })?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl<K: Kind> Library for Tables<'_, K> {
    type Key<'k> = Stored<'k, K>;
    type Read = Reading<K>;
    type Write = WriteTransaction;

    #[inline]
    fn key<'k>(&self, key: &Key<'k>, _: &'k mut [u8; 8]) -> Result<Stored<'k, K>> {
        K::stored(key)
    }

    fn read(&self) -> Result<Reading<K>> {
        let txn = self.store.read()?;
        let values = TableDefinition::new(K::VALUES.name());
        let values = txn.open_table(values).map_err(|e| self.store.failed(e))?;
        Ok(Reading { txn, values })
    }

    fn write(&self, waits: &Cell<i64>) -> Result<WriteTransaction> {
        self.store.write(waits)
    }

    fn commit(&self, txn: WriteTransaction) -> Result<()> {
        self.store.commit(txn)
    }

    #[inline]
    fn get(&self, batch: &Batch<K>, key: Stored<'_, K>, into: &mut [u8]) -> Result<Option<usize>> {
        match batch {
            Batch::<K>::Read(reading) => get(&reading.values, key, into),
            Batch::<K>::None => get(&self.read()?.values, key, into),
            Batch::<K>::Write(txn) => {
                let values = txn.open_table(K::VALUES).map_err(|e| self.store.failed(e))?;
                get(&values, key, into)
            }
        }
        .map_err(|e| self.store.failed(e))
    }

    fn put(
        &self,
        txn: &mut WriteTransaction,
        key: Stored<'_, K>,
        value: &[u8],
        how: &Put,
    ) -> Result<bool> {
        put::<K>(txn, &key, value, how).map_err(|e| self.store.failed(e))
    }

    fn delete(&self, txn: &mut WriteTransaction, key: Stored<'_, K>) -> Result<bool> {
        delete::<K>(txn, &key).map_err(|e| self.store.failed(e))
    }

    fn scan(
        &self,
        batch: &Batch<K>,
        from: Option<Stored<'_, K>>,
        _: bool,
        visit: &mut Visitor<'_>,
    ) -> Result<()> {
        /// Both kinds of transactions open tables, but by no common trait.
        macro_rules! visit {
            ($txn:expr) => {{
                let txn = $txn;
                let open = |table| txn.open_table(table).map_err(|e| self.store.failed(e));
                self.visit(&open(K::VALUES)?, K::METAS.map(open).transpose()?.as_ref(), from, visit)
            }};
        }
        match batch {
            Batch::<K>::Read(reading) => visit!(&reading.txn),
            Batch::<K>::None => visit!(&self.store.read()?),
            Batch::<K>::Write(txn) => visit!(txn),
        }
    }
}
