//! The time that a run will take, before anything was tried.

use model::{Batch, BlobWork, Cache, Durability, Operation, Workload};

use super::Job;
use crate::Amount;

/// The assumed seconds of a read of a small blob on a common disk, for lack of a measurement.
/// Engines take from a tenth to ten times of it.
const READ: f64 = 10e-6;
/// A read that waits for a device.
const COLD_READ: f64 = 200e-6;
const WRITE: f64 = 50e-6;
/// A durable commit.
const FLUSH: f64 = 1e-3;
/// The seconds of each byte in addition.
const BYTE: f64 = 1e-9;

/// Returns the seconds of the trials of a round.
pub(super) fn round(job: Job<'_>, data: Amount) -> f64 {
    let count = job.part.count.unwrap_or(data.count);
    let of_work =
        |work: &BlobWork| seconds_of_round(job, data, &job.workload(*work, count, data.count));
    job.part.work.iter().map(of_work).sum::<f64>() * job.part.targets.len() as f64
}

/// The longest operations of a round in seconds, if their number is not asked for.
const LONGEST_ROUND: f64 = 0.5;

/// Returns the seconds of one target's trials of a workload in every state.
fn seconds_of_round(job: Job<'_>, data: Amount, workload: &Workload) -> f64 {
    let bytes = data.bytes as f64 / (data.count.max(1)) as f64 * BYTE;
    let flushes = job.request.durability == Some(Durability::Durable);
    let flushing = match workload.batch {
        Batch::Of(operations) if flushes => FLUSH / operations as f64,
        _ => 0.0,
    };
    let one = |cache: &Cache| match (workload.work.writes(), cache.is_cold()) {
        (true, _) => WRITE + flushing,
        (false, true) => COLD_READ,
        (false, false) => READ,
    };
    // Warm, a first pass goes over all keys once more.
    let operations = |cache: &Cache| {
        workload.count as f64 + if cache.is_cold() { 0.0 } else { data.count as f64 }
    };
    let caches = job.part.caches.iter();
    let seconds = caches.map(|cache| operations(cache) * (one(cache) + bytes)).sum::<f64>();
    if job.bound().is_some() { seconds.min(LONGEST_ROUND) } else { seconds }
}

/// Returns the seconds of preparing the stores: each value is generated or read once, and for every
/// store written once and read once. If prepared `again`, only stores that are written to are
/// created again.
pub(super) fn preparing(job: Job<'_>, data: Amount, again: bool) -> f64 {
    let made = |operation: &Operation| operation.writes() || !again;
    let operations = job.operations().into_iter().filter(made).count();
    let stores = job.part.targets.len() * operations;
    let (count, bytes) = (data.count as f64, data.bytes as f64 * BYTE);
    let (read, written) = (count * READ + bytes, count * WRITE + 2.0 * bytes);
    let data = if again { 0.0 } else { read };
    data + stores as f64 * (read + written)
}
