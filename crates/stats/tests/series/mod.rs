//! Made-up times of one target over rounds, of known shape: what is seen in them?
//!
//! Shared by the tests and by the example that prints the tables of `docs/method-proof.md`.
#![allow(dead_code, reason = "each user needs a part of it")]

#[path = "../simulation/random.rs"]
mod random;
mod shape;

use random::Random;
pub(crate) use shape::Shape;
use storemark_stats::{trend, two_modes};

/// About the spread of times on a quiet machine.
const SIGMA: f64 = 0.03;

/// What a report calls drift.
const P: f64 = 0.01;

/// Many runs of `rounds` rounds each.
#[derive(Clone, Copy)]
pub(crate) struct Runs {
    pub(crate) shape: Shape,
    pub(crate) rounds: usize,
    /// Times of the last round over those of the first, noise aside.
    pub(crate) growth: f64,
    pub(crate) count: usize,
}

impl Runs {
    /// The same each time: the seed is fixed.
    pub(crate) fn times(self) -> impl Iterator<Item = Vec<f64>> {
        let mut random = Random::new(1);
        (0..self.count).map(move |_| self.shape.times(&mut random, self.rounds, SIGMA, self.growth))
    }

    /// Share of runs that are called drifting.
    pub(crate) fn drifting(self) -> f64 {
        self.share(|times| trend(times).is_some_and(|trend| trend.p < P))
    }

    /// Share of runs that are said to have two modes.
    pub(crate) fn with_modes(self) -> f64 {
        self.share(|times| two_modes(times).is_some())
    }

    fn share(self, holds: fn(&[f64]) -> bool) -> f64 {
        self.times().filter(|times| holds(times)).count() as f64 / self.count as f64
    }
}
