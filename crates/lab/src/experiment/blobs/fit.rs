//! How much of the data scratch stores are filled with: all of it, or as much as fits into the time. A
//! few values show how long the others take.

use std::time::{Duration, Instant};

use model::{
    Error, OpenOptions, Result, SampledFrom,
    units::{duration_of, longer_option, show_count, show_duration, show_size},
};

use super::{
    BlobTarget, Coverage, Job, Scratches, source::Source, store_preparation::create_filled,
    stores::Sampled,
};
use crate::{
    Amount, Silent, Stop,
    budget::{
        Line,
        shares::{CLEARLY_FILLED, FILLED, FILLING, TRYING_TO_FILL},
    },
    store::ReadyStore,
};

/// Takes the same sample from the same `source`, if there was one, and returns it.
pub(super) fn repeat_sample(
    sampled: Option<Sampled>,
    source: &mut Source,
    stop: &Stop,
) -> Result<Option<Sampled>> {
    if let Some(Sampled { count, seed, .. }) = sampled {
        source.sample(&source.lengths(stop)?, count, seed)?;
    }
    Ok(sampled)
}

/// The smallest sample, whether or not it fits.
const FEWEST: u64 = 32;

/// Reduces `source` to the sample that was asked for, or to as much as fits into the time; `all` is the
/// amount of all data.
pub(super) fn choose_sample(
    job: Job<'_>,
    source: &mut Source,
    all: Amount,
) -> Result<Option<Sampled>> {
    let wanted = job.part.coverage.amount(all);
    let is_asked = wanted.count < all.count;
    if is_asked && !can_sample(job) {
        return Err(Error::usage(
            "--sample takes a part of the data that scratch stores are filled with; a target has \
             its own: leave out its location, and name it as --data",
        ));
    }
    let (mut count, mut seconds) = (wanted.count, None);
    if let (Some(time), Some(each)) = (job.request.time(), trial_time(job, wanted)) {
        let costs = filling_cost(job, source, each)?;
        let takes = costs.seconds(count as f64);
        let limit = time.as_secs_f64() * FILLING;
        if takes > limit {
            let fitting = costs.fitting(limit * FILLED, FEWEST).min(count);
            report_too_slow(job, wanted, takes, fitting);
            if let Coverage::Fitting(_) = job.part.coverage {
                (count, seconds) = (fitting, Some(takes / FILLING));
            }
        }
    }
    let sampled = (count < all.count).then_some(Sampled {
        from: SampledFrom { count: all.count, bytes: all.bytes },
        count,
        seed: job.request.seed,
        seconds,
    });
    if sampled.is_some() {
        source.sample(&source.lengths(job.stop)?, count, job.request.seed)?;
    }
    Ok(sampled)
}

/// Returns the time for each target in which filling is tried; `None` if all that is `wanted`
/// clearly fits, or is asked for.
pub(super) fn trial_time(job: Job<'_>, wanted: Amount) -> Option<Duration> {
    let takes = job.guessed_preparing(wanted, false);
    let fits = |time: &Duration| takes < time.as_secs_f64() * FILLING * CLEARLY_FILLED;
    let can_try = !job.touches_all() && can_sample(job);
    let time = job.request.time().filter(|time| can_try && !fits(time))?;
    Some(time.mul_f64(TRYING_TO_FILL / job.part.targets.len() as f64))
}

/// Reports whether scratch stores can be filled with a part of the data: no target has data of its
/// own.
fn can_sample(job: Job<'_>) -> bool {
    job.part.targets.iter().all(|target| target.location.is_none())
}

/// Says that filling with the wanted values does not fit into the time, and what does.
fn report_too_slow(job: Job<'_>, wanted: Amount, takes: f64, fitting: u64) {
    let (count, bytes) = (show_count(wanted.count), show_size(wanted.bytes));
    let (takes, time) = (duration_of(takes), duration_of(takes / FILLING));
    let whole = job.request.time().unwrap_or_default();
    let (takes, more) = (show_duration(takes), longer_option(time, whole));
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

/// Fills a store of each target with the first values, each for so long. Returns what filling all
/// stores with some number of values takes.
fn filling_cost(job: Job<'_>, source: &Source, each: Duration) -> Result<Line> {
    job.progress.stage("trying how long filling takes", None);
    let mut scratches = Scratches::default();
    let targets = (0..job.part.targets.len()).map(|index| (index, &job.part.targets[index]));
    let mut costs = Line::default();
    for (index, target) in targets {
        if job.twin(index)?.is_some() {
            continue;
        }
        let start = Instant::now();
        let filled = fill_part((job, index), target, source, each, &mut scratches);
        let (values, filling) = match filled {
            // Making the store ready fails again, and reports it.
            Err(error) if job.is_tolerable(&error) => continue,
            filled => filled?,
        };
        costs.each += filling.as_secs_f64() / values.max(1) as f64;
        costs.start += start.elapsed().saturating_sub(filling).as_secs_f64();
    }
    Ok(costs)
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
        let start = Instant::now();
        let values =
            source.fill_until(session, ready.filling(), Some(start + limit), &Silent, job.stop)?;
        filled = (values, start.elapsed());
        Ok(())
    })?;
    store.close()?;
    Ok(filled)
}
