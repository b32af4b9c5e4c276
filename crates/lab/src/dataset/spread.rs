//! Parts of a dataset that are similar: rounds that touch a part of the keys each have values of all
//! sizes in proportion, so that a few large ones do not decide a round by chance.

use std::ops::Range;

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::{Dataset, below, shuffle};

/// The part of the keys that a round touches: rounds take the parts in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// Counted from 0.
    pub(crate) number: u64,
    /// How many parts there are.
    pub(crate) of: u64,
}

impl Part {
    /// The part with all keys.
    pub(crate) const ALL: Self = Self { number: 0, of: 1 };

    /// Returns the part of a round, out of `of` parts in turn. Each time that all had their turn they begin
    /// with another one, so that no part always meets the rounds of half a sample, each fourth, or those of one
    /// length of slices, each third.
    pub(crate) fn in_round(round: u32, of: u64) -> Self {
        let (round, of) = (u64::from(round), of.max(1));
        let is_apart = |ahead: &u64| [2, 3].iter().all(|step| !(of - ahead).is_multiple_of(*step));
        let ahead = (0..of).find(is_apart).unwrap_or(0);
        Self { number: (round + round / of * ahead) % of, of }
    }

    /// Returns the entries of the part, out of `entries`: parts differ by one entry at most.
    pub(super) fn range(self, entries: usize) -> Range<usize> {
        let cut = |number: u64| {
            let place = entries as u128 * u128::from(number) / u128::from(self.of);
            usize::try_from(place).expect("a place among the entries")
        };
        cut(self.number)..cut(self.number + 1)
    }
}

impl Dataset {
    /// Puts the entries into a random order, or `by_size` into one in which any row of neighbours has
    /// all sizes in proportion.
    ///
    /// For that, entries are ranked by size, equal ones at random, and the ranks are taken in the order
    /// of the van der Corput sequence (J. G. van der Corput, "Verteilungsfunktionen", 1935): `n`
    /// neighbours are about `entries / n` ranks apart.
    pub(crate) fn mix(&mut self, by_size: bool, seed: u64) {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
        shuffle(&mut self.entries, random);
        if !by_size {
            return;
        }
        self.entries.sort_by_key(|entry| entry.size);
        let bits = usize::BITS - self.entries.len().saturating_sub(1).leading_zeros();
        let shift = below(random, 1 << bits);
        let ranks = (0..1_u64 << bits).map(|place| match bits {
            0 => 0,
            bits => place.reverse_bits() >> (u64::BITS - bits) ^ shift,
        });
        let ranked = std::mem::take(&mut self.entries);
        let entry = |rank: u64| ranked.get(usize::try_from(rank).ok()?).copied();
        self.entries = ranks.filter_map(entry).collect();
    }

    /// Returns half of the keys, in the order of the entries here: every second one of some rows of neighbours
    /// in key order. So they share as many pages as all of half as many values do, and have sizes in the same
    /// proportion if these grow or shrink with the keys.
    pub(crate) fn half(&self) -> Self {
        /// The largest number of rows of neighbours.
        const ROWS: usize = 64;
        let mut half = self.clone();
        half.round = None;
        let mut ids: Vec<i64> = self.entries.iter().map(|entry| entry.id).collect();
        ids.sort_unstable();
        let rows = ids.len().min(ROWS);
        half.entries.retain(|entry| {
            let place = ids.partition_point(|id| *id < entry.id);
            (place * rows / ids.len()).is_multiple_of(2)
        });
        half
    }

    /// Leaves out each entry with a chance of one half.
    pub(crate) fn halve(&mut self, random: &mut Xoshiro256PlusPlus) {
        let all = std::mem::replace(self, Self { deflated: self.deflated, ..Self::new(self.keys) });
        for entry in all.entries.iter().filter(|_| below(random, 2) == 0) {
            let entered = self.enter(all.key(entry), entry.size, entry.check);
            entered.expect("a name that fitted once fits again");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::{Key, KeyKind, Order};

    use super::*;

    fn dataset(sizes: impl IntoIterator<Item = u32>) -> Dataset {
        let mut set = Dataset::new(KeyKind::Integers);
        for (key, size) in (0..).zip(sizes) {
            set.push_sized(Key::Int(key), size).unwrap();
        }
        set
    }

    fn keys(set: &Dataset) -> Vec<String> {
        set.round_entries().iter().map(|entry| set.key(entry).to_string()).collect()
    }

    #[test]
    fn every_entry_is_there_once_in_another_order() {
        for count in [1, 2, 3, 255, 256, 257, 1000] {
            let mut set = dataset((0..count).map(|n| n * 7 % 13));
            let before: BTreeSet<_> = keys(&set).into_iter().collect();
            set.mix(true, 5);
            assert_eq!(keys(&set).into_iter().collect::<BTreeSet<_>>(), before);
            assert_eq!(set.entries().len(), count as usize);
        }
        let (mut one, mut other) = (dataset(0..1000), dataset(0..1000));
        one.mix(true, 1);
        other.mix(true, 2);
        assert_ne!(keys(&one), keys(&other), "another seed");
        let mut equal = dataset([7; 1000]);
        equal.mix(true, 1);
        assert_ne!(keys(&equal), keys(&dataset([7; 1000])), "not the order of insertion");
    }

    /// Sizes from 1 to a million, most of them small: the sum of a part of all keys differs by less
    /// than the largest values of a part do.
    #[test]
    fn parts_have_all_sizes_in_proportion() {
        let sizes = |count: u32| (0..count).map(move |n| 1_000_000 / (n + 1));
        for (count, of) in [(5_000, 7), (4_096, 16), (100_000, 40)] {
            let mut set = dataset(sizes(count));
            let mean = sizes(count).skip(of).map(f64::from).sum::<f64>() / of as f64;
            set.mix(true, 3);
            let large = 1_000_000 / u32::try_from(of).unwrap();
            for number in 0..of as u64 {
                set.arrange(Order::Permutation, None, Part { number, of: of as u64 }, number);
                let part: Vec<_> = set.round_entries().iter().map(|entry| entry.size).collect();
                assert!(part.iter().filter(|size| **size > large).count() <= 3, "{part:?}");
                let small = part.iter().filter(|size| **size <= large);
                let sum: f64 = small.map(|size| f64::from(*size)).sum();
                assert!((0.8..1.2).contains(&(sum / mean)), "{count} {of} {number}: {sum} {mean}");
            }
        }
    }

    #[test]
    fn parts_are_apart_and_together_all() {
        let mut set = dataset(0..1003);
        set.mix(true, 9);
        let mut seen = BTreeSet::new();
        for round in 0..10 {
            set.arrange(Order::Permutation, None, Part::in_round(round, 10), round.into());
            let part = keys(&set);
            assert!((100..=101).contains(&part.len()));
            assert_eq!(keys(&set.of_round(0)), part, "the same in a dataset of its own");
            let led = keys(&set.of_round(7));
            assert_eq!(led[7..], part);
            assert!(led[..7].iter().all(|key| !part.contains(key)));
            assert_eq!(set.of_round(5000).entries().len(), 1003, "each key once");
            assert!(part.into_iter().all(|key| seen.insert(key)), "no key comes twice");
        }
        assert_eq!(seen.len(), 1003);
        set.arrange(Order::Permutation, None, Part::in_round(12, 10), 1);
        assert!(keys(&set).iter().all(|key| seen.contains(key)));
        set.arrange(Order::Asc, None, Part::ALL, 0);
        assert_eq!(set.round_entries().len(), 1003);
    }

    #[test]
    fn each_part_meets_rounds_of_all_kinds() {
        for of in 1..=100_u32 {
            let mut met = BTreeSet::new();
            for round in 0..40 * of {
                let part = Part::in_round(round, of.into()).number;
                met.extend([(part, 3, round % 3), (part, 4, round % 4)]);
            }
            // Of two, one has all rounds of half a sample.
            let missing = if of == 2 { 4 } else { 0 };
            assert_eq!(met.len() + missing, of as usize * 7, "{of}");
            let first: BTreeSet<_> = (0..of).map(|n| Part::in_round(n, of.into()).number).collect();
            assert_eq!(first.len(), of as usize);
        }
    }

    #[test]
    fn half_of_the_keys_are_neighbours_of_all_sizes() {
        let mut set = dataset(0..6400);
        set.mix(true, 4);
        let half = set.half();
        let mut keys: Vec<i64> = keys(&half).iter().map(|key| key.parse().unwrap()).collect();
        keys.sort_unstable();
        assert_eq!(keys, (0..6400).filter(|key| key / 100 % 2 == 0).collect::<Vec<_>>());
        let mean = |set: &Dataset| set.summary().bytes as f64 / set.entries().len() as f64;
        assert!((0.97..1.03).contains(&(mean(&half) / mean(&set))));
        for (count, expected) in [(1, 1), (2, 1), (3, 2), (65, 33)] {
            assert_eq!(dataset(0..count).half().entries().len(), expected, "{count}");
        }
    }

    #[test]
    fn half_of_the_entries_are_left_with_their_names() {
        let mut set = Dataset::new(KeyKind::Names);
        for number in 0..1000 {
            set.push(Key::Name(format!("{number:04}").as_bytes()), b"value").unwrap();
        }
        let all = keys(&set);
        set.halve(&mut Xoshiro256PlusPlus::seed_from_u64(1));
        let left = keys(&set);
        assert!((400..600).contains(&left.len()) && left.is_sorted());
        assert!(left.iter().all(|name| all.contains(name)));
    }
}
