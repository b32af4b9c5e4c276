//! A map from keys of one kind to anything, sorted on demand. Integers are mostly consecutive: a
//! lookup costs one access to memory.

use std::collections::{BTreeMap, HashMap};

use kit::refusal::wrong_kind;
use model::{Key, KeyKind, Result};

/// A map of keys of one kind, each with a `V`.
pub(crate) enum Table<V> {
    Integers(IntegerMap<V>),
    Names(HashMap<Box<[u8]>, V>),
}

impl<V> Table<V> {
    pub(crate) fn new(keys: KeyKind) -> Self {
        match keys {
            KeyKind::Integers => Self::Integers(IntegerMap::default()),
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

    /// Returns the value of `key`. The key is matched by reference: copied whole, it would be read
    /// back before its parts are written out, which waits for the end of the last value's copy (a
    /// third of a read from a map of a file).
    #[inline]
    pub(crate) fn get(&self, key: &Key<'_>) -> Result<Option<&V>> {
        match self {
            Self::Integers(row) => match key {
                Key::Int(key) => Ok(row.get(*key)),
                Key::Name(_) => Err(wrong_kind(*key, KeyKind::Integers)),
            },
            Self::Names(map) => match key {
                Key::Name(key) => Ok(get_name(map, key)),
                Key::Int(_) => Err(wrong_kind(*key, KeyKind::Names)),
            },
        }
    }

    /// Returns the value of `key` to be changed; matched by reference as in [`get`](Self::get).
    #[inline]
    pub(crate) fn get_mut(&mut self, key: &Key<'_>) -> Result<Option<&mut V>> {
        match self {
            Self::Integers(row) => match key {
                Key::Int(key) => Ok(row.get_mut(*key)),
                Key::Name(_) => Err(wrong_kind(*key, KeyKind::Integers)),
            },
            Self::Names(map) => match key {
                Key::Name(key) => Ok(map.get_mut(*key)),
                Key::Int(_) => Err(wrong_kind(*key, KeyKind::Names)),
            },
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

    /// Returns the first `limit` in key order, from `from` on. All names have to be looked at.
    pub(crate) fn sorted(&self, from: Option<Key<'_>>, limit: u64) -> Result<Vec<(Key<'_>, &V)>> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        match (self, from.unwrap_or(Key::smallest(self.keys()))) {
            (Self::Integers(row), Key::Int(from)) => {
                Ok(row.iter_from(from).take(limit).map(|(key, v)| (Key::Int(key), v)).collect())
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

/// Returns the value of a name. Hashing is kept out of the way of integers, whose lookup is a few
/// instructions.
#[inline(never)]
fn get_name<'a, V>(map: &'a HashMap<Box<[u8]>, V>, name: &[u8]) -> Option<&'a V> {
    map.get(name)
}

/// A map of integers. Keys from `first` on are in `places` at their distance from it, as long as at
/// least every other place is taken; all others are in `rest`.
pub(crate) struct IntegerMap<V> {
    first: i64,
    places: Vec<Option<V>>,
    /// The number of places that hold a value.
    taken: usize,
    rest: BTreeMap<i64, V>,
}

impl<V> Default for IntegerMap<V> {
    fn default() -> Self {
        Self { first: 0, places: Vec::new(), taken: 0, rest: BTreeMap::new() }
    }
}

impl<V> IntegerMap<V> {
    fn len(&self) -> usize {
        self.taken + self.rest.len()
    }

    #[inline]
    fn place_of(&self, key: i64) -> Option<usize> {
        usize::try_from(key.checked_sub(self.first)?).ok()
    }

    #[inline]
    fn get(&self, key: i64) -> Option<&V> {
        match self.place_of(key).and_then(|place| self.places.get(place)) {
            Some(found) => found.as_ref(),
            None => self.rest.get(&key),
        }
    }

    fn get_mut(&mut self, key: i64) -> Option<&mut V> {
        match self.place_of(key).and_then(|place| self.places.get_mut(place)) {
            Some(found) => found.as_mut(),
            None => self.rest.get_mut(&key),
        }
    }

    fn insert(&mut self, key: i64, value: V) -> Option<V> {
        if self.places.is_empty() {
            self.first = key;
        }
        let within = |place: &usize| *place < self.places.len() || place / 2 <= self.taken;
        let Some(place) = self.place_of(key).filter(within) else {
            return self.rest.insert(key, value);
        };
        if place >= self.places.len() {
            self.reach(key, place);
        }
        let old = self.places[place].replace(value);
        self.taken += usize::from(old.is_none());
        old
    }

    /// Lengthens the row to hold `place`, the place of `key`, and moves in what was beyond it.
    fn reach(&mut self, key: i64, place: usize) {
        self.places.resize_with(place + 1, || None);
        let mut within = self.rest.split_off(&self.first);
        // `key` itself may be the greatest of all: what is beyond it starts at it.
        self.rest.append(&mut within.split_off(&key));
        let own = self.rest.remove(&key).map(|value| (key, value));
        for (key, value) in within.into_iter().chain(own) {
            if let Some(place) = self.place_of(key) {
                self.places[place] = Some(value);
                self.taken += 1;
            }
        }
    }

    fn remove(&mut self, key: i64) -> Option<V> {
        match self.place_of(key).and_then(|place| self.places.get_mut(place)) {
            Some(found) => {
                let old = found.take();
                self.taken -= usize::from(old.is_some());
                old
            }
            None => self.rest.remove(&key),
        }
    }

    /// Returns everything from `key` on, in key order.
    fn iter_from(&self, key: i64) -> impl Iterator<Item = (i64, &V)> {
        let skipped = usize::try_from(key.saturating_sub(self.first)).unwrap_or(0);
        // Cut before it is zipped: a zip walks over what it skips.
        let places = self.places.get(skipped..).unwrap_or_default();
        let places = (key.max(self.first)..=i64::MAX).zip(places);
        let taken = places.filter_map(|(key, value)| Some((key, value.as_ref()?)));
        let below = self.rest.range(key..).take_while(|(key, _)| **key < self.first);
        let beyond = self.rest.range(key.max(self.first)..);
        let own = |(key, value): (&i64, _)| (*key, value);
        below.map(own).chain(taken).chain(beyond.map(own))
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    #[test]
    fn a_key_of_the_other_kind_is_refused() {
        let table = Table::<()>::new(KeyKind::Integers);
        assert!(table.get(&Key::Name(b"a")).unwrap_err().to_string().contains("integers"));
    }

    fn key() -> impl Strategy<Value = i64> {
        prop_oneof![-5..30_i64, i64::MAX - 5..=i64::MAX, i64::MIN..=i64::MIN + 5, any::<i64>()]
    }

    proptest! {
        #[test]
        fn it_is_a_map(ops in vec((key(), any::<bool>()), 1..200)) {
            let (mut row, mut map) = (IntegerMap::default(), BTreeMap::new());
            for (n, (key, put)) in ops.into_iter().enumerate() {
                if put {
                    prop_assert_eq!(row.insert(key, n), map.insert(key, n));
                } else {
                    prop_assert_eq!(row.remove(key), map.remove(&key));
                }
                prop_assert_eq!(row.get(key), map.get(&key));
                prop_assert_eq!(row.get_mut(key).copied(), map.get(&key).copied());
                prop_assert_eq!(row.len(), map.len());
                prop_assert!(row.places.len() <= 2 * n + 2);
            }
            let found: BTreeMap<_, _> = row.iter_from(i64::MIN).map(|(key, n)| (key, *n)).collect();
            prop_assert_eq!(found, map.clone());
            for from in [i64::MIN, -3, 0, 10, i64::MAX - 2] {
                prop_assert!(row.iter_from(from).map(|(key, n)| (key, *n)).eq(
                    map.range(from..).map(|(key, n)| (*key, *n))
                ), "from {from}");
            }
        }
    }

    #[test]
    fn consecutive_keys_stand_in_the_row_alone() {
        let mut row = IntegerMap::default();
        for key in (1..1000).filter(|key| key % 3 > 0) {
            row.insert(key, ());
        }
        assert!(row.rest.is_empty());
    }
}
