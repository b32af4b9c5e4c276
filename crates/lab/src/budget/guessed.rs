//! What work costs on a common machine, for lack of a trial. Engines take from a tenth to ten times
//! of it.

use model::{Batch, Cache, Workload};

use crate::Amount;

/// Seconds to read a small value.
pub(crate) const READ: f64 = 10e-6;
/// Seconds to read one that waits for a device.
pub(crate) const COLD_READ: f64 = 200e-6;
/// Seconds to write a small value.
pub(crate) const WRITE: f64 = 50e-6;
/// Seconds of a durable commit.
const FLUSH: f64 = 1e-3;
/// Seconds of each byte in addition.
const BYTE: f64 = 1e-9;

/// The shortest time of a request to a service in seconds.
pub(crate) const REQUEST: f64 = 0.25e-3;

/// The longest operations of a round in seconds, if their number is not asked for.
pub(crate) const LONGEST_ROUND: f64 = 0.5;

/// Seconds of a candidate of `advise` in its race.
pub(crate) const CANDIDATE: f64 = 2.5;
/// The same with roles, which work alone and together in each round.
pub(crate) const CANDIDATE_OF_ROLES: f64 = 6.0;
/// The least seconds of a target that some rounds with roles take.
pub(crate) const ROUNDS_OF_ROLES: f64 = 1.0;
/// Seconds in which `advise` measures the two ways of an engine at one size.
pub(crate) const SIZE: f64 = 4.0;
/// Bytes of a sample of `advise` for each second of its race: few enough to fill dozens of stores
/// with, and flush them.
pub(crate) const SAMPLE_BYTES: f64 = 256e3;
/// The least seconds that a cold start takes to be measured, and the most that show more.
pub(crate) const COLD_START: [f64; 2] = [4.0, 30.0];
/// The least seconds that the life of stores takes to be measured.
pub(crate) const LIFE: f64 = 5.0;

/// Returns the seconds of making `data` and `stores` stores ready: each value is generated or read
/// once, unless that was done `before`, and for every store written once and read once.
pub(crate) fn preparing(data: Amount, stores: usize, before: bool) -> f64 {
    let (count, bytes) = (data.count as f64, data.bytes as f64 * BYTE);
    let (read, written) = (count * READ + bytes, count * WRITE + 2.0 * bytes);
    let data = if before { 0.0 } else { read };
    data + stores as f64 * (read + written)
}

/// Returns the seconds of a trial of `workload` on one target that holds `data`. Warm, a first pass
/// goes over all keys once more.
pub(crate) fn trial(workload: &Workload, cache: Cache, data: Amount, is_durable: bool) -> f64 {
    let bytes = data.bytes as f64 / data.count.max(1) as f64 * BYTE;
    let operation = match (workload.work.writes(), cache.is_cold(), workload.batch) {
        (true, _, Batch::Of(operations)) if is_durable => WRITE + FLUSH / operations as f64,
        (true, ..) => WRITE,
        (false, true, _) => COLD_READ,
        (false, false, _) => READ,
    };
    let first = if cache.is_cold() { 0.0 } else { data.count as f64 };
    (workload.count as f64 + first) * (operation + bytes)
}

/// Returns the seconds of reading `files` files with so many `bytes`, from memory or from a disk, which is asked
/// for several at once.
pub(crate) fn reading_files(bytes: u64, files: u64, in_memory: bool) -> f64 {
    let (speed, opening) = if in_memory { (3e9, 10e-6) } else { (1e9, 30e-6) };
    bytes as f64 / speed + files as f64 * opening
}
