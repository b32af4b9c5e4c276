//! How much of the data scratch stores are filled with: all of it, or as much as fits into the time. A
//! few values show how long the others take.

use std::{
    iter,
    ops::ControlFlow::{Break, Continue},
    time::{Duration, Instant},
};

use model::{
    Error, OpenOptions, Result, SampledFrom,
    units::{duration_of, longer_option, show_count, show_duration, show_size},
};

use super::{
    BlobTarget, Coverage, Job, Scratches,
    listing::Listing,
    prepare::in_half_of_the_rest,
    source::Source,
    store_preparation::create_filled,
    stores::{Sampled, Stores},
};
use crate::{
    Amount, Silent, Stop,
    budget::{
        Line, guessed,
        shares::{AFTER_CREATING, CLEARLY_FILLED, FILLED, FILLING, ONE_TARGET, TRYING_TO_FILL},
    },
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
            source.sample(&source.lengths(stop)?, count, seed)?;
        }
        _ => {}
    }
    Ok(kept.sampled)
}

/// The most trials of reading a sample: more make it small, as its values then lie still farther apart.
const MOST_TRIALS: u32 = 2;

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
    let known = listing.filter(|of| (of.is_drawn || of.is_whole()) && can_sample(job));
    let drawn = known.filter(|listing| listing.is_drawn).map(|listing| &listing.dataset);
    source.choose(drawn);
    let wanted = job.part.coverage.amount(all);
    check_sample(job, wanted, all)?;
    let (mut count, mut seconds) = (wanted.count, None);
    let take = |source: &mut Source, count: u64| {
        // What was listed is not listed again: asking a million files takes seconds.
        source.choose(known.map(|listing| &listing.dataset));
        source.sample(&source.lengths(job.stop)?, count, job.request.seed)
    };
    if let (Some(time), Some(each)) = (job.request.time(), trial_time(job, wanted)) {
        let mut costs = filling_costs(job, source, each)?;
        if !costs.fit(count, time) {
            let mut fitting = costs.fitting(count, time);
            let (takes, needed) = (costs.seconds(count), costs.needed(count, time));
            if let Coverage::Fitting(_) = job.part.coverage {
                // Once the first store is filled, the others find the values in memory. There is one:
                // no stores would fit.
                let filling = costs.targets[0].each;
                fitting = fitting_sample(fitting, |count| {
                    take(source, count)?;
                    let reading = reading_cost(job, source, time.mul_f64(TRYING_TO_FILL))?;
                    costs.targets[0].each = filling.max(reading);
                    costs.tried = job.budget.spent();
                    Ok(costs.fitting(count, time))
                })?;
                (count, seconds) = (fitting, Some(needed.as_secs_f64()));
            }
            report_too_slow(job, wanted, (takes, needed), fitting);
        }
    }
    if count >= all.count {
        source.choose(None);
        return Ok(None);
    }
    let listed = drawn.map(|drawn| drawn.entries().len() as u64);
    let count = listed.map_or(count, |listed| listed.min(count));
    take(source, count)?;
    Ok(Some(Sampled {
        from: SampledFrom { count: all.count, bytes: all.bytes },
        count,
        listed,
        seed: job.request.seed,
        seconds,
    }))
}

/// Makes a sample that seems to fit smaller until `try_sample`, which returns how many of it fit, shows that it
/// does: the farther values lie apart, the longer reading each may take.
fn fitting_sample(mut count: u64, mut try_sample: impl FnMut(u64) -> Result<u64>) -> Result<u64> {
    for _ in 0..MOST_TRIALS {
        let tried = count;
        count = try_sample(tried)?;
        if count > tried / 4 * 3 {
            break;
        }
    }
    Ok(count)
}

/// Fails if a sample is asked for and a target has data of its own.
pub(super) fn check_sample(job: Job<'_>, wanted: Amount, all: Amount) -> Result<()> {
    if wanted.count < all.count && !can_sample(job) {
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
    let can_try = !job.touches_all() && can_sample(job);
    let time = job.request.time().filter(|time| can_try && !fits(time))?;
    Some(time.mul_f64(TRYING_TO_FILL / job.part.targets.len() as f64))
}

/// Reports whether scratch stores can be filled with a part of the data: no target has data of its
/// own.
fn can_sample(job: Job<'_>) -> bool {
    job.part.targets.iter().all(|target| target.location.is_none())
}

/// Says that filling with the wanted values takes so many seconds, for which a run needs so much time, and
/// what fits.
fn report_too_slow(job: Job<'_>, wanted: Amount, (takes, needed): (f64, Duration), fitting: u64) {
    let (count, bytes) = (show_count(wanted.count), show_size(wanted.bytes));
    let whole = job.request.time().unwrap_or_default();
    let (takes, more) = (show_duration(duration_of(takes)), longer_option(needed, whole));
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
        let filled = in_half_of_the_rest(job, AFTER_CREATING, || {
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

/// Returns the seconds in which a value of `source` is read, as reading for so long shows.
fn reading_cost(job: Job<'_>, source: &Source, limit: Duration) -> Result<f64> {
    let (mut read, mut start) = (0_u64, None::<Instant>);
    source.scan(&mut |_| {
        job.stop.check()?;
        read += 1;
        let is_over = start.get_or_insert_with(Instant::now).elapsed() >= limit;
        Ok(if is_over { Break(()) } else { Continue(()) })
    })?;
    Ok(start.map_or(0.0, |start| start.elapsed().as_secs_f64()) / read.max(1) as f64)
}

/// Fills a new store, without durability, until `limit` has passed. Returns the number of values, and the
/// time of filling without creating, flushing and closing the store.
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
    fn a_sample_is_made_smaller_until_it_fits() {
        let fits = |most: u64, trials: &mut u32| {
            fitting_sample(1000, |count| {
                *trials += 1;
                Ok(count.min(most.max(count / 2)))
            })
        };
        let mut trials = 0;
        assert_eq!(fits(2000, &mut trials).unwrap(), 1000);
        assert_eq!(trials, 1);
        assert_eq!(fits(300, &mut trials).unwrap(), 300);
        assert_eq!(trials, 3, "1000 and 500 were tried");
        assert_eq!(fits(1, &mut trials).unwrap(), 250, "the last is taken");
        assert!(fitting_sample(9, |_| Err(Error::overdue())).is_err());
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
