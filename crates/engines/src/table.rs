//! A map from keys of one kind to anything, with a key order made on demand.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hash, Hasher},
};

use model::{Key, KeyKind, Result};

use crate::refusal::wrong_kind;

/// Keys of one kind, each with a `V`.
pub(crate) enum Table<V> {
    Integers(HashMap<i64, V, BuildHasherDefault<Fold>>),
    Names(HashMap<Box<[u8]>, V>),
}

impl<V> Table<V> {
    pub(crate) fn new(keys: KeyKind) -> Self {
        match keys {
            KeyKind::Integers => Self::Integers(HashMap::default()),
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
            Self::Integers(map) => map.len(),
            Self::Names(map) => map.len(),
        }
    }

    #[inline]
    pub(crate) fn get(&self, key: Key<'_>) -> Result<Option<&V>> {
        match (self, key) {
            (Self::Integers(map), Key::Int(key)) => Ok(map.get(&key)),
            (Self::Names(map), Key::Name(key)) => Ok(map.get(key)),
            _ => Err(wrong_kind(key, self.keys())),
        }
    }

    pub(crate) fn get_mut(&mut self, key: Key<'_>) -> Result<Option<&mut V>> {
        match (self, key) {
            (Self::Integers(map), Key::Int(key)) => Ok(map.get_mut(&key)),
            (Self::Names(map), Key::Name(key)) => Ok(map.get_mut(key)),
            (table, _) => Err(wrong_kind(key, table.keys())),
        }
    }

    pub(crate) fn insert(&mut self, key: Key<'_>, value: V) -> Result<Option<V>> {
        match (self, key) {
            (Self::Integers(map), Key::Int(key)) => Ok(map.insert(key, value)),
            (Self::Names(map), Key::Name(key)) => Ok(map.insert(key.into(), value)),
            (table, _) => Err(wrong_kind(key, table.keys())),
        }
    }

    pub(crate) fn remove(&mut self, key: Key<'_>) -> Result<Option<V>> {
        match (self, key) {
            (Self::Integers(map), Key::Int(key)) => Ok(map.remove(&key)),
            (Self::Names(map), Key::Name(key)) => Ok(map.remove(key)),
            (table, _) => Err(wrong_kind(key, table.keys())),
        }
    }

    /// Everything, in key order.
    pub(crate) fn sorted(&self) -> Vec<(Key<'_>, &V)> {
        let mut all: Vec<_> = match self {
            Self::Integers(map) => map.iter().map(|(key, v)| (Key::Int(*key), v)).collect(),
            Self::Names(map) => map.iter().map(|(key, v)| (Key::Name(key), v)).collect(),
        };
        all.sort_unstable_by_key(|(key, _)| *key);
        all
    }
}

/// Hashes an integer with one multiplication, both halves of the product folded together, so
/// that keys in any stride spread. Not for names: it resists no one who chooses them.
#[derive(Default)]
pub(crate) struct Fold(u64);

impl Hasher for Fold {
    #[inline]
    fn write_i64(&mut self, key: i64) {
        // 2^64 divided by the golden ratio, as in Knuth's multiplicative hashing.
        let product =
            u128::from(self.0 ^ key.cast_unsigned()) * u128::from(0x9E37_79B9_7F4A_7C15_u64);
        let [low, high] = [product & u128::from(u64::MAX), product >> 64];
        self.0 = u64::try_from(low ^ high).expect("both halves have 64 bits");
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            i64::from(*byte).hash(self);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_strides_spread_over_the_low_bits() {
        for shift in [0, 8, 16, 32, 40] {
            let mut seen = std::collections::BTreeSet::new();
            for key in 0..1024_i64 {
                let mut hasher = Fold::default();
                (key << shift).hash(&mut hasher);
                seen.insert(hasher.finish() % 1024);
            }
            assert!(seen.len() > 512, "stride 2^{shift}: {} of 1024 buckets", seen.len());
        }
    }

    #[test]
    fn a_key_of_the_other_kind_is_refused() {
        let table = Table::<()>::new(KeyKind::Integers);
        assert!(table.get(Key::Name(b"a")).unwrap_err().to_string().contains("integers"));
    }
}
