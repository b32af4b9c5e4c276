//! The differences between tables of integers and of names.

use std::{cmp::Ordering, marker::PhantomData};

use kit::refusal::wrong_kind;
use model::{Key, KeyKind, Result};
use redb::{TableDefinition, TypeName, Value};

/// The definition of a table of values with keys of the type `K`.
pub(super) type Definition<K> = TableDefinition<'static, K, &'static [u8]>;

/// A kind of keys as redb stores them. It orders integers by itself, and finds those faster than
/// bytes.
pub(super) trait KeyType: redb::Key + Sized + 'static {
    const VALUES: Definition<Self>;

    /// The table of mode and time; `None` if they are not kept.
    const METAS: Option<Definition<Self>>;

    /// Converts a key. It is matched by reference: copied whole, it would be read back before its
    /// parts are written out, which waits for the end of the last value's copy.
    fn to_stored<'k>(key: &Key<'k>) -> Result<Self::SelfType<'k>>;

    fn key(stored: Self::SelfType<'_>) -> Key<'_>;
}

impl KeyType for i64 {
    const VALUES: Definition<i64> = TableDefinition::new("integers");
    const METAS: Option<Definition<i64>> = None;

    #[inline]
    fn to_stored(key: &Key<'_>) -> Result<i64> {
        match key {
            Key::Int(key) => Ok(*key),
            Key::Name(_) => Err(wrong_kind(*key, KeyKind::Integers)),
        }
    }

    fn key<'k>(stored: i64) -> Key<'k> {
        Key::Int(stored)
    }
}

/// A name as a key of redb.
pub(super) type Bytes = &'static [u8];

impl KeyType for Bytes {
    const VALUES: Definition<Bytes> = TableDefinition::new("names");
    const METAS: Option<Definition<Bytes>> = Some(TableDefinition::new(crate::part::METAS));

    #[inline]
    fn to_stored<'k>(key: &Key<'k>) -> Result<&'k [u8]> {
        match key {
            Key::Name(name) => Ok(name),
            Key::Int(_) => Err(wrong_kind(*key, KeyKind::Names)),
        }
    }

    fn key(stored: <Self as Value>::SelfType<'_>) -> Key<'_> {
        Key::Name(stored)
    }
}

/// A key's type under another name, by which values are looked up: the same as `K` to redb. The
/// compiler makes a search for it alone, and puts it into the loop that reads; the search for `K`,
/// which scans and writes use too, it calls (5 % of a read).
#[derive(Debug)]
pub(super) struct Sought<K>(PhantomData<K>);

impl<K: Value> Value for Sought<K> {
    type SelfType<'a>
        = K::SelfType<'a>
    where
        Self: 'a;
    type AsBytes<'a>
        = K::AsBytes<'a>
    where
        Self: 'a;

    fn fixed_width() -> Option<usize> {
        K::fixed_width()
    }

    #[inline]
    fn from_bytes<'a>(data: &'a [u8]) -> K::SelfType<'a>
    where
        Self: 'a,
    {
        K::from_bytes(data)
    }

    #[inline]
    fn as_bytes<'a, 'b: 'a>(value: &'a K::SelfType<'b>) -> K::AsBytes<'a>
    where
        Self: 'b,
    {
        K::as_bytes(value)
    }

    fn type_name() -> TypeName {
        K::type_name()
    }
}

impl<K: redb::Key> redb::Key for Sought<K> {
    #[inline]
    fn compare(data1: &[u8], data2: &[u8]) -> Ordering {
        K::compare(data1, data2)
    }
}
