//! Up to which size an engine that keeps values in two ways reads them faster in the way of small ones:
//! a coarse sweep over the data's own sizes, then sizes where it seems to cross.

use checks::{LeftOut, Series, Threshold};
use model::{
    Accepts, Blobs, Cache, Case, Facet, Generated, Result,
    record::Record,
    units::{duration_of, whole},
};
use stats::{Crossing, Sized, break_even};

use super::{
    candidates::target,
    race::{Race, with},
};
use crate::{
    Data, Recorder, Request, ResolvedTarget, StoreCache,
    budget::{Budget, guessed},
};

/// The largest factor between two sizes of the sweep.
const STEP: f64 = 16.0;
/// The largest number of sizes of the sweep.
const SIZES: f64 = 4.0;
/// The factor within which a size is too close to a measured one to be measured.
const CLOSE: f64 = 1.1;
/// The bytes of the generated values of each size.
const BYTES: u64 = 8 << 20;
/// The smallest and the largest number of generated values of each size.
const KEYS: [u64; 2] = [8, 2_000];
/// The sizes between which a threshold is expected.
const RANGE: [u64; 2] = [512, 4 << 20];

/// Measures the thresholds of all engines that have one, in this time together. Returns them, and
/// the engines whose threshold could not be measured.
pub(super) fn measure_all(
    race: &Race<'_>,
    lengths: &[u64],
    seconds: f64,
) -> Result<(Vec<Threshold>, Vec<LeftOut>)> {
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    let engines = race.asked.engines.iter().copied();
    let engines: Vec<_> = engines.filter(|of| of.declaration().threshold.is_some()).collect();
    let share = seconds / engines.len().max(1) as f64;
    let sizes = sizes(lengths, (share / guessed::SIZE).floor().min(SIZES));
    if sizes.len() < 2 || race.asked.reads <= 0.0 {
        return Ok((found, failed));
    }
    for engine in engines {
        match threshold(race, engine, &sizes, Budget::new(Some(duration_of(share)))) {
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

/// Returns at most `count` sizes from the smallest to the largest of most of the data, evenly on a
/// logarithmic scale; one or none if there is no threshold between them. `lengths` are ascending.
fn sizes(lengths: &[u64], count: f64) -> Vec<u64> {
    let [least, most] = RANGE;
    let at = |percent: usize| lengths[(lengths.len() - 1) * percent / 100].clamp(least, most);
    let (low, high) = (at(2) as f64, at(100) as f64);
    let steps = ((high / low).ln() / STEP.ln()).ceil().min(count - 1.0);
    if steps < 1.0 {
        return vec![whole(low)];
    }
    let size = |step: u64| whole((low * (high / low).powf(step as f64 / steps)).round());
    (0..=whole(steps)).map(size).collect()
}

/// Measures the threshold of an engine within `budget`; `None` if there are too few rounds.
fn threshold(
    race: &Race<'_>,
    engine: &'static dyn Blobs,
    sizes: &[u64],
    budget: Budget,
) -> Result<Option<Threshold>> {
    let Some((name, [least, most])) = setting(engine) else { return Ok(None) };
    // The second is in the way of small values at any size.
    let ways = [least, most].map(|size| target(engine, &[format!("{name}={size}")]));
    let [large, small] = ways;
    let ways = [large?, small?];
    let mut curve = Vec::new();
    for size in sizes {
        curve.extend(measured(race, &ways, *size)?);
    }
    while budget.remaining() >= guessed::SIZE
        && let Some(size) = next(&curve)
        && let Some(sized) = measured(race, &ways, size)?
    {
        let place = curve.partition_point(|other| other.size < sized.size);
        curve.insert(place, sized);
    }
    let (engine, setting) = (engine.name().to_owned(), name.to_owned());
    let threshold =
        |found| Threshold { engine, setting, sizes: [sizes[0], sizes[sizes.len() - 1]], found };
    Ok(break_even(&curve).map(threshold))
}

/// Returns the size at which the curve seems to cross; `None` if it does not, or that was measured.
fn next(curve: &[Sized]) -> Option<u64> {
    let Crossing { size, .. } = *break_even(curve)?.crossings.first()?;
    let is_close = |known: &Sized| (size / known.size).ln().abs() < CLOSE.ln();
    (!curve.iter().any(is_close)).then_some(whole(size.round()))
}

/// Measures the ratio at a size; `None` if there are too few rounds.
fn measured(
    race: &Race<'_>,
    ways: &[ResolvedTarget<dyn Blobs>],
    size: u64,
) -> Result<Option<Sized>> {
    let request = of_size(race.reading(ways.to_vec(), guessed::SIZE), size);
    let record = race.run(&request, &mut StoreCache::default(), &mut Recorder::new(None))?;
    Ok(point(&record, size))
}

/// Returns the setting of the threshold, with the smallest and the largest size that it takes;
/// `None` if the engine has none.
fn setting(engine: &'static dyn Blobs) -> Option<(&'static str, [u64; 2])> {
    let name = engine.declaration().threshold?;
    let table = engine.settings(Facet::Blobs);
    let Accepts::Size(least, most) = table.iter().find(|of| of.name == name)?.accepts else {
        return None;
    };
    Some((name, [least, most]))
}

/// Returns the request with generated values of one size.
fn of_size(request: Request, size: u64) -> Request {
    let [fewest, most] = KEYS;
    let count = (BYTES / size.max(1)).clamp(fewest, most);
    let seed = request.seed;
    let data = Generated { seed, count, size, variance: 0, random_percent: 100 };
    with(request, |part| part.data = Data::Generated(data))
}

/// Returns the ratios at a size; `None` if there are too few rounds.
fn point(record: &Record, size: u64) -> Option<Sized> {
    let cache = record.header.plan.caches.first().copied().unwrap_or(Cache::Warm);
    let small = Series::new(record, Case { workload: 0, cache }, 1);
    let ratios = small.ratios_to(small.with_target(0));
    (ratios.values.len() > 1).then_some(Sized { size: size as f64, ratios })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_data() {
        let four = |lengths| sizes(lengths, SIZES);
        assert_eq!(four(&[5_000]), [5_000]);
        assert_eq!(four(&[3_000, 10_000, 30_000]), [3_000, 30_000]);
        assert_eq!(four(&[1_000, 100_000]), [1_000, 10_000, 100_000]);
        // Not below or above what changes sides.
        assert_eq!(four(&[0, 0, 1]), [512]);
        let wide = four(&[1, 10, 1 << 40]);
        assert_eq!((wide[0], wide[wide.len() - 1], wide.len()), (512, 4 << 20, 4));
        assert!(wide.is_sorted());
        // One of a thousand is long.
        let mut lengths = vec![1_000; 999];
        lengths.push(200_000);
        assert_eq!(four(&lengths).last(), Some(&200_000));
        // With little time there are fewer.
        assert_eq!(sizes(&[1_000, 100_000], 2.0), [1_000, 100_000]);
        assert_eq!(sizes(&[1_000, 100_000], 1.0).len(), 1);
        assert_eq!(sizes(&[1_000, 100_000], 0.0).len(), 1);
    }

    #[test]
    fn the_next_size_is_where_the_curve_seems_to_cross() {
        let sized = |&(size, ratio): &(f64, f64)| {
            let ratios = vec![ratio * 0.99, ratio, ratio * 1.01];
            Sized { size, ratios: ratios.into() }
        };
        let next = |points: &[(f64, f64)]| next(&points.iter().map(sized).collect::<Vec<_>>());
        let ends = [(1e3, 0.5), (16e3, 2.0)];
        assert_eq!(next(&ends), Some(4_000));
        // It is higher where the middle is still below.
        let higher = next(&[ends[0], (4e3, 0.7), ends[1]]).unwrap();
        assert!((4_400..16_000).contains(&higher), "{higher}");
        // Not where it was measured, and not where nothing crosses.
        assert_eq!(next(&[ends[0], (4e3, 0.99), ends[1]]), None);
        assert_eq!(next(&[ends[0], (4e3, 0.7)]), None);
        assert_eq!(next(&ends[..1]), None);
    }
}
