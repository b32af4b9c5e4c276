//! Short passes before the rounds: how long a pass takes, and what the tool itself costs.

use std::time::{Duration, Instant};

use model::{Action, Batch, Cache, Error, Idle, Operation, Result, Session, Workload};

use super::{Blobs, Job, TrialInput};
use crate::{
    Stop,
    dataset::{Cursor, Dataset, Pool},
    experiment::Experiment,
    workload::{self, BlobWork, NoClock, Walk, WorkerPass, drawn},
};

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
    /// Settles the workloads, leaves out targets that fail, and returns how long a round will take.
    /// The operations of a pass are the same for all targets: every key once; where that takes less
    /// than the shortest pass on the fastest target, several times, but no more than fit in the
    /// longest on the slowest.
    pub(super) fn calibrate(&mut self) -> Result<Duration> {
        let Job { part, .. } = self.job;
        let keys = self.stores.dataset.summary().count;
        let tried = part.work.iter().map(|work| self.tried(*work, keys));
        let tried = tried.collect::<Result<Vec<_>>>()?;
        // By target, of each workload.
        let mut costs = Vec::new();
        while costs.len() < self.stores.targets.len() {
            let target = costs.len();
            let own = tried.iter().map(|workload| self.seconds_per_operation(target, workload));
            match own.collect::<Result<Vec<f64>>>() {
                Ok(own) => costs.push(own),
                Err(error) => {
                    self.stores.leave_out(target, error)?;
                    self.recover()?;
                }
            }
        }
        let lengths = Lengths::new(part.over_time);
        let mut round = 0.0;
        for (index, work) in part.work.iter().enumerate() {
            let costs: Vec<f64> = costs.iter().map(|own| own[index]).collect();
            let settled = || match work.rate {
                Some(rate) => on_schedule(rate, &costs, lengths.scheduled),
                None => keys * repeats(keys as f64, &costs, &lengths),
            };
            let count = part.count.unwrap_or_else(settled).min(most(work.operation, keys));
            // The first pass of a warm trial goes over the keys once more, and the latency pass may
            // be long.
            let timed = if part.over_time { count } else { 0 };
            let operations = (count + keys + timed) * self.caches.len() as u64;
            let scheduled = work.rate.map_or(0.0, |rate| count as f64 / rate);
            round += costs.iter().map(|c| (c * operations as f64).max(scheduled)).sum::<f64>();
            self.workloads.push(self.job.workload(*work, count, keys));
        }
        Ok(Duration::try_from_secs_f64(round).unwrap_or(Duration::MAX))
    }

    /// A short workload that does the same, as fast as it can.
    fn tried(&self, work: BlobWork, keys: u64) -> Result<Workload> {
        let most = most(work.operation, keys);
        if let Some(count) = self.job.part.count.filter(|count| *count > most) {
            return Err(Error::usage(format!(
                "--count {count} of this mix deletes more than half of the {keys} keys: with so \
                 many it takes {most} at most"
            )));
        }
        let closed = BlobWork { rate: None, ..work };
        Ok(self.job.workload(closed, OPERATIONS.min(keys).min(most), keys))
    }

    fn seconds_per_operation(&self, target: usize, workload: &Workload) -> Result<f64> {
        // Under a limit nothing is warm.
        let limited = self.caches.iter().copied().find(|cache| *cache == Cache::Limited);
        let input =
            TrialInput { cache: limited.unwrap_or_default(), salt: 0, seed: 0, first_round: true };
        let ops = drawn(workload, &self.stores.dataset, 0)?;
        let (sample, _) = self.trial(target, *workload, ops, &input)?;
        Ok(sample.wall_ns.max(1) as f64 / 1e9 / workload.count as f64)
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
