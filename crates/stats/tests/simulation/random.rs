//! Random numbers, the same everywhere.

use std::f64::consts::TAU;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

/// `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014).
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Above 0 and below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    pub(crate) fn happens(&mut self, chance: f64) -> bool {
        self.unit() < chance
    }

    /// Standard normal (Box and Muller, 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (TAU * self.unit()).cos()
    }

    /// Fisher and Yates.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let pick = self.bits() % (last as u64 + 1);
            let pick = usize::try_from(pick).expect("an index is at most `last`");
            items.swap(last, pick);
        }
    }
}
