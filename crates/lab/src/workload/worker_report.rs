//! The report of a worker on a pass, whatever it did.

use std::{borrow::Borrow, collections::BTreeMap};

use host::{Instant, Passed};
use model::Worker;
use serde::{Deserialize, Serialize};

/// A worker's report on its part of a pass.
#[derive(Serialize, Deserialize)]
pub(crate) struct WorkerReport<T> {
    /// Index of its process.
    pub(crate) process: u32,
    pub(crate) operations: u64,
    /// In the clock that all processes share.
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    /// The part of that time for which it waited for a processor; `None` if it is not known.
    pub(crate) waited_ns: Option<u64>,
    /// The engine's own counters.
    pub(crate) counters: Vec<(String, i64)>,
    /// The result that only this kind of work has.
    pub(crate) outcome: T,
}

impl<T> WorkerReport<T> {
    /// Creates the result of a worker of this process from `start` on, without counters.
    pub(crate) fn new(start: Instant, passed: Passed, operations: u64, outcome: T) -> Self {
        Self {
            process: 0,
            operations,
            start_ns: start.start_ns(),
            end_ns: start.start_ns() + passed.wall_ns,
            waited_ns: passed.waited_ns,
            counters: Vec::new(),
            outcome,
        }
    }
}

/// Returns the time from the first worker's first operation to the last one's last. If each worker
/// had had a processor whenever it could use one, the pass would be as long as its longest worker:
/// the rest is waiting.
pub(crate) fn passed<T, R: Borrow<WorkerReport<T>>>(done: &[R]) -> Passed {
    let end_ns = done.iter().map(|worker| worker.borrow().end_ns).max().unwrap_or(0);
    let wall_ns = end_ns.saturating_sub(start_ns(done));
    let ran = |worker: &R| {
        let worker = worker.borrow();
        Some(worker.end_ns.saturating_sub(worker.start_ns).saturating_sub(worker.waited_ns?))
    };
    let ran: Option<Vec<u64>> = done.iter().map(ran).collect();
    let longest = ran.and_then(|ran| ran.into_iter().max());
    Passed { wall_ns, waited_ns: longest.map(|longest| wall_ns.saturating_sub(longest)) }
}

fn start_ns<T, R: Borrow<WorkerReport<T>>>(done: &[R]) -> u64 {
    done.iter().map(|worker| worker.borrow().start_ns).min().unwrap_or(0)
}

/// Returns each worker's part; none for a single worker, which the sample as a whole describes.
pub(crate) fn workers<T, R: Borrow<WorkerReport<T>>>(done: &[R]) -> Vec<Worker> {
    let start = start_ns(done);
    let part = |worker: &R| {
        let worker = worker.borrow();
        Worker {
            process: worker.process,
            operations: worker.operations,
            wall_ns: worker.end_ns.saturating_sub(start),
            waited_ns: worker.waited_ns,
        }
    };
    if done.len() > 1 { done.iter().map(part).collect() } else { Vec::new() }
}

pub(crate) fn counters<T, R: Borrow<WorkerReport<T>>>(done: &[R]) -> BTreeMap<String, i64> {
    let mut counters = BTreeMap::new();
    for (name, value) in done.iter().flat_map(|worker| &worker.borrow().counters) {
        let sum: &mut i64 = counters.entry(name.clone()).or_default();
        *sum = sum.saturating_add(*value);
    }
    counters
}

/// Converts an engine's counters to those of a record.
pub(crate) fn named(counters: Vec<(&'static str, i64)>) -> Vec<(String, i64)> {
    counters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(start_ns: u64, end_ns: u64, waited_ns: impl Into<Option<u64>>) -> WorkerReport<()> {
        let (process, operations, counters) = (0, 1, Vec::new());
        let waited_ns = waited_ns.into();
        WorkerReport { process, operations, start_ns, end_ns, waited_ns, counters, outcome: () }
    }

    #[test]
    fn a_pass_is_as_long_as_its_longest_worker_was_on_a_processor() {
        let ran = |done: &[WorkerReport<()>]| passed(done).waited_ns.map(|_| passed(done).ran_ns());
        assert_eq!(ran(&[worker(100, 1100, 400)]), Some(600));
        // The one that ends last had waited for most of its time.
        let all = [worker(100, 900, 50), worker(200, 1600, 900)];
        assert_eq!((passed(&all).wall_ns, ran(&all)), (1500, Some(750)));
        assert_eq!(ran(&[worker(0, 900, 0), worker(0, 800, None)]), None);
        assert_eq!(workers(&all)[1].waited_ns, Some(900));
    }
}
