//! Short passes before the rounds: how long a pass takes, and what the tool itself costs.

use std::time::{Duration, Instant};

use model::{Action, Batch, Cache, Error, Idle, Operation, Result, Session, Workload};

use super::{Blobs, Job, TrialInput};
use crate::{
    Stop,
    dataset::{Cursor, Dataset, Pool},
    workload::{self, BlobWork, NoClock, Walk, WorkerPass, drawn},
};

/// What the calibration found.
pub(super) struct Calibration {
    /// The workloads of the plan, their counts settled.
    pub(super) workloads: Vec<Workload>,
    /// Expected length of a round.
    pub(super) round: Duration,
}

/// Why there is none.
pub(super) struct Failed {
    /// Index of the target that failed, if one did.
    pub(super) target: Option<usize>,
    pub(super) error: Error,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self { target: None, error }
    }
}

/// Operations of a calibrating pass.
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
    const fn new(over_time: bool) -> Self {
        if over_time {
            // Some twenty slices.
            Self { shortest: 2.0, longest: 10.0, scheduled: 2.0 }
        } else {
            // Shorter ones say more about the scheduler than about the store.
            Self { shortest: 0.05, longest: 1.0, scheduled: 1.0 }
        }
    }
}

/// Seconds that a pass on schedule may last for a target that does not keep up.
const LONGEST_SCHEDULE: f64 = 10.0;

impl Blobs<'_> {
    /// Settles the operations per pass, the same for all targets: every key once; where that takes
    /// less than the shortest pass on the fastest target, several times, but no more than fit in
    /// the longest on the slowest.
    pub(super) fn try_calibrate(&self) -> Result<Calibration, Failed> {
        let Job { part, .. } = self.job;
        let keys = self.stores.dataset.summary().count;
        let lengths = Lengths::new(part.over_time);
        let mut found = Calibration { workloads: Vec::new(), round: Duration::ZERO };
        for work in &part.work {
            let most = most(work.operation, keys);
            if let Some(count) = part.count.filter(|count| *count > most) {
                let error = Error::usage(format!(
                    "--count {count} of this mix deletes more than half of the {keys} keys: with \
                     so many it takes {most} at most"
                ));
                return Err(error.into());
            }
            let closed = BlobWork { rate: None, ..*work };
            let trial = self.job.workload(closed, OPERATIONS.min(keys).min(most), keys);
            let costs = self.seconds_per_operation(&trial)?;
            let settled = || match work.rate {
                Some(rate) => on_schedule(rate, &costs, lengths.scheduled),
                None => keys * repeats(keys as f64, &costs, &lengths),
            };
            let count = part.count.unwrap_or_else(settled).min(most);
            // The first pass of a warm trial goes over the keys once more, and the latency pass may
            // be long.
            let timed = if part.over_time { count } else { 0 };
            let operations = (count + keys + timed) * self.caches.len() as u64;
            let scheduled = work.rate.map_or(0.0, |rate| count as f64 / rate);
            let seconds = |cost: &f64| (cost * operations as f64).max(scheduled);
            let seconds: f64 = costs.iter().map(seconds).sum();
            found.round += Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
            found.workloads.push(self.job.workload(*work, count, keys));
        }
        Ok(found)
    }

    /// Of each target.
    fn seconds_per_operation(&self, workload: &Workload) -> Result<Vec<f64>, Failed> {
        // Under a limit nothing is warm.
        let limited = self.caches.iter().copied().find(|cache| *cache == Cache::Limited);
        let input =
            TrialInput { cache: limited.unwrap_or_default(), salt: 0, seed: 0, first_round: true };
        let ops = drawn(workload, &self.stores.dataset, 0)?;
        let seconds = |target| {
            let tried = self.trial(target, *workload, ops.clone(), &input);
            let tried = tried.map_err(|error| Failed { target: Some(target), error })?;
            Ok(tried.sample.wall_ns.max(1) as f64 / 1e9 / workload.count as f64)
        };
        (0..self.stores.targets.len()).map(seconds).collect()
    }
}

/// Operations of a pass on schedule: those of so many `seconds`, but no more than the slowest target
/// does in ten, should it not keep up.
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
    match mix.share(Action::Delete).saturating_sub(mix.share(Action::Insert)) {
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

/// Nanoseconds per operation of the loop itself: a read pass over a session that does nothing.
pub(crate) fn own_loop(dataset: &Dataset, pool: &Pool, stop: &Stop) -> Result<f64> {
    const PASSES: usize = 5;
    const COUNT: u64 = 1 << 18;
    let (batch, writes, count, salt) = (Batch::All, false, COUNT, 0);
    let pass = WorkerPass { pool, batch, writes, count, salt, stop };
    let mut fastest = f64::INFINITY;
    for _ in 0..PASSES {
        let cursor = Cursor::new(dataset.entries());
        let walk = Walk { dataset, cursor, action: Action::Read };
        // Hidden from the compiler, which would see that it does nothing.
        let mut idle: Box<dyn Session> = std::hint::black_box(Box::new(Idle));
        let start = Instant::now();
        workload::run(&pass, walk, &mut *idle, &mut [], &mut NoClock)?;
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
