//! Up to which size an engine that keeps values in two ways reads them faster in the way of small ones:
//! a sweep over the data's own sizes.

use checks::{LeftOut, Series, Threshold};
use model::{Accepts, Blobs, Cache, Case, Facet, Generated, Result, record::Record};
use stats::{Sized, break_even};

use super::{
    candidates::target,
    race::{Race, with},
};
use crate::{Data, Recorder, Request, StoreCache};

/// Sizes of a sweep are a factor of four apart, or closer, and so many at most.
const STEP: f64 = 4.0;
const SIZES: f64 = 6.0;
/// Generated values of each size: bytes together, the fewest and the most.
const BYTES: u64 = 16 << 20;
const KEYS: [u64; 2] = [8, 2_000];
/// Where no engine that is known changes sides.
const RANGE: [u64; 2] = [512, 4 << 20];

/// A size takes so many seconds at least.
const LEAST: f64 = 4.0;

/// The thresholds of all engines that have one, in so many seconds together; and the engines of which it
/// could not be measured.
pub(super) fn all(
    race: &Race<'_>,
    lengths: &[u64],
    seconds: f64,
) -> Result<(Vec<Threshold>, Vec<LeftOut>)> {
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    let engines = race.asked.engines.iter().copied();
    let engines: Vec<_> = engines.filter(|of| of.declaration().threshold.is_some()).collect();
    let share = seconds / engines.len().max(1) as f64;
    let sizes = sizes(lengths, (share / LEAST).floor().min(SIZES));
    if sizes.len() < 2 || race.asked.reads <= 0.0 {
        return Ok((found, failed));
    }
    for engine in engines {
        match threshold(race, engine, &sizes, share / sizes.len() as f64) {
            Ok(one) => found.extend(one),
            // The user wishes to stop, or the time of all is over.
            Err(error) if race.stop.check().is_err() => return Err(error),
            Err(error) => {
                let (name, why) = (engine.name().to_owned(), error.to_string());
                failed.push(LeftOut { name, why });
            }
        }
    }
    Ok((found, failed))
}

/// At most `count` sizes from one end of most of the data to the other, evenly on a logarithmic scale; one
/// or none: there is no threshold between them. `lengths` are ascending.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a size between two others"
)]
fn sizes(lengths: &[u64], count: f64) -> Vec<u64> {
    let [least, most] = RANGE;
    let at = |percent: usize| lengths[(lengths.len() - 1) * percent / 100].clamp(least, most);
    let (low, high) = (at(2) as f64, at(100) as f64);
    let steps = ((high / low).ln() / STEP.ln()).ceil().min(count - 1.0);
    if steps < 1.0 {
        return vec![low as u64];
    }
    let size = |step: usize| (low * (high / low).powf(step as f64 / steps)).round() as u64;
    (0..=steps as usize).map(size).collect()
}

/// The threshold of an engine, in so many seconds for each size; absent: it has too few rounds.
fn threshold(
    race: &Race<'_>,
    engine: &'static dyn Blobs,
    sizes: &[u64],
    seconds: f64,
) -> Result<Option<Threshold>> {
    let Some((name, [least, most])) = setting(engine) else { return Ok(None) };
    // The second is in the way of small values at any size.
    let ways = [least, most].map(|size| target(engine, &[format!("{name}={size}")]));
    let [large, small] = ways;
    let ways = vec![large?, small?];
    let mut curve = Vec::new();
    for size in sizes {
        let request = race.reading(ways.clone(), seconds);
        let request = of_size(request, *size);
        let record = race.run(&request, &mut StoreCache::default(), &mut Recorder::new(None))?;
        curve.extend(point(&record, *size));
    }
    let (engine, setting) = (engine.name().to_owned(), name.to_owned());
    let threshold =
        |found| Threshold { engine, setting, sizes: [sizes[0], sizes[sizes.len() - 1]], found };
    Ok(break_even(&curve).map(threshold))
}

/// The setting, with the least and the largest size that it takes.
fn setting(engine: &'static dyn Blobs) -> Option<(&'static str, [u64; 2])> {
    let name = engine.declaration().threshold?;
    let table = engine.settings(Facet::Blobs);
    let Accepts::Size(least, most) = table.iter().find(|of| of.name == name)?.accepts else {
        return None;
    };
    Some((name, [least, most]))
}

/// The same with generated values of one size.
fn of_size(request: Request, size: u64) -> Request {
    let [fewest, most] = KEYS;
    let count = (BYTES / size.max(1)).clamp(fewest, most);
    let seed = request.seed;
    let data = Generated { seed, count, size, variance: 0, random_percent: 100 };
    with(request, |part| part.data = Data::Generated(data))
}

/// The ratios at a size; absent: too few rounds.
fn point(record: &Record, size: u64) -> Option<Sized> {
    let cache = record.header.plan.caches.first().copied().unwrap_or(Cache::Warm);
    let small = Series::new(record, Case { workload: 0, cache }, 1);
    let ratios = small.ratios_to(small.of(0));
    (ratios.values.len() > 1).then_some(Sized { size: size as f64, ratios })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_data() {
        let six = |lengths| sizes(lengths, SIZES);
        assert_eq!(six(&[5_000]), [5_000]);
        assert_eq!(six(&[3_000, 10_000, 30_000]), [3_000, 9_487, 30_000]);
        // Not below or above what changes sides.
        assert_eq!(six(&[0, 0, 1]), [512]);
        let wide = six(&[1, 10, 1 << 40]);
        assert_eq!((wide[0], wide[wide.len() - 1], wide.len()), (512, 4 << 20, 6));
        assert!(wide.is_sorted());
        // One of a thousand is long.
        let mut lengths = vec![1_000; 999];
        lengths.push(200_000);
        assert_eq!(six(&lengths).last(), Some(&200_000));
        // With little time there are fewer.
        assert_eq!(sizes(&[1_000, 100_000], 2.0), [1_000, 100_000]);
        assert_eq!(sizes(&[1_000, 100_000], 1.0).len(), 1);
        assert_eq!(sizes(&[1_000, 100_000], 0.0).len(), 1);
    }
}
