//! The history of a store: which objects are written in which sizes until which age, drawn before
//! anything is measured and the same for every target of a round.

use model::{Generated, Key, KeyKind, Order, Result};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    Stop,
    dataset::{Dataset, Part, Pool, Use, below, derive},
};

/// The writes that lead to one storage age, and the objects that are live then.
pub(super) struct AgeStep {
    pub(super) age: u32,
    /// Names the payloads of its writes.
    pub(super) salt: u64,
    /// The writes that lead up to it, in their order: at age 0 each object once.
    pub(super) writes: Dataset,
    /// The objects that live then, in the order in which they are read.
    pub(super) live: Dataset,
}

/// Draws the history of `seed` through `ages` in their order; age 0 always comes first.
///
/// Storage age is bytes of replaced objects divided by bytes of live ones (Sears, van Ingen and
/// Gray, MSR-TR-2006-45): objects are replaced at random, each time in a size drawn again, until
/// those replaced since the start have that many times the bytes of the live ones.
pub(super) fn draw(
    spec: &Generated,
    ages: &[u32],
    seed: u64,
    pool: &Pool,
    stop: &Stop,
) -> Result<Vec<AgeStep>> {
    let mut objects = Objects {
        spec,
        stop,
        random: Xoshiro256PlusPlus::seed_from_u64(seed),
        last: Vec::new(),
        live: 0,
        replaced: 0,
    };
    let later = ages.iter().copied().filter(|age| *age > 0);
    let steps = [0].into_iter().chain(later).map(|age| {
        let salt = derive(seed, Use::Payloads, age.into());
        let writes = if age == 0 { objects.fill(salt) } else { objects.replace(age, salt) }?;
        let mut live = objects.dataset(pool)?;
        live.arrange(Order::Permutation, None, Part::ALL, derive(seed, Use::Keys, age.into()));
        Ok(AgeStep { age, salt, writes, live })
    });
    steps.collect()
}

struct Objects<'a> {
    spec: &'a Generated,
    stop: &'a Stop,
    random: Xoshiro256PlusPlus,
    /// The last version of each object.
    last: Vec<ObjectVersion>,
    /// Bytes of those.
    live: u64,
    /// Bytes of all that were replaced.
    replaced: u64,
}

#[derive(Clone, Copy)]
struct ObjectVersion {
    salt: u64,
    position: u64,
    size: u32,
}

impl Objects<'_> {
    fn fill(&mut self, salt: u64) -> Result<Dataset> {
        let mut writes = Dataset::new(KeyKind::Integers);
        for position in 0..self.spec.count {
            self.stop.check()?;
            let size = self.size();
            self.live += u64::from(size);
            self.last.push(ObjectVersion { salt, position, size });
            writes.push_sized(Key::Int(key(position)), size)?;
        }
        Ok(writes)
    }

    fn replace(&mut self, age: u32, salt: u64) -> Result<Dataset> {
        let mut writes = Dataset::new(KeyKind::Integers);
        for position in 0.. {
            self.stop.check()?;
            let object = below(&mut self.random, self.spec.count);
            let size = self.size();
            let place = usize::try_from(object).expect("objects are in memory");
            let old =
                std::mem::replace(&mut self.last[place], ObjectVersion { salt, position, size });
            self.live = self.live - u64::from(old.size) + u64::from(size);
            self.replaced += u64::from(old.size);
            writes.push_sized(Key::Int(key(object)), size)?;
            if self.replaced >= self.live.saturating_mul(age.into()) {
                break;
            }
        }
        Ok(writes)
    }

    /// Draws a size, uniformly from the middle size minus the variance to the middle size plus it.
    #[expect(clippy::cast_possible_truncation, reason = "sizes fit in 32 bits, checked before")]
    fn size(&mut self) -> u32 {
        let Generated { size, variance, .. } = *self.spec;
        (size - variance + below(&mut self.random, 2 * variance + 1)) as u32
    }

    fn dataset(&self, pool: &Pool) -> Result<Dataset> {
        let mut dataset = Dataset::new(KeyKind::Integers);
        for (object, last) in (0..).zip(&self.last) {
            self.stop.check()?;
            let value = pool.slice(last.salt, last.position, last.size);
            dataset.push(Key::Int(key(object)), value)?;
        }
        Ok(dataset)
    }
}

/// Returns the key of an object: keys start at 1, as those of generated data do.
fn key(object: u64) -> i64 {
    object.cast_signed() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: Generated =
        Generated { seed: 0, count: 200, size: 1000, variance: 500, random_percent: 100 };

    fn drawn(ages: &[u32], seed: u64) -> Vec<AgeStep> {
        draw(&SPEC, ages, seed, &Pool::new(1, 1500, 100), &Stop::new()).unwrap()
    }

    fn sizes(dataset: &Dataset) -> Vec<(Key<'_>, u32)> {
        dataset.entries().iter().map(|entry| (dataset.key(entry), entry.size)).collect()
    }

    #[test]
    fn objects_are_replaced_until_the_age_is_reached() {
        let steps = drawn(&[0, 2, 5], 7);
        assert_eq!(steps.iter().map(|step| step.age).collect::<Vec<_>>(), [0, 2, 5]);
        let mut last: std::collections::BTreeMap<_, _> =
            sizes(&steps[0].writes).into_iter().collect();
        assert_eq!(last.len(), 200);
        let mut replaced = 0;
        for step in &steps[1..] {
            for (key, size) in sizes(&step.writes) {
                replaced += u64::from(last.insert(key, size).unwrap());
            }
            let live = step.live.summary();
            assert_eq!(live.bytes, last.values().map(|size| u64::from(*size)).sum::<u64>());
            let age = replaced as f64 / live.bytes as f64;
            let beyond = age - f64::from(step.age);
            // The last object replaced is one of two hundred.
            assert!((0.0..0.02).contains(&beyond), "{age} for {}", step.age);
        }
    }

    #[test]
    fn sizes_are_uniform_over_the_variance_and_drawn_again() {
        let steps = drawn(&[20], 3);
        let sizes = sizes(&steps[1].writes);
        assert!(sizes.iter().all(|(_, size)| (500..=1500).contains(size)));
        // About 4,000 writes: a quarter of them in each quarter, 5 standard deviations are 140.
        let low = sizes.iter().filter(|(_, size)| *size < 750).count();
        assert!(low.abs_diff(sizes.len() / 4) < 140, "{low} of {}", sizes.len());
    }

    #[test]
    fn the_same_seed_draws_the_same_history_and_another_another() {
        let shown = |seed| {
            let steps = drawn(&[0, 1], seed);
            let shown =
                steps.iter().map(|step| format!("{:?}{:?}", sizes(&step.writes), step.live));
            shown.collect::<String>()
        };
        assert_eq!(shown(1), shown(1));
        assert_ne!(shown(1), shown(2));
    }

    #[test]
    fn one_object_of_one_byte_or_none_ages_too() {
        let spec = Generated { seed: 0, count: 1, size: 1, variance: 1, random_percent: 100 };
        let steps = draw(&spec, &[1, 3], 5, &Pool::new(1, 2, 100), &Stop::new()).unwrap();
        assert!(steps.iter().all(|step| !step.writes.entries().is_empty()));
    }
}
