//! A key's type under another name, by which values are looked up.

use std::{cmp::Ordering, marker::PhantomData};

use redb::{Key, TypeName, Value};

/// The same as `K` to redb. The compiler makes a search for it alone, and puts it into the loop
/// that reads; the search for `K`, which scans and writes use too, it calls (5 % of a read).
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

impl<K: Key> Key for Sought<K> {
    #[inline]
    fn compare(data1: &[u8], data2: &[u8]) -> Ordering {
        K::compare(data1, data2)
    }
}
