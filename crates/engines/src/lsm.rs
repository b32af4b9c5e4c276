//! The common part of the engines with log-structured merge trees: their libraries keep bytes sorted
//! by key and take a batch of writes at once, and a write does not report the previous value.
//!
//! A batch is held in memory until it is committed, so that it sees its own writes and can say
//! whether a key is there. One session writes at a time: what [`model::How`] asks would not hold
//! otherwise.
//!
//! Values of integers are stored as they are, and so are those that another program made; each value of a
//! name is followed by its mode and time, whose nanoseconds are all ones if there are none.

use std::{
    collections::BTreeMap,
    ops::{Bound, ControlFlow},
    sync::{Mutex, MutexGuard},
};

use kit::{
    lock::{self, Waits},
    meta, refusal,
};
use model::{Access, Error, How, Item, Key, Meta, Put, Result, Try, Visit};

use crate::{
    ordered::{self, Library, Txn},
    part::Part,
};

/// What `storemark advise` tries of such an engine.
pub(crate) const WORTH_TRYING: &[Try] = &[
    Try::new("", "fast writes and checksums; threads that work in the background"),
    Try::new("cache=1GiB", "values stay in a cache of up to 1 GiB of memory"),
    Try::new("blobs=off", "values in the tables: compaction moves them"),
];

/// The changes of a batch by key; `None` removes the key.
pub(crate) type Changes<V> = BTreeMap<Box<[u8]>, Option<V>>;

/// A visitor that gets a key, the length of what is stored for it, and the stored bytes or nothing.
pub(crate) type Visitor<'a> = dyn FnMut(&[u8], u64, &[u8]) -> Visit + 'a;

/// The library as one session uses it.
pub(crate) trait Tree {
    /// Whether the library panics, as [`Library::PANICS`].
    const PANICS: bool;

    /// The store as it was at one moment.
    type View;

    /// A value between its writing and the commit.
    type Value: AsRef<[u8]> + for<'a> From<&'a [u8]>;

    const LONGEST_KEY: usize;

    fn view(&self) -> Self::View;

    /// Applies `take` to the value of `key`: in `view`, or as it is now.
    fn read<T>(
        &self,
        view: Option<&Self::View>,
        key: &[u8],
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>>;

    /// Returns the length of what is stored for `key`: in `view`, or as it is now.
    fn length(&self, view: Option<&Self::View>, key: &[u8]) -> Result<Option<u64>> {
        self.read(view, key, |stored| stored.len() as u64)
    }

    fn holds(&self, key: &[u8]) -> Result<bool> {
        Ok(self.read(None, key, |_| ())?.is_some())
    }

    /// Writes all of `changes` or nothing. It is called by one session at a time.
    fn write(&self, changes: Changes<Self::Value>) -> Result<()>;

    /// Persists what the durability class requires between `write` and the end of a commit; other
    /// sessions may write meanwhile.
    fn persist(&self) -> Result<()> {
        Ok(())
    }

    /// Visits keys in order from `from` on, with their values if `values`.
    fn walk(
        &self,
        view: &Self::View,
        from: &[u8],
        values: bool,
        visit: &mut Visitor<'_>,
    ) -> Result<()>;

    /// Returns the library's own counters since the last call.
    fn counters(&self) -> Vec<(&'static str, i64)>;
}

/// The state that the sessions of a store share.
pub(crate) struct Shared {
    pub(crate) part: Part,
    pub(crate) access: Access,
    /// The lock of the session that writes.
    writer: Mutex<()>,
}

impl Shared {
    pub(crate) fn new(part: Part, access: Access) -> Self {
        Self { part, access, writer: Mutex::new(()) }
    }
}

/// A tree with batches, as a session uses it.
pub(crate) struct Buffered<'s, T> {
    pub(crate) tree: T,
    pub(crate) shared: &'s Shared,
}

/// The changes of a batch, with its turn to write.
pub(crate) struct PendingBatch<'s, V> {
    own: Changes<V>,
    turn: MutexGuard<'s, ()>,
}

/// The longest value: the library counts the length of a value in 32 bits.
const LONGEST_VALUE: u64 = u32::MAX as u64;

impl<T: Tree> Buffered<'_, T> {
    /// Returns whether there is a value of `key`, as the batch sees it.
    fn holds(&self, own: &Changes<T::Value>, key: &[u8]) -> Result<bool> {
        own.get(key).map_or_else(|| self.tree.holds(key), |value| Ok(value.is_some()))
    }

    /// Visits what the tree contains from `from` on, with the changes of a batch applied.
    fn walk_over(
        &self,
        own: &Changes<T::Value>,
        from: &[u8],
        values: bool,
        visit: &mut Visitor<'_>,
    ) -> Result<()> {
        let beyond = (Bound::Included(from), Bound::Unbounded);
        let mut own = own.range::<[u8], _>(beyond).peekable();
        // Skips what the batch removed.
        let show = |key: &[u8], value: Option<&[u8]>, visit: &mut Visitor<'_>| match value {
            Some(value) => visit(key, value.len() as u64, value),
            None => Ok(ControlFlow::Continue(())),
        };
        let mut going = ControlFlow::Continue(());
        self.tree.walk(&self.tree.view(), from, values, &mut |key, length, value| {
            let mut replaced = false;
            while let Some((changed, new)) = own.next_if(|(changed, _)| &***changed <= key) {
                replaced = **changed == *key;
                going = show(changed, new.as_ref().map(AsRef::as_ref), visit)?;
                if going.is_break() {
                    return Ok(going);
                }
            }
            if !replaced {
                going = visit(key, length, value)?;
            }
            Ok(going)
        })?;
        while going.is_continue()
            && let Some((changed, new)) = own.next()
        {
            going = show(changed, new.as_ref().map(AsRef::as_ref), visit)?;
        }
        Ok(())
    }
}

/// Checks that such a store can hold a key and a value of this length.
pub(crate) fn check(key: Key<'_>, length: u64, longest_key: usize) -> Result<()> {
    refusal::check_name(key, longest_key)?;
    // Room for what is kept behind a value.
    refusal::check_value(key, length, LONGEST_VALUE - 1024)
}

impl<'s, T: Tree> Library for Buffered<'s, T> {
    const PANICS: bool = T::PANICS;

    type Key<'k> = &'k [u8];
    /// `None` for the current state.
    type Read = Option<T::View>;
    type Write = PendingBatch<'s, T::Value>;

    #[inline]
    fn key<'k>(&self, key: &Key<'k>, room: &'k mut [u8; 8]) -> Result<&'k [u8]> {
        ordered::bytes(key, self.shared.part.keys, room)
    }

    fn read(&self) -> Result<Self::Read> {
        Ok(Some(self.tree.view()))
    }

    #[inline]
    fn now(&self) -> Result<Self::Read> {
        Ok(None)
    }

    fn write(&self, waits: &Waits) -> Result<Self::Write> {
        if self.shared.access == Access::Read {
            return Err(refusal::read_only());
        }
        Ok(PendingBatch { turn: lock::turn(&self.shared.writer, waits), own: Changes::new() })
    }

    fn commit(&self, PendingBatch { own, turn }: Self::Write) -> Result<()> {
        if own.is_empty() {
            return Ok(());
        }
        self.tree.write(own)?;
        drop(turn);
        self.tree.persist()
    }

    #[inline]
    fn get(&self, txn: Txn<'_, Self>, key: &[u8], into: &mut [u8]) -> Result<Option<usize>> {
        let take = |stored: &[u8]| {
            let (value, _) = unwrap(stored, self.shared.part.has_metas())?;
            Ok(model::copy_value(value, into))
        };
        let found = match txn {
            Txn::Read(view) => self.tree.read(view.as_ref(), key, take)?,
            Txn::Write(writing) => match writing.own.get(key) {
                Some(changed) => changed.as_ref().map(AsRef::as_ref).map(take),
                None => self.tree.read(None, key, take)?,
            },
        };
        found.transpose()
    }

    fn length(&self, txn: Txn<'_, Self>, key: &[u8]) -> Result<Option<u64>> {
        let found = match txn {
            Txn::Read(view) => self.tree.length(view.as_ref(), key)?,
            Txn::Write(writing) => match writing.own.get(key) {
                Some(changed) => changed.as_ref().map(|value| value.as_ref().len() as u64),
                None => self.tree.length(None, key)?,
            },
        };
        found.map(|length| own_length(length, self.shared.part.has_metas())).transpose()
    }

    fn put(&self, txn: &mut Self::Write, key: &[u8], value: &[u8], put: &Put) -> Result<bool> {
        check(ordered::key(key, self.shared.part.keys)?, value.len() as u64, T::LONGEST_KEY)?;
        let allowed = match put.how {
            How::Upsert => true,
            How::Insert => !self.holds(&txn.own, key)?,
            How::Update => self.holds(&txn.own, key)?,
        };
        if allowed {
            txn.own.insert(key.into(), Some(wrap(value, put.meta, self.shared.part.has_metas())));
        }
        Ok(allowed)
    }

    fn delete(&self, PendingBatch { own, .. }: &mut Self::Write, key: &[u8]) -> Result<bool> {
        let held = self.holds(own, key)?;
        if held {
            own.insert(key.into(), None);
        }
        Ok(held)
    }

    fn scan(
        &self,
        txn: Txn<'_, Self>,
        from: Option<&[u8]>,
        values: bool,
        visit: &mut model::Visitor<'_>,
    ) -> Result<()> {
        let (keys, metas) = (self.shared.part.keys, self.shared.part.has_metas());
        let from = from.unwrap_or_default();
        let visit = &mut |key: &[u8], length, stored: &[u8]| {
            let (value, meta) = if values { unwrap(stored, metas)? } else { (&[][..], None) };
            let length = own_length(length, metas)?;
            visit(Item::new(ordered::key(key, keys)?, value, meta).with_length(length))
        };
        match txn {
            Txn::Read(Some(view)) => self.tree.walk(view, from, values, visit),
            Txn::Read(None) => self.tree.walk(&self.tree.view(), from, values, visit),
            Txn::Write(writing) => self.walk_over(&writing.own, from, values, visit),
        }
    }

    fn counters(&self) -> Vec<(&'static str, i64)> {
        self.tree.counters()
    }
}

/// The number of bytes of mode and time.
const META: usize = 16;
const NO_META: u32 = u32::MAX;

fn wrap<V: for<'a> From<&'a [u8]>>(value: &[u8], meta: Option<Meta>, metas: bool) -> V {
    if !metas {
        return V::from(value);
    }
    let meta = meta.unwrap_or(Meta { nanoseconds: NO_META, ..Meta::default() });
    V::from(&[value, &meta::bytes(meta)].concat()[..])
}

/// Returns how many of `length` stored bytes are the value's own.
fn own_length(length: u64, metas: bool) -> Result<u64> {
    let own = if metas { META as u64 } else { 0 };
    length.checked_sub(own).ok_or_else(cut_short)
}

/// Splits what is stored into the value and its mode and time.
#[inline]
fn unwrap(stored: &[u8], metas: bool) -> Result<(&[u8], Option<Meta>)> {
    if !metas {
        return Ok((stored, None));
    }
    let (value, tail) = stored.split_last_chunk::<META>().ok_or_else(cut_short)?;
    Ok((value, meta::from_bytes(tail).filter(|meta| meta.nanoseconds != NO_META)))
}

#[cold]
fn cut_short() -> Error {
    Error::corrupt("a named value without the 16 bytes of its mode and time")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn values_come_back_with_their_meta(
            value: Vec<u8>, mode: u32, seconds: i64, nanoseconds in 0..1_000_000_000_u32, none: bool,
        ) {
            let meta = (!none).then_some(Meta { mode, seconds, nanoseconds });
            let stored: Box<[u8]> = wrap(&value, meta, true);
            prop_assert_eq!(unwrap(&stored, true).unwrap(), (&value[..], meta));
            prop_assert_eq!(own_length(stored.len() as u64, true).unwrap(), value.len() as u64);
        }
    }

    #[test]
    fn what_is_no_such_value_is_an_error() {
        assert!(unwrap(b"fifteen bytes..", true).is_err());
        assert!(own_length(15, true).is_err());
    }
}
