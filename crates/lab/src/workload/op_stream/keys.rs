//! A worker's own keys while its operations are drawn: which are there, and which comes next.

use model::Order;
use rand_core::Rng;
use rand_distr::{Distribution, StandardUniform, Zipf};

use crate::dataset::{below, shuffle};

/// A chooser of keys by their index: those of the dataset first, then those that are inserted, in
/// that order.
pub(in crate::workload) struct KeyChooser {
    /// Whether each is there.
    there: Vec<bool>,
    /// How many are.
    count: u32,
    /// The next to be inserted.
    next: u32,
    choice: Choice,
}

/// The way in which a key is chosen.
enum Choice {
    Uniform,
    /// By rank; the keys in the order of their ranks.
    Zipfian(Zipf<f64>, Vec<u32>),
    /// The youngest first; the law for the number of keys that there were last.
    Latest(f64, u32, Zipf<f64>),
    /// The first so many keys of the order get that share of the operations.
    Hotspot {
        order: Vec<u32>,
        hot: u32,
        share: f64,
    },
}

/// The number of draws of a key that does not exist before the next one that exists is taken
/// instead.
const DRAWS: u32 = 64;

impl KeyChooser {
    /// Creates `own` keys that exist, and room for `inserts` that will.
    pub(in crate::workload) fn new(
        own: u32,
        inserts: u32,
        order: Order,
        random: &mut impl Rng,
    ) -> Self {
        let all = own + inserts;
        let mut there = vec![true; own as usize];
        there.resize(all as usize, false);
        let mut scattered = || {
            let mut order: Vec<u32> = (0..all).collect();
            shuffle(&mut order, random);
            order
        };
        let choice = match order {
            Order::Zipfian { theta } => Choice::Zipfian(zipf(all, theta), scattered()),
            Order::Latest { theta } => Choice::Latest(theta, own, zipf(own, theta)),
            Order::Hotspot { keys, operations } => Choice::Hotspot {
                order: scattered(),
                hot: hot(all, keys),
                share: f64::from(operations) / 100.0,
            },
            _ => Choice::Uniform,
        };
        Self { there, count: own, next: own, choice }
    }

    /// Inserts the next key.
    pub(super) fn insert(&mut self) -> u32 {
        let key = self.next;
        self.there[key as usize] = true;
        self.next += 1;
        self.count += 1;
        key
    }

    pub(super) fn delete(&mut self, key: u32) {
        self.there[key as usize] = false;
        self.count -= 1;
    }

    /// Returns a key that exists; `None` if there is none.
    pub(in crate::workload) fn choose(&mut self, random: &mut impl Rng) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        let mut key = 0;
        for _ in 0..DRAWS {
            key = self.draw(random);
            if self.there[key as usize] {
                return Some(key);
            }
        }
        let (before, after) = self.there.split_at(key as usize);
        let next = after.iter().chain(before).position(|there| *there)?;
        u32::try_from((key as usize + next) % self.there.len()).ok()
    }

    fn draw(&mut self, random: &mut impl Rng) -> u32 {
        match &mut self.choice {
            Choice::Uniform => one_of(self.next, random),
            Choice::Zipfian(law, order) => order[rank(law, self.there.len(), random) as usize],
            Choice::Latest(theta, keys, law) => {
                if *keys != self.next {
                    (*keys, *law) = (self.next, zipf(self.next, *theta));
                }
                self.next - 1 - rank(law, self.next as usize, random)
            }
            Choice::Hotspot { order, hot, share } => {
                let all = u32::try_from(order.len()).expect("as many as keys, which have 32 bits");
                let chance: f64 = StandardUniform.sample(random);
                let at = if chance < *share || *hot == all {
                    one_of(*hot, random)
                } else {
                    *hot + one_of(all - *hot, random)
                };
                order[at as usize]
            }
        }
    }
}

/// Returns Zipf's law: rank r, counted from 1, with a chance in proportion to r^-theta.
pub(super) fn zipf(ranks: u32, theta: f64) -> Zipf<f64> {
    Zipf::new(f64::from(ranks.max(1)), theta).expect("theta is not negative")
}

/// A rank, counted from 0, of so many.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from 1 to the number of ranks, which has 32 bits"
)]
pub(super) fn rank(law: &Zipf<f64>, ranks: usize, random: &mut impl Rng) -> u32 {
    // A float may be rounded up to one more.
    law.sample(random).min(ranks as f64) as u32 - 1
}

#[expect(clippy::cast_possible_truncation, reason = "below a number of 32 bits")]
pub(super) fn one_of(bound: u32, random: &mut impl Rng) -> u32 {
    below(random, u64::from(bound)) as u32
}

/// Returns `percent` percent of `all`, at least one.
fn hot(all: u32, percent: u8) -> u32 {
    let hot = u64::from(all) * u64::from(percent) / 100;
    u32::try_from(hot).expect("a part of 32 bits").max(1)
}
