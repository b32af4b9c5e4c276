//! The steps of every target in a round: which values are looked up, changed and deleted, in which
//! order, all drawn before anything is measured.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::dataset::{Dataset, Use, below, derive, shuffle};

/// The number of values of which one changes on a day.
const CHANGED: u64 = 100;

/// A value that is looked up, written or deleted.
#[derive(Clone, Copy)]
pub(super) struct Touched {
    /// Index among the entries of the dataset.
    pub(super) place: usize,
    /// Its length, or the one that it gets.
    pub(super) size: u32,
}

pub(super) struct Drawn {
    /// The order in which all values are looked up.
    pub(super) order: Vec<Touched>,
    /// The values that change on each day.
    pub(super) days: Vec<Vec<Touched>>,
    /// The order in which all are deleted.
    deleted: Vec<Touched>,
    seed: u64,
}

/// Returns how many of `values` change on a day.
pub(super) fn changes(values: u64) -> u64 {
    values.div_ceil(CHANGED)
}

impl Drawn {
    /// Draws a round over `dataset`, which has a value at least. The length of a new value is that of
    /// another one, drawn as well.
    pub(super) fn new(dataset: &Dataset, days: u32, seed: u64) -> Self {
        let entries = dataset.entries();
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
        let all = (0..).zip(entries).map(|(place, entry)| Touched { place, size: entry.size });
        let mut order: Vec<_> = all.collect();
        let mut deleted = order.clone();
        shuffle(&mut order, random);
        shuffle(&mut deleted, random);
        let mut one = || usize::try_from(below(random, entries.len() as u64));
        let mut any = || one().expect("entries are in memory");
        let mut change = || Touched { place: any(), size: entries[any()].size };
        let days =
            (0..days).map(|_| (0..changes(entries.len() as u64)).map(|_| change()).collect());
        Self { days: days.collect(), order, deleted, seed }
    }

    /// Returns the values that are deleted first, and the others.
    pub(super) fn halves(&self) -> (&[Touched], &[Touched]) {
        self.deleted.split_at(self.deleted.len() / 2)
    }

    pub(super) fn salt(&self, day: usize) -> u64 {
        derive(self.seed, Use::Payloads, day as u64)
    }
}
