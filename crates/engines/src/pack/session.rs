//! One worker's use of a pack.

use std::sync::RwLockReadGuard;

use model::{Error, Item, Key, Mode, Put, Result, Scan, Session, Visitor};

use super::store::{Pack, Slot};
use crate::table::Table;

/// While a batch that reads is open, `held` keeps the table locked for reading, so that a get
/// takes no lock; writers that add, lengthen or remove a value wait for its end.
pub(super) struct Reader<'s> {
    store: &'s Pack,
    held: Option<RwLockReadGuard<'s, Table<Slot>>>,
}

impl<'s> Reader<'s> {
    pub(super) fn new(store: &'s Pack) -> Self {
        Self { store, held: None }
    }

    /// Runs `read` on the table, under the batch's lock or one of its own.
    #[inline]
    fn with<T>(&self, read: impl FnOnce(&Table<Slot>) -> Result<T>) -> Result<T> {
        match &self.held {
            Some(slots) => read(slots),
            None => read(&self.store.slots()),
        }
    }

    /// A write inside a reading batch would wait for itself.
    fn writable(&self) -> Result<()> {
        if self.held.is_some() {
            return Err(Error::usage("the batch was begun to read; nothing was written"));
        }
        self.store.writable()
    }

    fn visit(
        &self,
        slots: Vec<(Key<'_>, &Slot)>,
        values: bool,
        visit: &mut Visitor<'_>,
    ) -> Result<()> {
        let mut value = Vec::new();
        for (key, slot) in slots {
            let mut length = 0;
            if values {
                length = self.store.copy(slot, &mut value)?;
                if length > value.len() {
                    value.resize(length, 0);
                    self.store.copy(slot, &mut value)?;
                }
            }
            let meta = slot.meta.as_deref().copied();
            let item = Item { key, value: &value[..length], length: slot.length(), meta };
            if visit(item)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl Session for Reader<'_> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        self.with(|slots| match slots.get(&key)? {
            Some(slot) => self.store.copy(slot, into).map(Some),
            None => Ok(None),
        })
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        self.writable()?;
        match self.store.overwrite(key, value, put)? {
            Some(answer) => Ok(answer),
            None => self.store.append(key, value, put),
        }
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        self.writable()?;
        self.store.remove(key)
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        // The old guard goes first: taking a second one could wait for a writer that
        // waits for the first.
        self.held = None;
        self.held = (mode == Mode::Read).then(|| self.store.slots());
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.held = None;
        Ok(())
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let Scan { from, limit, values } = scan;
        self.with(|slots| self.visit(slots.sorted(from, limit)?, values, visit))
    }
}
