//! Computes how several workers shared a store.

use model::{BUSY_RETRIES, LOCK_WAITS, Sample, Worker, record::Record};
use stats::geometric_mean;

use super::{Figures, sum};
use crate::series::Series;

/// The rates of workers in thousands of operations a second: geometric means over the rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// The rate of the slowest worker of each round.
    pub slowest: f64,
    /// The rate of the fastest worker of each round.
    pub fastest: f64,
    /// The rate of all workers together, from the start of the pass until the remaining writes are
    /// flushed.
    pub total: f64,
}

/// The waits of workers for each other, per operation, over all rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waits {
    /// Operations that had to wait for a lock.
    pub locks: f64,
    /// Attempts that found the store busy and were repeated.
    pub retries: f64,
}

/// Returns the rates of the workers of `row`; `None` if there was only one worker.
pub fn rates(record: &Record, row: &Figures) -> Option<Rates> {
    let samples = Series::new(record, row.case, row.target).samples();
    let samples: Vec<_> = samples.filter(|sample| sample.workers.len() > 1).collect();
    let mean = |rate: fn(&Sample) -> Option<f64>| {
        let rates: Option<Vec<f64>> = samples.iter().map(|sample| rate(sample)).collect();
        geometric_mean(&rates?).map(|mean| mean.point)
    };
    Some(Rates {
        slowest: mean(|sample| of_workers(sample).reduce(f64::min))?,
        fastest: mean(|sample| of_workers(sample).reduce(f64::max))?,
        total: mean(|sample| Some(sample.operations as f64 / sample.judged_ns() as f64 * 1e6))?,
    })
}

/// Returns the rate of each worker; a worker without operations has none.
fn of_workers(sample: &Sample) -> impl Iterator<Item = f64> {
    let time = |worker: &Worker| worker.wall_ns.saturating_sub(worker.waited_ns.unwrap_or(0));
    let some =
        sample.workers.iter().filter(move |worker| worker.operations > 0 && time(worker) > 0);
    some.map(move |worker| worker.operations as f64 / time(worker) as f64 * 1e6)
}

/// Returns how often the workers of `row` waited; `None` if the engine does not count it, or no
/// worker waited.
pub fn waits(record: &Record, row: &Figures) -> Option<Waits> {
    let samples: Vec<_> = Series::new(record, row.case, row.target).samples().collect();
    let operations = sum(&samples, |sample| sample.operations);
    let per_operation = |name| {
        let counts = samples.iter().filter_map(|sample| sample.counters.get(name));
        // Not a sum, which is -0 of nothing.
        counts.map(|count| *count as f64).fold(0.0, |sum, count| sum + count) / operations
    };
    let waits = Waits { locks: per_operation(LOCK_WAITS), retries: per_operation(BUSY_RETRIES) };
    (waits.locks > 0.0 || waits.retries > 0.0).then_some(waits)
}
