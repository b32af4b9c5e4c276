//! A session on a table of another program, which is only read.

use std::{convert::Infallible, marker::PhantomData, ops::Bound};

use kit::lock::Waits;
use model::{Error, Item, Key, Put, Result, Visitor};
use redb::ReadOnlyTable;

use super::RedbStore;
use crate::{
    ordered::{Library, Txn},
    redb::tables::{AnyValue, Sought, TABLE, UserKey, UserTable},
};

/// A session's use of a table whose keys are of the type `K`.
pub(super) struct UserReader<'s, K> {
    pub(super) store: &'s RedbStore,
    pub(super) table: &'s UserTable,
    pub(super) keys: PhantomData<K>,
}

impl<K: UserKey> Library for UserReader<'_, K> {
    const PANICS: bool = true;

    type Key<'k> = Sought<K::SelfType<'k>>;
    type Read = ReadOnlyTable<K, AnyValue>;
    type Write = Infallible;

    fn key<'k>(&self, key: &Key<'k>, _: &'k mut [u8; 8]) -> Result<Self::Key<'k>> {
        K::to_stored(key)
    }

    fn read(&self) -> Result<Self::Read> {
        self.table.open(&self.store.read()?).map_err(|e| self.store.to_error(e))
    }

    fn write(&self, _: &Waits) -> Result<Infallible> {
        Err(Error::usage(format!(
            "{TABLE}={}: is a table of another program, which storemark only reads",
            self.table.name
        )))
    }

    fn commit(&self, never: Infallible) -> Result<()> {
        match never {}
    }

    fn get(
        &self,
        txn: Txn<'_, Self>,
        key: Self::Key<'_>,
        into: &mut [u8],
    ) -> Result<Option<usize>> {
        let (table, Sought::Key(key)) = (reading(&txn), key) else { return Ok(None) };
        let found = table.get(key).map_err(|e| self.store.to_error(e))?;
        Ok(found.map(|found| model::copy_value(found.value(), into)))
    }

    fn put(&self, never: &mut Infallible, _: Self::Key<'_>, _: &[u8], _: &Put) -> Result<bool> {
        match *never {}
    }

    fn delete(&self, never: &mut Infallible, _: Self::Key<'_>) -> Result<bool> {
        match *never {}
    }

    fn scan(
        &self,
        txn: Txn<'_, Self>,
        from: Option<Self::Key<'_>>,
        _: bool,
        visit: &mut Visitor<'_>,
    ) -> Result<()> {
        let from = match from {
            Some(Sought::AfterAll) => return Ok(()),
            Some(Sought::Key(key)) => Bound::Included(key),
            Some(Sought::BeforeAll) | None => Bound::Unbounded,
        };
        let range = (from, Bound::Unbounded);
        let found = reading(&txn).range::<K::SelfType<'_>>(range);
        for item in found.map_err(|e| self.store.to_error(e))? {
            let (key, value) = item.map_err(|e| self.store.to_error(e))?;
            if visit(Item::new(K::key(key.value())?, value.value(), None))?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn reading<'t, K: UserKey>(txn: &Txn<'t, UserReader<'_, K>>) -> &'t ReadOnlyTable<K, AnyValue> {
    match *txn {
        Txn::Read(table) => table,
        Txn::Write(never) => match *never {},
    }
}
