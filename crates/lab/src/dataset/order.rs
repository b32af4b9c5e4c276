//! The order in which a pass touches the keys. Entries are reordered in place, so that an order
//! costs no memory. If keys are drawn at random (`op_stream`), they are in key order.

use model::Order;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Dataset, Entry};

/// A number below `bound`, without bias worth naming: the high half of a 64-bit product
/// (Lemire, "Fast Random Integer Generation in an Interval", 2019, without its rejection step;
/// the bias is below `bound` / 2^64).
pub(crate) fn below(random: &mut impl Rng, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// Fisher and Yates.
#[expect(clippy::cast_possible_truncation, reason = "below the number of items")]
pub(crate) fn shuffle<T>(items: &mut [T], random: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(random, last as u64 + 1) as usize);
    }
}

impl Dataset {
    /// Keeps only the keys up to `max`.
    pub(crate) fn limit(&mut self, max: i64) {
        self.entries.retain(|entry| entry.id <= max);
    }

    /// Entries come in key order, names too: their ids ascend with the names.
    fn sort(&mut self) {
        self.entries.sort_unstable_by_key(|entry| entry.id);
    }

    /// Puts the entries into the order of one round. `start` is the first key of a fixed order,
    /// which continues with the first key at its end, as kvtest's does.
    pub(crate) fn arrange(&mut self, order: Order, start: Option<i64>, seed: u64) {
        match order {
            Order::Permutation => {
                shuffle(&mut self.entries, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
            }
            Order::Random
            | Order::Zipfian { .. }
            | Order::Latest { .. }
            | Order::Hotspot { .. } => self.sort(),
            Order::Asc => {
                self.sort();
                let first = start.map_or(0, |start| self.entries.partition_point(|e| e.id < start));
                self.entries.rotate_left(first);
            }
            Order::Desc => {
                self.sort();
                self.entries.reverse();
                let first = start.map_or(0, |start| self.entries.partition_point(|e| e.id > start));
                self.entries.rotate_left(first);
            }
        }
    }
}

/// Walks a worker's share of the entries for as long as it is asked to, from the start again
/// after the last.
pub(crate) struct Cursor<'a> {
    entries: &'a [Entry],
    next: usize,
}

impl<'a> Cursor<'a> {
    /// Walks `entries`, which must not be empty, in their order.
    pub(crate) fn new(entries: &'a [Entry]) -> Self {
        Self { entries, next: 0 }
    }

    /// The next entry.
    #[inline]
    pub(crate) fn advance(&mut self) -> &'a Entry {
        let at = self.next;
        self.next = if at + 1 == self.entries.len() { 0 } else { at + 1 };
        &self.entries[at]
    }
}

#[cfg(test)]
mod tests {
    use model::{Key, KeyKind};

    use super::*;

    fn dataset(keys: impl IntoIterator<Item = i64>) -> Dataset {
        let mut dataset = Dataset::new(KeyKind::Integers);
        for key in keys {
            dataset.push(Key::Int(key), b"value").unwrap();
        }
        dataset
    }

    fn keys(dataset: &Dataset) -> Vec<i64> {
        dataset.entries.iter().map(|entry| entry.id).collect()
    }

    #[test]
    fn a_permutation_touches_every_key_once_and_is_not_the_order_of_insertion() {
        let mut set = dataset(1..=1000);
        set.arrange(Order::Permutation, None, 1);
        let shuffled = keys(&set);
        assert_ne!(shuffled, (1..=1000).collect::<Vec<_>>());
        set.arrange(Order::Asc, None, 1);
        assert_eq!(keys(&set), (1..=1000).collect::<Vec<_>>());
    }

    #[test]
    fn the_same_seed_gives_the_same_order_and_another_seed_another() {
        let arranged = |seed| {
            let mut set = dataset(1..=100);
            set.arrange(Order::Permutation, None, seed);
            keys(&set)
        };
        assert_eq!(arranged(7), arranged(7));
        assert_ne!(arranged(7), arranged(8));
    }

    #[test]
    fn fixed_orders_start_where_asked_and_wrap_around() {
        let mut set = dataset([1, 3, 5, 7]);
        set.arrange(Order::Asc, Some(4), 0);
        assert_eq!(keys(&set), [5, 7, 1, 3]);
        set.arrange(Order::Desc, Some(4), 0);
        assert_eq!(keys(&set), [3, 1, 7, 5]);
    }

    #[test]
    fn a_shuffle_favours_no_order() {
        // 6 orders of 3 items, 6000 shuffles: each comes about 1000 times; 5 standard
        // deviations are 144.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, &mut random);
            *seen.entry(items).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|count: &i32| (count - 1000).abs() < 150), "{seen:?}");
    }

    #[test]
    fn a_cursor_wraps_around() {
        let set = dataset([10, 20, 30]);
        let mut cursor = Cursor::new(&set.entries);
        let walked: Vec<_> = (0..5).map(|_| cursor.advance().id).collect();
        assert_eq!(walked, [10, 20, 30, 10, 20]);
    }
}
