//! The commits of a seed: what each changes, and the values.

use std::collections::BTreeSet;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::dataset::{Use, below, derive};

/// The most keys that a store has.
const KEYS: u64 = 60;
/// The keys of the first commit; more are used later, so that the store grows.
const FIRST_KEYS: u64 = 8;
/// The shortest value in bytes, and how often it is doubled at most: the longest has 100 kB.
const SHORTEST: u64 = 100;
const DOUBLED: u64 = 9;
/// The most changes of a commit.
const MOST_CHANGES: u64 = 6;

/// The number of a commit, from 1. 0 is the empty store.
pub(super) type Number = u64;

/// The change of a key by a commit: the length of its new value, or `None` if it is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) key: u64,
    pub(super) length: Option<usize>,
}

/// All commits up to a number.
pub(super) struct History {
    seed: u64,
    commits: Vec<Vec<Change>>,
}

impl History {
    /// Generates the commits 1 to `count`. The same seed gives the same commits for every count.
    pub(super) fn new(seed: u64, count: Number) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(derive(seed, Use::Commits, 0));
        let mut existing = BTreeSet::new();
        let commits = (1..=count).map(|number| commit(number, &mut existing, &mut random));
        Self { seed, commits: commits.collect() }
    }

    /// Returns the changes of commit `number`, one for each of its keys.
    pub(super) fn changes(&self, number: Number) -> &[Change] {
        let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        place.and_then(|place| self.commits.get(place)).map_or(&[], Vec::as_slice)
    }

    /// Returns the versions of `key` by commits up to `last`, the latest first.
    pub(super) fn versions(
        &self,
        key: u64,
        last: Number,
    ) -> impl Iterator<Item = (Number, Option<usize>)> {
        let of_key = move |number| {
            let changed = self.changes(number).iter().find(|change| change.key == key);
            changed.map(|change| (number, change.length))
        };
        (1..=last).rev().filter_map(of_key)
    }

    /// Returns the value that commit `number` gives `key`.
    pub(super) fn value(&self, key: u64, number: Number, length: usize) -> Vec<u8> {
        let seed = derive(self.seed, Use::Commits, number * KEYS + key + 1);
        let mut value = vec![0; length];
        Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut value);
        value
    }
}

/// Draws a commit, and applies it to the keys that exist.
fn commit(
    number: Number,
    existing: &mut BTreeSet<u64>,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<Change> {
    let keys = (FIRST_KEYS + number / 2).min(KEYS);
    let count = if below(random, 3) > 0 { 1 } else { 2 + below(random, MOST_CHANGES - 1) };
    let mut changes: Vec<Change> = Vec::new();
    while (changes.len() as u64) < count {
        let key = below(random, keys);
        if changes.iter().any(|change| change.key == key) {
            continue;
        }
        let delete = below(random, 5) == 0 && existing.contains(&key);
        let length = (!delete).then(|| length(random));
        if delete {
            existing.remove(&key);
        } else {
            existing.insert(key);
        }
        changes.push(Change { key, length });
    }
    changes
}

/// Draws the length of a value: each power of two is as likely as the next.
fn length(random: &mut Xoshiro256PlusPlus) -> usize {
    let least = SHORTEST << below(random, DOUBLED + 1);
    usize::try_from(least + below(random, least)).expect("a length of 100 kB at most")
}

/// Returns the name of a key, which is in one of four folders.
pub(super) fn name(key: u64) -> String {
    format!("{}/{key:03}", key % 4)
}

/// Returns the key that has this name.
pub(super) fn key(name: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(name).ok()?;
    let key = text.rsplit_once('/')?.1.parse().ok()?;
    (self::name(key) == text).then_some(key)
}
