//! A batch that is held in memory, as a session uses it.

use std::{
    cell::Cell,
    ops::{Bound, ControlFlow},
    sync::MutexGuard,
};

use model::{Access, Error, How, Item, Key, Put, Result, Visit};

use super::{Changes, Shared, Tree, Visitor, form};
use crate::{
    lock,
    ordered::{self, Library},
    refusal,
};

/// A tree, and what the sessions of its store share.
pub(crate) struct Buffered<'s, T> {
    tree: T,
    shared: &'s Shared,
}

/// What a batch changes, and its turn to write.
pub(crate) struct Writing<'s, V> {
    own: Changes<V>,
    turn: MutexGuard<'s, ()>,
}

type Batch<'s, T> = ordered::Batch<<T as Tree>::View, Writing<'s, <T as Tree>::Value>>;

/// The library counts the length of a value in 32 bits.
const LONGEST_VALUE: u64 = u32::MAX as u64;

impl<'s, T: Tree> Buffered<'s, T> {
    pub(crate) fn new(tree: T, shared: &'s Shared) -> Self {
        Self { tree, shared }
    }

    /// Whether there is a value of `key`, as the batch sees it.
    fn holds(&self, own: &Changes<T::Value>, key: &[u8]) -> Result<bool> {
        own.get(key).map_or_else(|| self.tree.holds(key), |value| Ok(value.is_some()))
    }

    /// Visits what the tree holds from `from` on, with the changes of the batch laid over it.
    fn walk(
        &self,
        batch: &Batch<'_, T>,
        from: &[u8],
        values: bool,
        visit: &mut Visitor<'_>,
    ) -> Result<()> {
        match batch {
            Batch::<T>::Read(view) => self.tree.walk(view, from, values, visit),
            Batch::<T>::None => self.tree.walk(&self.tree.view(), from, values, visit),
            Batch::<T>::Write(writing) => self.walk_over(&writing.own, from, values, visit),
        }
    }

    fn walk_over(
        &self,
        own: &Changes<T::Value>,
        from: &[u8],
        values: bool,
        visit: &mut Visitor<'_>,
    ) -> Result<()> {
        let beyond = (Bound::Included(from), Bound::Unbounded);
        let mut own = own.range::<[u8], _>(beyond).peekable();
        let mut going = ControlFlow::Continue(());
        self.tree.walk(&self.tree.view(), from, values, &mut |key, length, value| {
            let mut replaced = false;
            while let Some((changed, new)) = own.next_if(|(changed, _)| &***changed <= key) {
                replaced = **changed == *key;
                going = show(changed, new.as_ref(), visit)?;
                if going.is_break() {
                    return Ok(going);
                }
            }
            if !replaced {
                going = visit(key, length, value)?;
            }
            Ok(going)
        })?;
        for (changed, new) in own {
            if going.is_break() {
                break;
            }
            going = show(changed, new.as_ref(), visit)?;
        }
        Ok(())
    }
}

/// Visits what a batch wrote, and passes over what it removed.
fn show(key: &[u8], value: Option<&impl AsRef<[u8]>>, visit: &mut Visitor<'_>) -> Visit {
    match value.map(AsRef::as_ref) {
        Some(value) => visit(key, value.len() as u64, value),
        None => Ok(ControlFlow::Continue(())),
    }
}

fn check<T: Tree>(key: &[u8], value: &[u8]) -> Result<()> {
    if !(1..=T::LONGEST_KEY).contains(&key.len()) {
        return Err(Error::unsupported(format!(
            "a name of {} bytes; accepted: 1 to {}",
            key.len(),
            T::LONGEST_KEY
        )));
    }
    // Room for what is kept behind a value.
    if value.len() as u64 > LONGEST_VALUE - 1024 {
        return Err(Error::unsupported(format!(
            "a value of {} bytes; accepted: less than 4 GiB",
            value.len()
        )));
    }
    Ok(())
}

impl<'s, T: Tree> Library for Buffered<'s, T> {
    type Key<'k> = &'k [u8];
    type Read = T::View;
    type Write = Writing<'s, T::Value>;

    #[inline]
    fn key<'k>(&self, key: &Key<'k>, room: &'k mut [u8; 8]) -> Result<&'k [u8]> {
        ordered::bytes(key, self.shared.keys, room)
    }

    fn read(&self) -> Result<T::View> {
        Ok(self.tree.view())
    }

    fn write(&self, waits: &Cell<i64>) -> Result<Self::Write> {
        if self.shared.access == Access::Read {
            return Err(refusal::read_only());
        }
        Ok(Writing { turn: lock::turn(&self.shared.writer, waits), own: Changes::new() })
    }

    fn commit(&self, Writing { own, turn }: Self::Write) -> Result<()> {
        if own.is_empty() {
            return Ok(());
        }
        self.tree.write(own)?;
        drop(turn);
        self.tree.persist()
    }

    #[inline]
    fn get(&self, batch: &Batch<'_, T>, key: &[u8], into: &mut [u8]) -> Result<Option<usize>> {
        let take = |stored: &[u8]| {
            let (value, _) = form::unwrap(stored, self.shared.keys)?;
            Ok(ordered::copy(value, into))
        };
        let found = match batch {
            Batch::<T>::Read(view) => self.tree.read(Some(view), key, take)?,
            Batch::<T>::None => self.tree.read(None, key, take)?,
            Batch::<T>::Write(writing) => match writing.own.get(key) {
                Some(changed) => changed.as_ref().map(AsRef::as_ref).map(take),
                None => self.tree.read(None, key, take)?,
            },
        };
        found.transpose()
    }

    fn put(
        &self,
        Writing { own, .. }: &mut Self::Write,
        key: &[u8],
        value: &[u8],
        put: &Put,
    ) -> Result<bool> {
        check::<T>(key, value)?;
        let allowed = match put.how {
            How::Upsert => true,
            How::Insert => !self.holds(own, key)?,
            How::Update => self.holds(own, key)?,
        };
        if allowed {
            own.insert(key.into(), Some(form::wrap(value, put.meta, self.shared.keys)));
        }
        Ok(allowed)
    }

    fn delete(&self, Writing { own, .. }: &mut Self::Write, key: &[u8]) -> Result<bool> {
        let held = self.holds(own, key)?;
        if held {
            own.insert(key.into(), None);
        }
        Ok(held)
    }

    fn scan(
        &self,
        batch: &Batch<'_, T>,
        from: Option<&[u8]>,
        values: bool,
        visit: &mut model::Visitor<'_>,
    ) -> Result<()> {
        let keys = self.shared.keys;
        self.walk(batch, from.unwrap_or_default(), values, &mut |key, length, stored| {
            let (value, meta) = if values { form::unwrap(stored, keys)? } else { (&[][..], None) };
            let (key, length) = (ordered::key(key, keys)?, form::own(length, keys)?);
            visit(Item { key, value, length, meta })
        })
    }

    fn counters(&self) -> Vec<(&'static str, i64)> {
        self.tree.counters()
    }
}
