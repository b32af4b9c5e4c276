//! How much of the data scratch stores are filled with: all of it, or as much as fits into the time. A
//! few values show how long the others take.

use std::{
    iter,
    ops::ControlFlow::{Break, Continue},
    time::{Duration, Instant},
};

use model::{
    Error, OpenOptions, Order, Result, SampledFrom,
    units::{duration_of, longer_option, show_count, show_duration, show_size},
};

use super::{
    BlobTarget, Coverage, Data, Job, Scratches,
    filling::create_filled,
    listing::Listing,
    prepare::in_part_of_the_rest,
    source::Source,
    stores::{Sampled, Stores},
};
use crate::{
    Amount, Silent, Stop,
    budget::{
        Line, guessed,
        shares::{
            AFTER_CREATING, CLEARLY_FILLED, FILLED, FILLING, ONE_TARGET, READING_SAMPLE,
            TRYING_TO_FILL,
        },
    },
    dataset::{Dataset, Part, Use, derive},
    store::ReadyStore,
};

/// Takes the same sample from the same `source`, if there was one, and returns it.
pub(super) fn repeat_sample(
    kept: &Stores,
    source: &mut Source,
    stop: &Stop,
) -> Result<Option<Sampled>> {
    match (&kept.chosen, kept.sampled) {
        (Some(chosen), _) => source.choose(Some(chosen)),
        (None, Some(Sampled { count, seed, .. })) => {
            source.sample(count, seed, stop)?;
        }
        _ => {}
    }
    Ok(kept.sampled)
}

/// The largest sample that is read: more shows hardly more, and each value takes memory.
const MOST: usize = 1 << 20;
/// The smallest sample, whether or not it fits.
const FEWEST: u64 = 32;

/// Reduces `source` to the sample that was asked for, or to as much as fits into the time; `all` is the
/// amount of all data. Where the lengths of some keys only are known, the sample is one of them.
pub(super) fn choose_sample(
    job: Job<'_>,
    source: &mut Source,
    all: Amount,
    listing: Option<&Listing>,
) -> Result<Option<Sampled>> {
    let known = listing.filter(|of| (of.is_drawn || of.is_whole()) && job.can_sample());
    let drawn = known.filter(|listing| listing.is_drawn).map(|listing| &listing.dataset);
    source.choose(drawn);
    let wanted = job.part.coverage.amount(all);
    check_sample(job, wanted, all)?;
    let listed = drawn.map(|drawn| drawn.entries().len() as u64);
    let most = listed.unwrap_or(u64::MAX).min(wanted.count);
    let (mut count, mut seconds, mut sample) = (wanted.count, None, None);
    if let (Some(time), Some(each)) = (job.request.time(), trial_time(job, wanted)) {
        let mut costs = filling_costs(job, source, each)?;
        if !costs.fit(wanted.count, time) {
            let is_fitted = matches!(job.part.coverage, Coverage::Fitting(_));
            // Generated values are nowhere to be read from.
            let is_stored = is_fitted && !matches!(job.part.data, Data::Generated(_));
            let fitting = if let Some(known) = known.filter(|_| is_stored) {
                let read = read_sample(job, source, &known.dataset, time.mul_f64(READING_SAMPLE))?;
                let most = most.min(read.entries().len() as u64);
                sample = Some(read);
                // From memory: the values that were tried before may not have been there.
                let from_memory = filling_costs(job, source, each)?;
                let fitting = from_memory.fitting(most, time);
                if most == wanted.count {
                    costs = from_memory;
                }
                fitting
            } else {
                costs.fitting(most, time)
            };
            if fitting < wanted.count {
                report_too_slow(job, wanted, &costs, fitting);
            }
            if is_fitted {
                (count, seconds) = (fitting, Some(costs.needed(wanted.count, time).as_secs_f64()));
            }
        }
    }
    if count >= all.count {
        source.choose(None);
        return Ok(None);
    }
    count = count.min(most);
    // What was listed is not listed again: asking a million files takes seconds.
    if let Some(mut sample) = sample.or_else(|| known.map(|known| mixed(job, &known.dataset))) {
        sample.truncate(usize::try_from(count).unwrap_or(usize::MAX));
        sample.arrange(Order::Asc, None, Part::ALL, 0);
        source.choose(Some(&sample));
    } else {
        source.sample(count, job.request.seed, job.stop)?;
    }
    let from = SampledFrom { count: all.count, bytes: all.bytes };
    Ok(Some(Sampled { from, count, listed, seed: job.request.seed, seconds }))
}

/// Returns what is listed in an order of which any first part is stratified by size.
fn mixed(job: Job<'_>, listed: &Dataset) -> Dataset {
    let mut mixed = listed.clone();
    mixed.mix(true, derive(job.request.seed, Use::Sample, 0));
    mixed
}

/// Reads values of `listed` for so long, and makes `source` those. Returns them as [`mixed`] does. So they are in memory when stores are filled with them, however far apart they lie
/// on the device.
fn read_sample(
    job: Job<'_>,
    source: &mut Source,
    listed: &Dataset,
    limit: Duration,
) -> Result<Dataset> {
    let mut sample = mixed(job, listed);
    sample.truncate(MOST);
    source.choose(Some(&sample));
    job.progress.stage("reading a sample", None);
    let (mut read, start) = (0, Instant::now());
    source.scan(&mut |_| {
        job.stop.check()?;
        read += 1;
        let is_over = read as u64 >= FEWEST && start.elapsed() >= limit;
        Ok(if is_over { Break(()) } else { Continue(()) })
    })?;
    sample.truncate(read);
    let mut in_order = sample.clone();
    in_order.arrange(Order::Asc, None, Part::ALL, 0);
    source.choose(Some(&in_order));
    Ok(sample)
}

/// Fails if a sample is asked for and a target has data of its own.
pub(super) fn check_sample(job: Job<'_>, wanted: Amount, all: Amount) -> Result<()> {
    if wanted.count < all.count && !job.can_sample() {
        return Err(Error::usage(
            "--sample takes a part of the data that scratch stores are filled with; a target has \
             its own: leave out its location, and name it as --data",
        ));
    }
    Ok(())
}

/// Returns the time for each target in which filling is tried; `None` if all that is `wanted`
/// clearly fits, or is asked for.
pub(super) fn trial_time(job: Job<'_>, wanted: Amount) -> Option<Duration> {
    // Stores that are written to come after all reads.
    let takes = guessed::preparing(wanted, job.part.targets.len(), false);
    // Anything may be behind a program or a plugin: what is guessed does not hold for it.
    let is_known = job.part.targets.iter().all(|target| target.engine.program().is_none());
    let fits = |time: &Duration| is_known && takes < time.as_secs_f64() * FILLING * CLEARLY_FILLED;
    let can_try = !job.touches_all() && job.can_sample();
    let time = job.request.time().filter(|time| can_try && !fits(time))?;
    Some(time.mul_f64(TRYING_TO_FILL / job.part.targets.len() as f64))
}

/// Says how long filling with the wanted values takes, how much time a run needs for it, and what fits.
fn report_too_slow(job: Job<'_>, wanted: Amount, costs: &FillingCosts, fitting: u64) {
    let (count, bytes) = (show_count(wanted.count), show_size(wanted.bytes));
    let whole = job.request.time().unwrap_or_default();
    let takes = show_duration(duration_of(costs.seconds(wanted.count)));
    let more = longer_option(costs.needed(wanted.count, whole), whole);
    let all = format!("filling the stores with all {count} values ({bytes}) takes about {takes}");
    let fitting = show_count(fitting);
    job.progress.say(&if let Coverage::Fitting(_) = job.part.coverage {
        format!(
            "{all}: a sample of {fitting} of them, stratified by size, is measured; --time {more} \
             measures all"
        )
    } else {
        let fitting = fitting.replace(',', "");
        format!(
            "{all}, which leaves little time for rounds: use --time {more}, or --sample {fitting} \
             for a sample stratified by size"
        )
    });
}

/// How long filling the stores takes, one after the other.
struct FillingCosts {
    targets: Vec<Line>,
    /// The time that had passed when this was known.
    tried: Duration,
}

impl FillingCosts {
    fn seconds(&self, count: u64) -> f64 {
        self.targets.iter().map(|target| target.seconds(count as f64)).sum()
    }

    /// Returns whether filling all stores fits into the share of a run that has this `time`, and each into
    /// what it may take of the time that is left for it.
    fn fit(&self, count: u64, time: Duration) -> bool {
        self.fit_into(1.0, count, time)
    }

    /// Returns whether it fits into this `part` of those shares.
    fn fit_into(&self, part: f64, count: u64, time: Duration) -> bool {
        let time = time.as_secs_f64();
        let mut left = time * (1.0 - AFTER_CREATING) - self.tried.as_secs_f64();
        let each_fits = self.targets.iter().all(|target| {
            let takes = target.seconds(count as f64);
            let fits = takes <= left * ONE_TARGET * part;
            left -= takes;
            fits
        });
        each_fits && self.seconds(count) <= time * FILLING * part
    }

    /// Returns the largest part of `count` that seems to fit with some room, but [`FEWEST`] in any case.
    fn fitting(&self, count: u64, time: Duration) -> u64 {
        let smaller = iter::successors(Some(count), |count| Some(count - count.div_ceil(10)));
        let fits = |count: &u64| self.fit_into(FILLED, *count, time);
        let fitting = smaller.take_while(|count| *count > 0).find(fits);
        fitting.unwrap_or(0).max(FEWEST.min(count))
    }

    /// Returns the time, at least `time`, that a run needs to fill stores with all of `count`.
    fn needed(&self, count: u64, time: Duration) -> Duration {
        let longer = iter::successors(Some(time), |time| Some(time.mul_f64(1.1)));
        longer.take(MOST_STEPS).find(|time| self.fit(count, *time)).unwrap_or(Duration::MAX)
    }
}

/// The steps in which a longer time is searched: up to 10^8 times the time that was asked for.
const MOST_STEPS: usize = 200;

/// Fills a store of each target with the first values, each for so long. Returns what filling each of them
/// with some number of values takes.
fn filling_costs(job: Job<'_>, source: &Source, each: Duration) -> Result<FillingCosts> {
    job.progress.stage("trying how long filling takes", None);
    let mut scratches = Scratches::default();
    let targets = (0..job.part.targets.len()).map(|index| (index, &job.part.targets[index]));
    let mut costs = Vec::new();
    for (index, target) in targets {
        if job.twin(index)?.is_some() {
            continue;
        }
        let start = Instant::now();
        // Whatever a store does before its first value, or never ends.
        let filled = in_part_of_the_rest(job, job.part_of(index), AFTER_CREATING, || {
            fill_part((job, index), target, source, each, &mut scratches)
        });
        let (values, filling) = match filled {
            // Making the store ready fails again, and reports it.
            Err(error) if job.is_tolerable(target, &error) => continue,
            filled => filled?,
        };
        costs.push(Line {
            each: filling.as_secs_f64() / values.max(1) as f64,
            start: start.elapsed().saturating_sub(filling).as_secs_f64(),
        });
    }
    Ok(FillingCosts { targets: costs, tried: job.budget.spent() })
}

/// Fills a new store, without durability, until `limit` has passed. Returns the number of values, and the
/// time of filling them and writing them to the device, without creating and closing the store.
fn fill_part(
    (job, index): (Job<'_>, usize),
    target: &BlobTarget,
    source: &Source,
    limit: Duration,
    scratches: &mut Scratches,
) -> Result<(u64, Duration)> {
    let engine = target.engine;
    let path = if engine.capabilities().persistent {
        let scratch = scratches.in_folder(job.request.parent(target), true)?;
        scratch.folder(&format!("{index}-tried"), engine.account())?.join(engine.name())
    } else {
        target.table(&format!("{index}_tried"))
    };
    let options = OpenOptions {
        settings: job.settings(target)?,
        access: model::Access::Write,
        keys: source.keys(),
    };
    let ready = ReadyStore::new(engine, path, options);
    let mut filled = (0, Duration::ZERO);
    let store = create_filled(&ready, |session| {
        let limit = Some(limit);
        filled = source.fill_within(session, ready.filling(), limit, &Silent, job.stop)?;
        Ok(())
    })?;
    store.close()?;
    if engine.capabilities().persistent {
        let start = Instant::now();
        host::sync(&ready.path)?;
        filled.1 += start.elapsed();
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_secs(30);

    fn costs(ms_per_value: &[u32]) -> FillingCosts {
        let line = |ms: &u32| Line { start: 0.0, each: f64::from(*ms) / 1e3 };
        let targets = ms_per_value.iter().map(line).collect();
        FillingCosts { targets, tried: Duration::from_secs(2) }
    }

    #[test]
    fn a_slow_store_fits_only_into_half_of_the_time_that_is_left() {
        // All of them have 12 s, the first alone half of 30 - 12 - 2 s.
        assert!(costs(&[8]).fit(1000, TIME));
        assert!(!costs(&[9, 1]).fit(1000, TIME));
        assert!(!costs(&[5, 7]).fit(1000, TIME), "5.5 s are left for the second");
        assert!(costs(&[6, 5]).fit(1000, TIME));
        assert!(!costs(&[3, 3, 3, 3, 1]).fit(1000, TIME), "more than the share of all");
    }

    #[test]
    fn a_part_fits_and_a_longer_time_is_named_for_all() {
        let slow = costs(&[20, 1]);
        let part = slow.fitting(1000, TIME);
        assert!((150..400).contains(&part) && slow.fit(part, TIME), "{part}");
        let needed = slow.needed(1000, TIME);
        assert!(needed > TIME * 2 && slow.fit(1000, needed), "{needed:?}");
        assert_eq!(costs(&[10_000]).fitting(1000, TIME), FEWEST, "some in any case");
        assert_eq!(costs(&[10_000]).fitting(5, TIME), 5);
    }
}
