//! What a worker reports of a pass, whatever it did.

use std::{collections::BTreeMap, time::Duration};

use model::Worker;
use serde::{Deserialize, Serialize};

/// One worker's part of a pass.
#[derive(Serialize, Deserialize)]
pub(crate) struct Done<T> {
    /// Index of its process.
    pub(crate) process: u32,
    pub(crate) operations: u64,
    /// In the clock that all processes share.
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    /// The engine's own counters.
    pub(crate) counters: Vec<(String, i64)>,
    /// What only this kind of work gives.
    pub(crate) outcome: T,
}

/// From the first worker's first operation to the last one's last.
pub(crate) fn wall<T>(done: &[Done<T>]) -> Duration {
    let end_ns = done.iter().map(|worker| worker.end_ns).max().unwrap_or(0);
    Duration::from_nanos(end_ns.saturating_sub(start_ns(done)))
}

fn start_ns<T>(done: &[Done<T>]) -> u64 {
    done.iter().map(|worker| worker.start_ns).min().unwrap_or(0)
}

/// Each worker's part; a single one is described by the sample as a whole.
pub(crate) fn workers<T>(done: &[Done<T>]) -> Vec<Worker> {
    let start = start_ns(done);
    let part = |worker: &Done<T>| Worker {
        process: worker.process,
        operations: worker.operations,
        wall_ns: worker.end_ns.saturating_sub(start),
        waited_ns: None,
    };
    if done.len() > 1 { done.iter().map(part).collect() } else { Vec::new() }
}

/// The counters of all workers, summed.
pub(crate) fn counters<T>(done: &[Done<T>]) -> BTreeMap<String, i64> {
    let mut counters = BTreeMap::new();
    for (name, value) in done.iter().flat_map(|worker| &worker.counters) {
        let sum: &mut i64 = counters.entry(name.clone()).or_default();
        *sum = sum.saturating_add(*value);
    }
    counters
}

/// An engine's counters as they are reported.
pub(crate) fn named(counters: Vec<(&'static str, i64)>) -> Vec<(String, i64)> {
    counters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
