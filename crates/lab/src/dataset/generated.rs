//! Datasets generated from a seed. Every value comes from a generator of its own, seeded by the
//! dataset's seed and the key, so that any value can be generated again at any time.

use model::{Error, Generated, Result};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::order::below;
use super::payload::fill;

/// Generates the values of a [`Generated`] dataset.
pub(crate) struct Generator {
    spec: Generated,
}

impl Generator {
    /// Refuses sizes below 0 and those that do not fit in memory.
    pub(crate) fn new(spec: Generated) -> Result<Self> {
        let Generated { count, size, variance, .. } = spec;
        if count == 0 {
            return Err(Error::usage("a dataset of 0 blobs; at least one is needed"));
        }
        if variance > size {
            return Err(Error::usage(format!(
                "a variance of {variance} is larger than the size of {size}: sizes would be negative"
            )));
        }
        if size.checked_add(variance).is_none_or(|largest| largest > u64::from(u32::MAX)) {
            return Err(Error::usage(format!(
                "a size of {size} with a variance of {variance}: a blob has at most 4 GiB - 1"
            )));
        }
        let largest = u128::from(size + variance);
        if i64::try_from(u128::from(count) * largest).is_err() {
            return Err(Error::usage(format!(
                "{count} blobs of {size} bytes: more than 2^63 bytes in all"
            )));
        }
        Ok(Self { spec })
    }

    /// The largest key; the smallest is 1.
    pub(crate) fn count(&self) -> u64 {
        self.spec.count
    }

    /// Length of the value of `key`.
    pub(crate) fn length(&self, key: u64) -> u64 {
        self.draw_length(&mut self.random(key))
    }

    /// Replaces the contents of `into` by the value of `key`.
    pub(crate) fn value(&self, key: u64, into: &mut Vec<u8>) {
        let mut random = self.random(key);
        let length = self.draw_length(&mut random);
        into.resize(usize::try_from(length).expect("sizes fit in 32 bits, checked in new"), 0);
        fill(into, self.spec.random_percent, &mut random);
    }

    fn random(&self, key: u64) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(self.spec.seed ^ key.wrapping_mul(ODD))
    }

    fn draw_length(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        let Generated { size, variance, .. } = self.spec;
        size - variance + below(random, 2 * variance + 1)
    }
}

/// 2^64 divided by the golden ratio, odd: neighbouring keys get seeds far apart (Knuth, The Art
/// of Computer Programming, 6.4).
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    fn generator(count: u64, size: u64, variance: u64) -> Result<Generator> {
        Generator::new(Generated { seed: 42, count, size, variance, random_percent: 100 })
    }

    #[test]
    fn sizes_are_uniform_within_the_variance() {
        let generator = generator(10_000, 100, 20).unwrap();
        let mut seen = [0u32; 41];
        let mut value = Vec::new();
        for key in 1..=10_000 {
            generator.value(key, &mut value);
            seen[value.len() - 80] += 1;
        }
        // 10,000 draws over 41 sizes: 244 each, 5 standard deviations are 77.
        assert!(seen.iter().all(|&n| (160..330).contains(&n)), "{seen:?}");
    }

    #[test]
    fn a_value_can_be_generated_again_and_differs_from_its_neighbours() {
        let generator = generator(10, 64, 0).unwrap();
        let value = |key| {
            let mut value = Vec::new();
            generator.value(key, &mut value);
            value
        };
        assert_eq!(value(3), value(3));
        assert_ne!(value(3), value(4));
    }

    #[test]
    fn impossible_sizes_are_refused() {
        assert!(generator(0, 10, 0).is_err());
        assert!(generator(1, 10, 11).is_err());
        assert!(generator(1, u64::MAX, 1).is_err());
        assert!(generator(u64::MAX, 1 << 31, 0).is_err());
        assert!(generator(1, 0, 0).is_ok());
    }
}
