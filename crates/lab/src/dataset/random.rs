//! All that is drawn at random: one recorded seed for many independent uses, and bytes to write,
//! generated before any clock starts.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// The use of a derived seed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Use {
    Keys,
    Trials,
    Turns,
    Payloads,
    Picks,
    Pool,
    Check,
    Series,
    Age,
    Sample,
    Commits,
}

/// Derives a seed for one use and index from the run's seed.
pub(crate) fn derive(seed: u64, purpose: Use, index: u64) -> u64 {
    let input = [seed, purpose as u64, index].map(u64::to_le_bytes).concat();
    let digest = blake3::hash(&input);
    u64::from_le_bytes(*digest.as_bytes().first_chunk().expect("a digest has 32 bytes"))
}

/// Returns the seed of the `index`-th in a series of runs: 32 bits, which are easy to type again.
pub fn nth_seed(seed: u64, index: u64) -> u64 {
    derive(seed, Use::Series, index) >> 32
}

/// Returns a number below `bound`: the high half of a 64-bit product (Lemire, "Fast Random Integer
/// Generation in an Interval", 2019, without its rejection step). The bias is below `bound` / 2^64.
pub(crate) fn below(random: &mut impl Rng, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// Shuffles items after Fisher and Yates.
#[expect(clippy::cast_possible_truncation, reason = "below the number of items")]
pub(crate) fn shuffle<T>(items: &mut [T], random: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(random, last as u64 + 1) as usize);
    }
}

/// The distance over which slices can begin: the chance that two are the same is one in 8 million.
const SPREAD: usize = 8 << 20;

/// The bytes of a piece of which some are random and the rest zeros: several in most values, and
/// long enough that a compressor's own bytes for a row of zeros hardly count.
const PIECE: usize = 256;

/// Fills `bytes`, random ones that many percent of them.
pub(crate) fn fill(bytes: &mut [u8], percent: u8, random: &mut impl Rng) {
    if percent >= 100 {
        return random.fill_bytes(bytes);
    }
    for piece in bytes.chunks_mut(PIECE) {
        let (own, rest) = piece.split_at_mut(piece.len() * usize::from(percent) / 100);
        random.fill_bytes(own);
        rest.fill(0);
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct PoolSpec {
    pub(crate) seed: u64,
    pub(crate) largest: u64,
    pub(crate) random_percent: u8,
}

/// A pool of random bytes. Its slices are at a place that depends on the pass and the operation, so
/// that no value is overwritten by itself.
pub(crate) struct Pool {
    spec: PoolSpec,
    bytes: Vec<u8>,
}

impl From<PoolSpec> for Pool {
    fn from(PoolSpec { seed, largest, random_percent }: PoolSpec) -> Self {
        Self::new(seed, largest, random_percent)
    }
}

impl Pool {
    /// Creates a pool for values of up to `largest` bytes, `percent` of them random.
    pub(crate) fn new(seed: u64, largest: u64, percent: u8) -> Self {
        let largest = usize::try_from(largest).expect("a value fits in memory");
        let mut bytes = vec![0; SPREAD + largest];
        fill(&mut bytes, percent, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        Self { spec: PoolSpec { seed, largest: largest as u64, random_percent: percent }, bytes }
    }

    /// Returns what another process generates the same pool from.
    pub(crate) fn spec(&self) -> PoolSpec {
        self.spec
    }

    /// Returns the payload of the operation at `position` of the pass that `salt` identifies.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "below SPREAD")]
    pub(crate) fn slice(&self, salt: u64, position: u64, size: u32) -> &[u8] {
        // The multiplier of a 64-bit congruential generator (Steele and Vigna, 2021); the high
        // bits are the well-mixed ones.
        let mixed = (salt ^ position).wrapping_mul(0xd134_2543_de82_ef95);
        let at = (mixed >> (64 - SPREAD.trailing_zeros())) as usize;
        &self.bytes[at..at + size as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_and_positions_get_different_bytes_of_the_size_asked_for() {
        let pool = Pool::new(1, 100, 100);
        assert_eq!(pool.slice(5, 7, 100).len(), 100);
        assert_eq!(pool.slice(5, 7, 100), pool.slice(5, 7, 100));
        assert_ne!(pool.slice(5, 7, 100), pool.slice(6, 7, 100));
        assert_ne!(pool.slice(5, 7, 100), pool.slice(5, 8, 100));
        assert!(pool.slice(u64::MAX, 0, 0).is_empty());
    }
}
