//! One worker's use of such a store.

use std::{
    cell::Cell,
    ops::{Bound, ControlFlow},
    sync::{MutexGuard, TryLockError},
};

use model::{Access, Error, How, Item, Key, LOCK_WAITS, Mode, Put, Result, Session, Visit};

use super::{Changes, Library, Shared, Visitor, form};
use crate::{first::first, lock, ordered, refusal};

pub(crate) struct LsmSession<'s, L: Library> {
    library: L,
    shared: &'s Shared,
    batch: Batch<'s, L>,
    waits: Cell<i64>,
}

/// What stands between `begin` and `commit`.
enum Batch<'s, L: Library> {
    None,
    Read(L::View),
    Write { own: Changes<L::Value>, turn: MutexGuard<'s, ()> },
}

/// The library counts the length of a value in 32 bits.
const LONGEST_VALUE: u64 = u32::MAX as u64;

impl<'s, L: Library> LsmSession<'s, L> {
    pub(crate) fn new(library: L, shared: &'s Shared) -> Self {
        Self { library, shared, batch: Batch::None, waits: Cell::new(0) }
    }

    /// Waits for this session's turn to write, and counts that it had to.
    fn turn(&self) -> MutexGuard<'s, ()> {
        match self.shared.writer.try_lock() {
            Ok(turn) => turn,
            Err(TryLockError::Poisoned(turn)) => turn.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.waits.set(self.waits.get() + 1);
                lock::hold(&self.shared.writer)
            }
        }
    }

    /// Runs `change` on the changes of the batch that writes, or in a batch of its own.
    fn change<T>(
        &mut self,
        change: impl FnOnce(&L, &mut Changes<L::Value>) -> Result<T>,
    ) -> Result<T> {
        match &mut self.batch {
            Batch::Write { own, .. } => change(&self.library, own),
            Batch::Read(_) => Err(Error::usage("the batch was begun to read; nothing was written")),
            Batch::None => {
                self.begin(Mode::Write)?;
                let changed = self.change(change);
                let committed = self.commit();
                changed.and_then(|answer| committed.map(|()| answer))
            }
        }
    }

    fn visit(&self, from: &[u8], visit: &mut dyn FnMut(Item<'_>) -> Visit) -> Result<()> {
        let keys = self.shared.keys;
        self.walk(from, true, &mut |key, _, stored| {
            let (value, meta) = form::unwrap(stored, keys)?;
            visit(Item { key: ordered::key(key, keys)?, value, meta })
        })
    }

    /// Visits what the library holds from `from` on, with the changes of the batch laid over it.
    fn walk(&self, from: &[u8], values: bool, visit: &mut Visitor<'_>) -> Result<()> {
        match &self.batch {
            Batch::Read(view) => self.library.walk(view, from, values, visit),
            Batch::None => self.library.walk(&self.library.view(), from, values, visit),
            Batch::Write { own, .. } => self.walk_over(own, from, values, visit),
        }
    }

    fn walk_over(
        &self,
        own: &Changes<L::Value>,
        from: &[u8],
        values: bool,
        visit: &mut Visitor<'_>,
    ) -> Result<()> {
        let beyond = (Bound::Included(from), Bound::Unbounded);
        let mut own = own.range::<[u8], _>(beyond).peekable();
        let mut stopped = false;
        self.library.walk(&self.library.view(), from, values, &mut |key, length, value| {
            let mut replaced = false;
            while let Some((changed, new)) = own.next_if(|(changed, _)| &***changed <= key) {
                replaced = **changed == *key;
                if show::<L>(changed, new.as_ref(), visit)?.is_break() {
                    stopped = true;
                    return Ok(ControlFlow::Break(()));
                }
            }
            let going =
                if replaced { ControlFlow::Continue(()) } else { visit(key, length, value)? };
            stopped = going.is_break();
            Ok(going)
        })?;
        for (changed, new) in own {
            if stopped || show::<L>(changed, new.as_ref(), visit)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Visits what a batch wrote; what it removed is not there.
fn show<L: Library>(key: &[u8], value: Option<&L::Value>, visit: &mut Visitor<'_>) -> Visit {
    match value.map(AsRef::as_ref) {
        Some(value) => visit(key, value.len() as u64, value),
        None => Ok(ControlFlow::Continue(())),
    }
}

/// Whether there is a value of `key`, as the batch sees it.
fn holds<L: Library>(library: &L, own: &Changes<L::Value>, key: &[u8]) -> Result<bool> {
    own.get(key).map_or_else(|| library.holds(key), |value| Ok(value.is_some()))
}

fn check<L: Library>(key: &[u8], value: &[u8]) -> Result<()> {
    if !(1..=L::LONGEST_KEY).contains(&key.len()) {
        return Err(Error::unsupported(format!(
            "a name of {} bytes; accepted: 1 to {}",
            key.len(),
            L::LONGEST_KEY
        )));
    }
    // Room for what is kept beside a value.
    if value.len() as u64 > LONGEST_VALUE - 1024 {
        return Err(Error::unsupported(format!(
            "a value of {} bytes; accepted: less than 4 GiB",
            value.len()
        )));
    }
    Ok(())
}

impl<L: Library> Session for LsmSession<'_, L> {
    #[inline]
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let keys = self.shared.keys;
        let mut room = [0; 8];
        let key = ordered::bytes(&key, keys, &mut room)?;
        let mut take = |stored: &[u8]| {
            let (value, _) = form::unwrap(stored, keys)?;
            if let Some(front) = into.get_mut(..value.len()) {
                front.copy_from_slice(value);
            }
            Ok(value.len())
        };
        let found = match &self.batch {
            Batch::Read(view) => self.library.read(Some(view), key, take)?,
            Batch::None => self.library.read(None, key, take)?,
            Batch::Write { own, .. } => match own.get(key) {
                Some(changed) => changed.as_ref().map(|value| take(value.as_ref())),
                None => self.library.read(None, key, take)?,
            },
        };
        found.transpose()
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        let keys = self.shared.keys;
        let mut room = [0; 8];
        let key = ordered::bytes(&key, keys, &mut room)?;
        check::<L>(key, value)?;
        self.change(|library, own| {
            let allowed = match put.how {
                How::Upsert => true,
                How::Insert => !holds(library, own, key)?,
                How::Update => holds(library, own, key)?,
            };
            if allowed {
                own.insert(key.into(), Some(form::wrap(value, put.meta, keys)));
            }
            Ok(allowed)
        })
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        let mut room = [0; 8];
        let key = ordered::bytes(&key, self.shared.keys, &mut room)?;
        self.change(|library, own| {
            let held = holds(library, own, key)?;
            if held {
                own.insert(key.into(), None);
            }
            Ok(held)
        })
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        // Waiting for a turn that is this session's own would never end.
        self.batch = Batch::None;
        self.batch = match mode {
            Mode::Read => Batch::Read(self.library.view()),
            Mode::Write if self.shared.access == Access::Read => {
                return Err(refusal::read_only());
            }
            Mode::Write => Batch::Write { turn: self.turn(), own: Changes::new() },
        };
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let Batch::Write { own, turn } = std::mem::replace(&mut self.batch, Batch::None) else {
            return Ok(());
        };
        if own.is_empty() {
            return Ok(());
        }
        self.library.write(own)?;
        drop(turn);
        self.library.persist()
    }

    fn list(&mut self, visit: &mut dyn FnMut(Key<'_>, u64) -> Visit) -> Result<()> {
        let keys = self.shared.keys;
        self.walk(&[], false, &mut |key, length, _| {
            visit(ordered::key(key, keys)?, form::own(length, keys)?)
        })
    }

    fn scan(&mut self, visit: &mut dyn FnMut(Item<'_>) -> Visit) -> Result<()> {
        self.visit(&[], visit)
    }

    fn scan_from(
        &mut self,
        from: Key<'_>,
        limit: u64,
        visit: &mut dyn FnMut(Item<'_>) -> Visit,
    ) -> Result<()> {
        let mut room = [0; 8];
        let from = ordered::bytes(&from, self.shared.keys, &mut room)?;
        self.visit(from, &mut first(limit, visit))
    }

    fn statistics(&self) -> Vec<(&'static str, i64)> {
        let mut counters = self.library.counters();
        counters.push((LOCK_WAITS, self.waits.take()));
        counters
    }
}
