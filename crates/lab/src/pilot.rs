//! Small runs before the rounds: how long a pass takes, and what the tool itself costs.

use std::time::Duration;

use model::{Action, Cache, Error, Idle, Operation, Result, Session, Workload};

use crate::{
    Stop,
    crew::Crew,
    dataset::{Cursor, Dataset},
    limit::Limit,
    pass::Round,
    payload::Pool,
    prepared::{Prepared, PreparedTarget},
    request::{Request, Work},
    trial::{self, Place},
    worker::{self, NoClock, Task, Walk},
};

/// What the pilot found.
pub(crate) struct Pilot {
    /// The workloads of the plan, their counts settled.
    pub(crate) workloads: Vec<Workload>,
    /// Expected length of a round.
    pub(crate) round: Duration,
}

/// Why there is none.
pub(crate) struct Failed {
    /// Index of the target that failed, if one did.
    pub(crate) target: Option<usize>,
    pub(crate) error: Error,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self { target: None, error }
    }
}

/// Operations of a pilot pass.
const OPERATIONS: u64 = 1000;
/// Seconds of passes.
struct Lengths {
    /// A shorter one is made longer by going over the keys again.
    shortest: f64,
    /// None is made longer than this.
    longest: f64,
    /// One on schedule.
    scheduled: f64,
}

impl Lengths {
    const fn of(request: &Request) -> Self {
        if request.over_time {
            // Some twenty slices.
            Self { shortest: 2.0, longest: 10.0, scheduled: 2.0 }
        } else {
            // Shorter ones say more about the scheduler than about the store.
            Self { shortest: 0.05, longest: 1.0, scheduled: 1.0 }
        }
    }
}

/// Seconds that it may last for a target that does not keep up.
const LONGEST_SCHEDULE: f64 = 10.0;

/// Settles the operations per pass, alike for all targets: every key once; where that takes
/// less than the shortest pass on the fastest target, several times, but no more than fit in the
/// longest on the slowest.
pub(crate) fn workloads(
    request: &Request,
    caches: &[Cache],
    prepared: &Prepared,
    pool: &Pool,
    (crew, limit): (Option<&Crew<'_>>, Option<&Limit>),
    stop: &Stop,
) -> Result<Pilot, Failed> {
    let keys = prepared.dataset.summary().count;
    let lengths = Lengths::of(request);
    let mut pilot = Pilot { workloads: Vec::new(), round: Duration::ZERO };
    for work in &request.work {
        let most = most(work.operation, keys);
        if let Some(count) = request.count.filter(|count| *count > most) {
            let error = Error::usage(format!(
                "--count {count} of this mix deletes more than half of the {keys} keys: with so many \
                 it takes {most} at most"
            ));
            return Err(error.into());
        }
        let closed = Work { rate: None, ..*work };
        let trial = request.workload(closed, OPERATIONS.min(keys).min(most), keys);
        let round = Round::new(&trial, &prepared.dataset, pool, 0, stop)?;
        let costs = seconds_per_operation(&round, warmest(caches), prepared, crew, limit)?;
        let settled = || match work.rate {
            Some(rate) => on_schedule(rate, &costs, lengths.scheduled),
            None => keys * repeats(keys as f64, &costs, &lengths),
        };
        let count = request.count.unwrap_or_else(settled).min(most);
        // The first pass of a warm trial goes over the keys once more, and the latency pass may be long.
        let timed = if request.over_time { count } else { 0 };
        let operations = (count + keys + timed) * caches.len() as u64;
        let scheduled = work.rate.map_or(0.0, |rate| count as f64 / rate);
        let seconds: f64 = costs.iter().map(|cost| (cost * operations as f64).max(scheduled)).sum();
        pilot.round += Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        pilot.workloads.push(request.workload(*work, count, keys));
    }
    Ok(pilot)
}

/// Operations of a pass on schedule: those of so many `seconds`, but no more than the slowest target does
/// in ten, should it not keep up.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float is cast to the nearest integer, and this one is at least 1"
)]
fn on_schedule(rate: f64, costs: &[f64], seconds: f64) -> u64 {
    let slowest = costs.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    (rate * seconds).min(LONGEST_SCHEDULE / slowest).max(1.0) as u64
}

/// Operations of a pass at most: a mix that deletes more than it inserts leaves half of the keys.
fn most(operation: Operation, keys: u64) -> u64 {
    let Operation::Mix(mix) = operation else { return u64::MAX };
    match mix.delete.saturating_sub(mix.insert) {
        0 => u64::MAX,
        lost => (keys / 2 * 100 / u64::from(lost)).max(1),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float is cast to the nearest integer, and this one is at least 1"
)]
fn repeats(keys: f64, costs: &[f64], lengths: &Lengths) -> u64 {
    let fastest = costs.iter().copied().fold(f64::INFINITY, f64::min) * keys;
    let slowest = costs.iter().copied().fold(0.0, f64::max) * keys;
    let wanted = (lengths.shortest / fastest).ceil();
    wanted.min((lengths.longest / slowest).floor()).max(1.0) as u64
}

/// Under a limit nothing is warm.
fn warmest(caches: &[Cache]) -> Cache {
    caches.iter().copied().find(|cache| *cache == Cache::Limited).unwrap_or_default()
}

fn seconds_per_operation(
    round: &Round<'_>,
    cache: Cache,
    prepared: &Prepared,
    crew: Option<&Crew<'_>>,
    limit: Option<&Limit>,
) -> Result<Vec<f64>, Failed> {
    let place = Place { round: 0, position: 0, target: 0, workload: 0, cache, salt: 0 };
    let seconds = |(index, target): (usize, &PreparedTarget)| {
        let tried = trial::run(place, round, target.store(round.work.operation), crew);
        let tried = limit.map_or(Ok(()), Limit::check).and(tried);
        let sample = tried.map_err(|error| Failed { target: Some(index), error })?.sample;
        Ok(sample.wall_ns.max(1) as f64 / 1e9 / round.workload.count as f64)
    };
    prepared.targets.iter().enumerate().map(seconds).collect()
}

/// Nanoseconds per operation of the loop itself: a read pass over a session that does nothing.
pub(crate) fn own_loop(dataset: &Dataset, pool: &Pool, stop: &Stop) -> Result<f64> {
    const PASSES: usize = 5;
    const COUNT: u64 = 1 << 18;
    let task = Task { pool, batch: model::Batch::All, writes: false, count: COUNT, salt: 0, stop };
    let mut fastest = f64::INFINITY;
    for _ in 0..PASSES {
        let cursor = Cursor::new(dataset.entries());
        let walk = Walk { dataset, cursor, action: Action::Read };
        // Hidden from the compiler, which would see that it does nothing.
        let mut idle: Box<dyn Session> = std::hint::black_box(Box::new(Idle));
        let start = std::time::Instant::now();
        worker::run(&task, walk, &mut *idle, &mut [], &mut NoClock)?;
        fastest = fastest.min(start.elapsed().as_nanos() as f64 / COUNT as f64);
    }
    Ok(fastest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_passes_go_over_the_keys_again_unless_a_target_is_slow() {
        let lengths = Lengths { shortest: 0.05, longest: 1.0, scheduled: 1.0 };
        let repeats = |keys, costs: &[f64]| repeats(keys, costs, &lengths);
        assert_eq!(repeats(100_000.0, &[2e-6, 4e-6]), 1);
        assert_eq!(repeats(1000.0, &[1e-6, 2e-6]), 50);
        assert_eq!(repeats(1000.0, &[1e-8, 100e-6]), 10);
        assert_eq!(repeats(1e6, &[1e-6, 1e-3]), 1);
    }
}
