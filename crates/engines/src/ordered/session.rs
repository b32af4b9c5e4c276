//! One worker's use of a store whose library has transactions over keys in order.

use std::cell::Cell;

use model::{Error, Key, LOCK_WAITS, Mode, Put, Result, Scan, Session, Visitor};

use crate::first::first;

/// The library as one session uses it.
pub(crate) trait Library {
    type Key<'k>;
    /// The store as it was at one moment.
    type Read;
    /// A transaction that writes, and sees what it wrote.
    type Write;

    /// The key as the library takes it; `room` is for its bytes.
    fn key<'k>(&self, key: &Key<'k>, room: &'k mut [u8; 8]) -> Result<Self::Key<'k>>;

    fn read(&self) -> Result<Self::Read>;

    /// Starts a transaction, and counts in `waits` if another one has to end first.
    fn write(&self, waits: &Cell<i64>) -> Result<Self::Write>;

    fn commit(&self, txn: Self::Write) -> Result<()>;

    fn get(
        &self,
        batch: &Batch<Self::Read, Self::Write>,
        key: Self::Key<'_>,
        into: &mut [u8],
    ) -> Result<Option<usize>>;

    fn put(
        &self,
        txn: &mut Self::Write,
        key: Self::Key<'_>,
        value: &[u8],
        put: &Put,
    ) -> Result<bool>;

    fn delete(&self, txn: &mut Self::Write, key: Self::Key<'_>) -> Result<bool>;

    /// Visits items in key order from `from` on; `values`: the caller needs more than their lengths.
    fn scan(
        &self,
        batch: &Batch<Self::Read, Self::Write>,
        from: Option<Self::Key<'_>>,
        values: bool,
        visit: &mut Visitor<'_>,
    ) -> Result<()>;

    /// The library's own counters since they were last asked for.
    fn counters(&self) -> Vec<(&'static str, i64)> {
        Vec::new()
    }
}

/// What is open between `begin` and `commit`; without it, each operation has its own transaction.
pub(crate) enum Batch<R, W> {
    None,
    Read(R),
    Write(W),
}

pub(crate) struct TransactionSession<L: Library> {
    library: L,
    batch: Batch<L::Read, L::Write>,
    /// Transactions that had to wait for another session's, since last asked.
    waits: Cell<i64>,
}

impl<L: Library> TransactionSession<L> {
    pub(crate) fn new(library: L) -> Self {
        Self { library, batch: Batch::None, waits: Cell::new(0) }
    }

    fn change<T>(&mut self, change: impl FnOnce(&L, &mut L::Write) -> Result<T>) -> Result<T> {
        match &mut self.batch {
            Batch::Write(txn) => change(&self.library, txn),
            Batch::Read(_) => Err(Error::usage("the batch was begun to read; nothing was written")),
            Batch::None => {
                let mut txn = self.library.write(&self.waits)?;
                let answer = change(&self.library, &mut txn)?;
                self.library.commit(txn)?;
                Ok(answer)
            }
        }
    }
}

impl<L: Library> Session for TransactionSession<L> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let mut room = [0; 8];
        let key = self.library.key(&key, &mut room)?;
        self.library.get(&self.batch, key, into)
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        let mut room = [0; 8];
        let key = self.library.key(&key, &mut room)?;
        self.change(|library, txn| library.put(txn, key, value, put))
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        let mut room = [0; 8];
        let key = self.library.key(&key, &mut room)?;
        self.change(|library, txn| library.delete(txn, key))
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        // The old one ends first: a writer would wait for itself.
        self.batch = Batch::None;
        self.batch = match mode {
            Mode::Read => Batch::Read(self.library.read()?),
            Mode::Write => Batch::Write(self.library.write(&self.waits)?),
        };
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.batch, Batch::None) {
            Batch::Write(txn) => self.library.commit(txn),
            Batch::Read(_) | Batch::None => Ok(()),
        }
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let mut room = [0; 8];
        let from = match &scan.from {
            Some(key) => Some(self.library.key(key, &mut room)?),
            None => None,
        };
        self.library.scan(&self.batch, from, scan.values, &mut first(scan.limit, visit))
    }

    fn statistics(&self) -> Vec<(&'static str, i64)> {
        let mut counters = self.library.counters();
        counters.push((LOCK_WAITS, self.waits.take()));
        counters
    }
}
