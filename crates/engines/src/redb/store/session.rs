//! redb's transactions, as a session uses them.

use std::{marker::PhantomData, ops::Bound};

use kit::{lock::Waits, meta};
use model::{How, Item, Key, Put, Result, Visitor};
use redb::{
    ReadOnlyTable, ReadTransaction, ReadableTable, TableDefinition, TableHandle, Value,
    WriteTransaction,
};

use super::RedbStore;
use crate::redb::kind::{KeyType, Sought};

use crate::ordered::{Library, Txn};

/// A read transaction with its table, opened once for all reads.
pub(super) struct Reading<K: KeyType> {
    txn: ReadTransaction,
    values: ReadOnlyTable<Sought<K>, &'static [u8]>,
}

/// A key in the form in which redb takes it.
type Stored<'k, K> = <K as Value>::SelfType<'k>;

/// The tables of a store whose keys are of the kind `K`.
pub(super) struct KeyTables<'s, K> {
    pub(super) store: &'s RedbStore,
    pub(super) kind: PhantomData<K>,
}

#[inline]
fn get<S: redb::Key + 'static>(
    values: &impl ReadableTable<S, &'static [u8]>,
    key: S::SelfType<'_>,
    into: &mut [u8],
) -> Result<Option<usize>, redb::StorageError> {
    Ok(values.get(key)?.map(|found| model::copy_value(found.value(), into)))
}

fn put<K: KeyType>(
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

fn delete<K: KeyType>(txn: &WriteTransaction, key: &Stored<'_, K>) -> Result<bool, redb::Error> {
    if let Some(metas) = K::METAS {
        txn.open_table(metas)?.remove(key)?;
    }
    Ok(txn.open_table(K::VALUES)?.remove(key)?.is_some())
}

fn scan<K: KeyType>(
    values: &impl ReadableTable<K, &'static [u8]>,
    metas: Option<&impl ReadableTable<K, &'static [u8]>>,
    from: Option<Stored<'_, K>>,
    visit: &mut Visitor<'_>,
) -> Result<Result<()>, redb::Error> {
    let range = (from.map_or(Bound::Unbounded, Bound::Included), Bound::Unbounded);
    for found in values.range::<Stored<'_, K>>(range)? {
        let (key, value) = found?;
        let meta = match metas {
            Some(metas) => metas.get(key.value())?,
            None => None,
        };
        let meta = meta.and_then(|bytes| meta::from_bytes(bytes.value()));
        let (key, value) = (K::key(key.value()), value.value());
        match visit(Item::new(key, value, meta)) {
            Ok(going) if going.is_continue() => {}
            stopped => return Ok(stopped.map(drop)),
        }
    }
    Ok(Ok(()))
}

impl<K: KeyType> Library for KeyTables<'_, K> {
    const PANICS: bool = true;

    type Key<'k> = Stored<'k, K>;
    type Read = Reading<K>;
    type Write = WriteTransaction;

    #[inline]
    fn key<'k>(&self, key: &Key<'k>, _: &'k mut [u8; 8]) -> Result<Stored<'k, K>> {
        K::to_stored(key)
    }

    fn read(&self) -> Result<Reading<K>> {
        let txn = self.store.read()?;
        let values = TableDefinition::new(K::VALUES.name());
        let values = txn.open_table(values).map_err(|e| self.store.to_error(e))?;
        Ok(Reading { txn, values })
    }

    fn write(&self, waits: &Waits) -> Result<WriteTransaction> {
        self.store.write(waits)
    }

    fn commit(&self, txn: WriteTransaction) -> Result<()> {
        self.store.commit(txn)
    }

    #[inline]
    fn get(
        &self,
        txn: Txn<'_, Self>,
        key: Stored<'_, K>,
        into: &mut [u8],
    ) -> Result<Option<usize>> {
        match txn {
            Txn::Read(reading) => get(&reading.values, key, into),
            Txn::Write(txn) => {
                let values = txn.open_table(K::VALUES).map_err(|e| self.store.to_error(e))?;
                get(&values, key, into)
            }
        }
        .map_err(|e| self.store.to_error(e))
    }

    fn put(
        &self,
        txn: &mut WriteTransaction,
        key: Stored<'_, K>,
        value: &[u8],
        how: &Put,
    ) -> Result<bool> {
        put::<K>(txn, &key, value, how).map_err(|e| self.store.to_error(e))
    }

    fn delete(&self, txn: &mut WriteTransaction, key: Stored<'_, K>) -> Result<bool> {
        delete::<K>(txn, &key).map_err(|e| self.store.to_error(e))
    }

    fn scan(
        &self,
        txn: Txn<'_, Self>,
        from: Option<Stored<'_, K>>,
        _: bool,
        visit: &mut Visitor<'_>,
    ) -> Result<()> {
        /// Scans in a transaction of either kind: both open tables, but by no common trait.
        macro_rules! scan {
            ($txn:expr) => {{
                let open = |table| $txn.open_table(table).map_err(|e| self.store.to_error(e));
                let metas = K::METAS.map(open).transpose()?;
                scan::<K>(&open(K::VALUES)?, metas.as_ref(), from, visit)
            }};
        }
        let scanned = match txn {
            Txn::Read(reading) => scan!(reading.txn),
            Txn::Write(txn) => scan!(txn),
        };
        scanned.map_err(|e| self.store.to_error(e))?
    }
}
