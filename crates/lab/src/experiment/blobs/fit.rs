//! How much of the data is measured: all that fits into the time. A few values show how long the others
//! take, before anything is made of them.

use std::time::{Duration, Instant};

use model::{
    Cache, Error, ErrorKind, Result, Rounds, SampledFrom,
    units::{duration_of, longer_option, option_duration, show_count, show_duration, show_size},
};

use super::{
    BlobsRequest, Coverage, Data, Job,
    calibration::most,
    forecast, ready,
    source::Source,
    stores::{Sampled, StoreCache},
};
use crate::{Amount, Silent, Stop, workload::BlobWork};

/// Takes the same sample from the same `source`.
pub(super) fn again(sampled: &Sampled, source: &mut Source, stop: &Stop) -> Result<()> {
    let lengths = source.lengths(stop)?;
    source.sample(&lengths, sampled.count, sampled.seed)
}

/// A run that seems to take less than this share of its time is not tried out.
const CLEARLY: f64 = 0.6;
/// The part of the time that a sample may take: what is left is for what takes longer than it seemed.
const FILLED: f64 = 0.75;

/// Makes `source` the sample that was asked for, or that fits into the time.
pub(super) fn fit(job: Job<'_>, source: &mut Source, caches: &[Cache]) -> Result<Option<Sampled>> {
    let all = source.amount(job.stop)?;
    let wanted = job.part.coverage.of(all);
    let fits = |left: &Duration| forecast::roughly(job, wanted) < left.mul_f64(CLEARLY);
    let to_try = job.left().filter(|left| !fits(left)).filter(|_| can_sample(job) && can_try(job));
    let asked = wanted.count < all.count;
    if !asked && to_try.is_none() {
        return Ok(None);
    }
    if matches!(job.part.data, Data::Generated(_)) {
        // Lengths of what fits nowhere are not worth counting.
        forecast::check_room(job, &job.operations(), all)?;
    }
    if asked && !can_sample(job) {
        return Err(Error::usage(
            "--sample takes a part of the data that scratch stores are filled with; a target has \
             its own: leave out its location, and name it as --data",
        ));
    }
    let (lengths, seed) = (source.lengths(job.stop)?, job.request.seed);
    let (mut count, mut seconds) = (wanted.count, None);
    if to_try.is_some() {
        let costs = Costs::tried_out(job, source, &lengths, caches)?;
        let left = job.left().unwrap_or_default();
        let takes = costs.of(count);
        if takes > left.as_secs_f64() {
            let fitting = costs.fitting(left.as_secs_f64() * FILLED, count);
            // What was spent on trying it out is spent again.
            let spent = job.request.time().unwrap_or_default().saturating_sub(left);
            let takes = takes + spent.as_secs_f64();
            if let Coverage::Fitting(_) = job.part.coverage {
                (count, seconds) = (fitting, Some(takes));
            }
            say(job, wanted, &costs, (fitting, duration_of(takes)))?;
        }
    }
    source.unsample();
    let sampled = (count < all.count).then_some(Sampled {
        from: SampledFrom { count: all.count, bytes: all.bytes },
        count,
        seed,
        seconds,
    });
    if sampled.is_some() {
        source.sample(&lengths, count, seed)?;
    }
    Ok(sampled)
}

/// Whether all stores are filled with the data. Those of the user have all values.
fn can_sample(job: Job<'_>) -> bool {
    job.part.targets.iter().all(|target| target.location.is_none())
}

/// Whether a few values can represent all: they would lack the keys, or be too few for the
/// operations, that were asked for.
fn can_try(job: Job<'_>) -> bool {
    let loses_keys = |work: &BlobWork| most(work.operation, TRIED[0]) < u64::MAX;
    let used_up = job.part.count.is_some() && job.part.work.iter().any(loses_keys);
    job.part.max_key.is_none() && !used_up
}

/// Says that the wanted values do not fit into the time, and what does. Refuses what would leave
/// nothing measured.
fn say(
    job: Job<'_>,
    wanted: Amount,
    costs: &Costs,
    (fitting, takes): (u64, Duration),
) -> Result<()> {
    let whole = job.request.time().unwrap_or_default();
    let rounds = if costs.rounds > 0.0 {
        let round = show_duration(duration_of(costs.round(wanted.count)));
        format!("about {}, with {} rounds of {round}", show_duration(takes), costs.rounds)
    } else {
        format!("more than {} before the first round", show_duration(takes))
    };
    let (count, bytes) = (show_count(wanted.count), show_size(wanted.bytes));
    let what = format!("all {count} values ({bytes}) take {rounds}");
    let (more, fitting) = (longer_option(takes, whole), show_count(fitting));
    let choice = format!(
        "use --time {more}, or --sample {} for a sample stratified by size",
        fitting.replace(',', "")
    );
    if let Coverage::Fitting(_) = job.part.coverage {
        job.progress.say(&format!(
            "{what}: a sample of {fitting} values, stratified by size, is measured in {}; --time \
             {more} measures all",
            show_duration(whole)
        ));
    } else if costs.once(wanted.count) > job.left().unwrap_or_default().as_secs_f64() {
        let whole = option_duration(whole);
        return Err(Error::usage(format!("--time {whole} is too short: {what}; {choice}")));
    } else {
        job.progress.say(&format!(
            "{what}: fewer rounds fit into {}, which may give no verdict; {choice}",
            show_duration(whole)
        ));
    }
    Ok(())
}

/// Values that are tried out, and their bytes at most.
const TRIED: [u64; 2] = [32, 256];
const TRIED_BYTES: u64 = 32 << 20;
/// Part of the time that is left for trying each of the two.
const TRYING: u32 = 4;

/// Seconds by the number of values.
#[derive(Debug)]
struct Costs {
    /// The least number of rounds.
    rounds: f64,
    /// Values that were tried out.
    tried: u64,
    /// To make the stores ready and remove them, and all of a round that is no operation.
    preparing: Line,
    apart: Line,
    /// A round's operations.
    operations: Line,
}

/// A straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    start: f64,
    each: f64,
}

impl Line {
    /// Through two points. What is measured has noise, but nothing takes less than no time.
    fn through(counts: [u64; 2], seconds: [f64; 2]) -> Self {
        let each = (seconds[1] - seconds[0]).max(0.0) / (counts[1] - counts[0]).max(1) as f64;
        Self { start: (seconds[1] - each * counts[1] as f64).max(0.0), each }
    }

    fn at(self, count: u64) -> f64 {
        self.start + self.each * count as f64
    }
}

impl Costs {
    fn tried_out(
        job: Job<'_>,
        source: &mut Source,
        lengths: &[u64],
        caches: &[Cache],
    ) -> Result<Self> {
        job.progress.stage("trying a few values", None);
        let all = lengths.len() as u64;
        let mean = lengths.iter().sum::<u64>() / all.max(1);
        let most = (TRIED_BYTES / mean.max(1)).min(all).max(2);
        let counts = TRIED.map(|count| count.min(most * count / TRIED[1]).max(1));
        let mut tried = Vec::new();
        for count in counts {
            source.sample(lengths, count, job.request.seed)?;
            let start = Instant::now();
            match try_out(job, source, caches, [count, all]) {
                Err(error) if error.kind() == ErrorKind::Overdue && job.stop.check().is_ok() => {
                    return Ok(Self::at_least(start.elapsed(), count));
                }
                own => tried.push(own?),
            }
        }
        let of =
            |part: fn(&Tried) -> f64| Line::through(counts, [part(&tried[0]), part(&tried[1])]);
        Ok(Self {
            rounds: rounds(job),
            tried: counts[1],
            preparing: of(|tried| tried.preparing),
            apart: of(|tried| tried.apart),
            operations: Line::through([counts[1], all], tried[1].operations),
        })
    }

    /// If making `count` values ready takes longer than so long; nothing is known of rounds.
    fn at_least(time: Duration, count: u64) -> Self {
        let none = Line { start: 0.0, each: 0.0 };
        let each = time.as_secs_f64() / count as f64;
        Self {
            rounds: 0.0,
            tried: count,
            preparing: Line { each, ..none },
            apart: none,
            operations: none,
        }
    }

    fn round(&self, count: u64) -> f64 {
        self.apart.at(count) + self.operations.at(count)
    }

    /// With the least number of rounds.
    fn of(&self, count: u64) -> f64 {
        self.preparing.at(count) + self.rounds * self.round(count)
    }

    /// With one round.
    fn once(&self, count: u64) -> f64 {
        self.preparing.at(count) + self.round(count)
    }

    /// The most of `wanted` values that take no longer than `seconds`, but not fewer than were tried.
    fn fitting(&self, seconds: f64, wanted: u64) -> u64 {
        let fits = |count: &u64| self.of(*count) <= seconds;
        let (mut low, mut high) = (self.tried.min(wanted), wanted);
        while low < high {
            let middle = high - (high - low) / 2;
            if fits(&middle) { low = middle } else { high = middle - 1 }
        }
        low
    }
}

/// The least number of rounds of all runs.
fn rounds(job: Job<'_>) -> f64 {
    let Rounds { min, runs, .. } = job.request.rounds;
    f64::from(min) * f64::from(runs)
}

/// Seconds that a few values took.
struct Tried {
    preparing: f64,
    /// Of a round, all that is no operation.
    apart: f64,
    /// Of a round, its operations on these values, and on all.
    operations: [f64; 2],
}

/// Makes stores of a few values ready, and removes them.
fn try_out(job: Job<'_>, source: &Source, caches: &[Cache], counts: [u64; 2]) -> Result<Tried> {
    let start = Instant::now();
    // Copies are made in the time that is left over.
    let part = BlobsRequest { copies: false, ..job.part.clone() };
    let (mut cache, job) = (StoreCache::default(), Job { progress: &Silent, part: &part, ..job });
    let trying = || {
        let (blobs, _) = ready(job, source, caches, (None, &mut cache))?;
        Ok::<_, Error>((counts.map(|count| blobs.operations_seconds(count)), blobs.apart_seconds()))
    };
    let limit = job.left().map(|left| left / TRYING);
    let (operations, apart) = job.stop.within(limit, trying)?;
    Ok(Tried { preparing: start.elapsed().as_secs_f64(), apart, operations })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_grow_in_a_straight_line_and_never_shrink() {
        let line = Line::through([32, 256], [1.0, 1.224]);
        assert!((line.at(0) - 0.968).abs() < 1e-9 && (line.at(1256) - 2.224).abs() < 1e-9);
        assert_eq!(Line::through([32, 256], [2.0, 1.0]), Line { start: 1.0, each: 0.0 });
        assert!((Line::through([1, 1], [1.0, 2.0]).each - 1.0).abs() < 1e-12);
    }

    #[test]
    fn as_many_values_are_measured_as_fit() {
        let line = |start, each| Line { start, each };
        let (preparing, apart, operations) = (line(5.0, 0.001), line(0.5, 0.0), line(0.0, 0.001));
        let costs = Costs { rounds: 5.0, tried: 256, preparing, apart, operations };
        // 7.5 s, and 6 ms each.
        assert_eq!(costs.fitting(37.5 + 1e-6, 20_000), 5_000);
        assert_eq!(costs.fitting(1e6, 20_000), 20_000);
        assert_eq!(costs.fitting(1.0, 20_000), 256);
        assert_eq!(costs.fitting(1.0, 100), 100);
    }
}
