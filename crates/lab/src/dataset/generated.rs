//! Datasets generated from a seed. Every value comes from a generator of its own, seeded by the
//! dataset's seed and the key, so that any value can be generated again at any time.

use std::{
    ops::{ControlFlow, RangeInclusive},
    path::Path,
};

use model::{
    Blobs, Capabilities, Declaration, Engine, Error, Generated, Item, Key, KeyKind, OpenOptions,
    Put, Result, Scan, Session, Store, Visitor,
};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::random::{below, fill};

/// The generator of a [`Generated`] dataset. It is an engine with one store, which exists only as a
/// seed and can be copied like any other.
#[derive(Clone, Copy)]
pub(crate) struct Generator {
    spec: Generated,
}

impl Generator {
    /// Refuses sizes below 0 and those that do not fit in memory.
    pub(crate) fn new(spec: Generated) -> Result<Self> {
        let Generated { count, size, variance, .. } = spec;
        let largest = size.saturating_add(variance);
        let bytes = u128::from(count) * u128::from(largest);
        let wrong = if count == 0 {
            "a dataset of 0 blobs; at least one is needed".to_owned()
        } else if variance > size {
            format!(
                "a variance of {variance} is larger than the size of {size}: sizes would be negative"
            )
        } else if largest > u64::from(u32::MAX) {
            format!("a size of {size} with a variance of {variance}: a blob has at most 4 GiB - 1")
        } else if i64::try_from(bytes).is_err() {
            format!("{count} blobs of {size} bytes: more than 2^63 bytes in all")
        } else {
            return Ok(Self { spec });
        };
        Err(Error::usage(wrong))
    }

    /// Returns the keys. The bytes are fewer than 2^63, so that the count fits if sizes do.
    fn range(&self) -> RangeInclusive<i64> {
        1..=i64::try_from(self.spec.count).unwrap_or(i64::MAX)
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

/// The odd number closest to 2^64 divided by the golden ratio: neighbouring keys get seeds far
/// apart (Knuth, The Art of Computer Programming, 6.4).
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

static DECLARATION: Declaration = Declaration {
    capabilities: Capabilities { meta: false, concurrent_writes: false, ..Capabilities::IN_MEMORY },
    ..Declaration::new("generated", "values generated from a seed, only to be read")
};

fn only_read() -> Error {
    Error::unsupported("a dataset generated from a seed can only be read")
}

impl Engine for Generator {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }
}

impl Blobs for Generator {
    fn create(&self, _: &Path, _: &OpenOptions) -> Result<Box<dyn Store>> {
        Err(only_read())
    }

    fn open(&self, _: &Path, _: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(Box::new(*self))
    }
}

impl Store for Generator {
    fn keys(&self) -> KeyKind {
        KeyKind::Integers
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(*self))
    }
}

impl Session for Generator {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let Key::Int(key) = key else { return Ok(None) };
        if !self.range().contains(&key) {
            return Ok(None);
        }
        let mut value = Vec::new();
        self.value(key.unsigned_abs(), &mut value);
        if let Some(room) = into.get_mut(..value.len()) {
            room.copy_from_slice(&value);
        }
        Ok(Some(value.len()))
    }

    fn put(&mut self, _: Key<'_>, _: &[u8], _: &Put) -> Result<bool> {
        Err(only_read())
    }

    fn delete(&mut self, _: Key<'_>) -> Result<bool> {
        Err(only_read())
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let least = Key::smallest(KeyKind::Integers);
        let Key::Int(from) = scan.from.unwrap_or(least) else { return Ok(()) };
        let all = self.range();
        let mut value = Vec::new();
        for (key, _) in (from.max(*all.start())..=*all.end()).zip(0..scan.limit) {
            let name = key.unsigned_abs();
            if scan.values {
                self.value(name, &mut value);
            }
            let length = self.draw_length(&mut self.random(name));
            let item = Item::new(Key::Int(key), &value, None);
            if visit(item.with_length(length))? == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(())
    }
}

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
