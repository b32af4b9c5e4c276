//! A map from keys of one kind to anything, sorted on demand.

use std::collections::HashMap;

use model::{Key, KeyKind, Result};

use crate::{refusal::wrong_kind, row::Row};

/// Keys of one kind, each with a `V`.
pub(crate) enum Table<V> {
    Integers(Row<V>),
    Names(HashMap<Box<[u8]>, V>),
}

impl<V> Table<V> {
    pub(crate) fn new(keys: KeyKind) -> Self {
        match keys {
            KeyKind::Integers => Self::Integers(Row::default()),
            KeyKind::Names => Self::Names(HashMap::default()),
        }
    }

    pub(crate) fn keys(&self) -> KeyKind {
        match self {
            Self::Integers(_) => KeyKind::Integers,
            Self::Names(_) => KeyKind::Names,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Integers(row) => row.len(),
            Self::Names(map) => map.len(),
        }
    }

    /// The key is matched by reference: copied whole, it would be read back before its
    /// parts are written out, which waits for the end of the last value's copy (a third of a
    /// read from a map of a file).
    #[inline]
    pub(crate) fn get(&self, key: &Key<'_>) -> Result<Option<&V>> {
        match self {
            Self::Integers(row) => match key {
                Key::Int(key) => Ok(row.get(*key)),
                Key::Name(_) => Err(wrong_kind(*key, KeyKind::Integers)),
            },
            Self::Names(map) => match key {
                Key::Name(key) => Ok(named(map, key)),
                Key::Int(_) => Err(wrong_kind(*key, KeyKind::Names)),
            },
        }
    }

    pub(crate) fn get_mut(&mut self, key: Key<'_>) -> Result<Option<&mut V>> {
        match (self, key) {
            (Self::Integers(row), Key::Int(key)) => Ok(row.get_mut(key)),
            (Self::Names(map), Key::Name(key)) => Ok(map.get_mut(key)),
            (table, _) => Err(wrong_kind(key, table.keys())),
        }
    }

    pub(crate) fn insert(&mut self, key: Key<'_>, value: V) -> Result<Option<V>> {
        match (self, key) {
            (Self::Integers(row), Key::Int(key)) => Ok(row.insert(key, value)),
            (Self::Names(map), Key::Name(key)) => Ok(map.insert(key.into(), value)),
            (table, _) => Err(wrong_kind(key, table.keys())),
        }
    }

    pub(crate) fn remove(&mut self, key: Key<'_>) -> Result<Option<V>> {
        match (self, key) {
            (Self::Integers(row), Key::Int(key)) => Ok(row.remove(key)),
            (Self::Names(map), Key::Name(key)) => Ok(map.remove(key)),
            (table, _) => Err(wrong_kind(key, table.keys())),
        }
    }

    /// The first `limit` in key order, from `from` on. Names have to be looked at all.
    pub(crate) fn sorted(&self, from: Option<Key<'_>>, limit: u64) -> Result<Vec<(Key<'_>, &V)>> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        match (self, from.unwrap_or(Key::least(self.keys()))) {
            (Self::Integers(row), Key::Int(from)) => {
                Ok(row.from(from).take(limit).map(|(key, v)| (Key::Int(key), v)).collect())
            }
            (Self::Names(map), Key::Name(from)) => {
                let beyond = map.iter().filter(|(name, _)| &***name >= from);
                let mut all: Vec<_> = beyond.map(|(name, v)| (Key::Name(name), v)).collect();
                if limit < all.len() {
                    all.select_nth_unstable_by_key(limit, |(key, _)| *key);
                    all.truncate(limit);
                }
                all.sort_unstable_by_key(|(key, _)| *key);
                Ok(all)
            }
            (table, from) => Err(wrong_kind(from, table.keys())),
        }
    }
}

/// Hashing is kept out of the way of integers, whose lookup is a few instructions.
#[inline(never)]
fn named<'a, V>(map: &'a HashMap<Box<[u8]>, V>, name: &[u8]) -> Option<&'a V> {
    map.get(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_the_other_kind_is_refused() {
        let table = Table::<()>::new(KeyKind::Integers);
        assert!(table.get(&Key::Name(b"a")).unwrap_err().to_string().contains("integers"));
    }
}
