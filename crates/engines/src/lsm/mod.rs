//! What engines share whose library keeps bytes sorted by key and takes a batch of writes at once,
//! none of which says what was there before: log-structured merge trees.
//!
//! A batch is held in memory until it is committed, so that it sees its own writes and can say
//! whether a key is there. One session writes at a time: what [`model::How`] asks would not hold
//! otherwise.

mod form;
mod session;

use std::{collections::BTreeMap, sync::Mutex};

use model::{Access, KeyKind, Result, Visit};

pub(crate) use form::{COLUMNS, kind_of, name_of};
pub(crate) use session::Buffered;

/// What a batch changes, by key; `None` removes.
pub(crate) type Changes<V> = BTreeMap<Box<[u8]>, Option<V>>;

/// Gets a key, the length of what is stored for it, and the stored bytes or nothing.
pub(crate) type Visitor<'a> = dyn FnMut(&[u8], u64, &[u8]) -> Visit + 'a;

/// The library as one session uses it.
pub(crate) trait Tree {
    /// The store as it was at one moment.
    type View;

    /// A value between its writing and the commit.
    type Value: AsRef<[u8]> + for<'a> From<&'a [u8]>;

    const LONGEST_KEY: usize;

    fn view(&self) -> Self::View;

    /// What `take` makes of the value of `key`: in `view`, or as it is now.
    fn read<T>(
        &self,
        view: Option<&Self::View>,
        key: &[u8],
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>>;

    fn holds(&self, key: &[u8]) -> Result<bool>;

    /// Writes all of `changes` or nothing. Called by one session at a time.
    fn write(&self, changes: Changes<Self::Value>) -> Result<()>;

    /// What the durability class asks for between `write` and the end of a commit; other sessions
    /// may write meanwhile.
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

    /// The library's own counters since they were last asked for.
    fn counters(&self) -> Vec<(&'static str, i64)>;
}

/// What the sessions of a store share.
pub(crate) struct Shared {
    pub(crate) keys: KeyKind,
    pub(crate) access: Access,
    /// Held by the session that writes.
    writer: Mutex<()>,
}

impl Shared {
    pub(crate) fn new(keys: KeyKind, access: Access) -> Self {
        Self { keys, access, writer: Mutex::new(()) }
    }
}
