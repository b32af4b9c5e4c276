//! What a run will take, as far as that is known before anything is made or measured, and whether
//! there is room for it.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use model::{
    Batch, Cache, Durability, Error, Memory, Operation, Result, Workload,
    units::{duration_of, show_size},
};

use super::{BlobTarget, Job, requests, requests::RequestForecast, source::Source};
use crate::{
    Amount, Silent, Stop,
    dataset::Entry,
    experiment::request::{ExperimentRequest, Request},
    workload::BlobWork,
};

/// A run beforehand.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// Keys and bytes of the data.
    pub data: Amount,
    /// What is done, with the least number of operations of a pass: where that takes no time, the
    /// calibration makes it more.
    pub workloads: Vec<Workload>,
    /// Trials of a round.
    pub trials: usize,
    /// Room on disk for scratch stores, by their folder.
    pub disk: Vec<Room>,
    /// Making the data and the stores ready, roughly.
    pub preparing: Duration,
    /// The same after a run of the same [needs](super::Needs).
    pub preparing_again: Duration,
    /// A round, roughly.
    pub round: Duration,
    /// Requests to services that charge for them; `None`: no target sends any.
    pub requests: Option<RequestForecast>,
}

/// Room on a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// Where.
    pub folder: PathBuf,
    /// What is needed there in bytes.
    pub needed: u64,
    /// What is free; absent: not known.
    pub free: Option<u64>,
}

/// What operations are taken to last, in seconds: on a small blob on a common disk, for want of a
/// measurement. Engines take from a tenth to ten times of it.
const READ: f64 = 10e-6;
/// A read that waits for a device.
const COLD_READ: f64 = 200e-6;
const WRITE: f64 = 50e-6;
/// A durable commit.
const FLUSH: f64 = 1e-3;
/// Each byte on top.
const BYTE: f64 = 1e-9;

/// Forecasts `request`. An existing store is opened for reading, to count its keys.
pub fn forecast(request: &Request, stop: &Stop) -> Result<Forecast> {
    let ExperimentRequest::Blobs(part) = &request.experiment else {
        return Err(Error::usage("only `run` can be forecast"));
    };
    let job = Job::new(request, part, &Silent, stop);
    let data = part.coverage.of(Source::open(job)?.amount(stop)?);
    let rooms = needed(job, &job.operations(), data);
    let room = |(folder, needed): (PathBuf, u64)| Room {
        free: host::free_bytes(&folder).ok(),
        folder,
        needed,
    };
    let count = part.count.unwrap_or(data.count);
    let workload = |work: &BlobWork| job.workload(*work, count, data.count);
    let workloads: Vec<_> = part.work.iter().map(workload).collect();
    let round = round(job, data);
    Ok(Forecast {
        data,
        trials: part.targets.len() * workloads.len() * part.caches.len(),
        workloads,
        disk: rooms.into_iter().map(room).collect(),
        preparing: duration_of(preparing(job, data, false)),
        preparing_again: duration_of(preparing(job, data, true)),
        round: duration_of(round),
        requests: requests::requests(job, data),
    })
}

impl Forecast {
    /// The shortest that `rounds` of it take, made ready first; `again`: after a run of the
    /// same needs.
    pub fn time(&self, rounds: u32, again: bool) -> Duration {
        let preparing = if again { self.preparing_again } else { self.preparing };
        preparing.saturating_add(self.round.saturating_mul(rounds))
    }
}

/// The trials of a round.
fn round(job: Job<'_>, data: Amount) -> f64 {
    let count = job.part.count.unwrap_or(data.count);
    let of = |work: &BlobWork| of_a_round(job, data, &job.workload(*work, count, data.count));
    job.part.work.iter().map(of).sum::<f64>() * job.part.targets.len() as f64
}

/// Seconds of the operations of a round at most, where their number is not asked for.
const LONGEST_ROUND: f64 = 0.5;

/// One target's trials of a workload in every state.
fn of_a_round(job: Job<'_>, data: Amount, workload: &Workload) -> f64 {
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

/// Each value is generated or read once, and for every store written once and read once; `again`: only
/// stores that are written to are made again.
pub(super) fn preparing(job: Job<'_>, data: Amount, again: bool) -> f64 {
    let made = |operation: &Operation| operation.writes() || !again;
    let operations = job.operations().into_iter().filter(made).count();
    let stores = job.part.targets.len() * operations;
    let (count, bytes) = (data.count as f64, data.bytes as f64 * BYTE);
    let (read, written) = (count * READ + bytes, count * WRITE + 2.0 * bytes);
    let data = if again { 0.0 } else { read };
    data + stores as f64 * (read + written)
}

/// What scratch stores for `operations` take, by their folder: as much again where updates may fill
/// a journal.
fn needed(job: Job<'_>, operations: &[Operation], amount: Amount) -> BTreeMap<PathBuf, u64> {
    let mut needed = BTreeMap::<PathBuf, u64>::new();
    let persistent = |target: &&BlobTarget| target.engine.capabilities().persistent;
    for target in job.part.targets.iter().filter(persistent) {
        for operation in operations.iter().filter(|of| job.is_scratch(target, **of)) {
            let factor = if operation.writes() { 2 } else { 1 };
            let room = amount.room(&target.engine.fill()).saturating_mul(factor);
            let sum = needed.entry(job.request.parent(target)).or_default();
            *sum = sum.saturating_add(room);
        }
    }
    needed
}

/// Refuses stores for `operations` that have no room on disk or in memory: what fits into no memory
/// would be taken up until the system ends this process, or others.
pub(super) fn check_room(job: Job<'_>, operations: &[Operation], amount: Amount) -> Result<()> {
    let rooms =
        if job.part.short_of_room { BTreeMap::new() } else { needed(job, operations, amount) };
    for (parent, needed) in rooms {
        if let Some(free) = host::shortage(&parent, needed)? {
            return Err(Error::usage(format!(
                "scratch stores take about {}, {} has {} free: --scratch DIR names another place, \
                 a smaller --keys or data takes less",
                show_size(needed),
                parent.display(),
                show_size(free)
            )));
        }
    }
    let held = |target: &&BlobTarget| {
        let engine = target.engine.capabilities();
        engine.retains && !engine.persistent && !engine.remote
    };
    let stores = job.part.targets.iter().filter(held).count() * operations.len();
    let keys = amount.count.saturating_mul(size_of::<Entry>() as u64);
    let needed = amount.bytes.saturating_mul(stores as u64).saturating_add(keys);
    let Memory { available_bytes, swap_bytes, .. } = host::memory();
    let free = available_bytes.map(|bytes| bytes.saturating_add(swap_bytes.unwrap_or(0)));
    match free.filter(|free| *free < needed) {
        None => Ok(()),
        Some(free) => Err(Error::usage(format!(
            "keys and stores in memory take {} at least, {} are available: a smaller --keys or \
             data takes less",
            show_size(needed),
            show_size(free)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use model::{Generated, Rounds};

    use super::*;
    use crate::Data;

    fn request(count: u64) -> Request {
        let rounds = Rounds { min: 5, max: None, precision: 0.03, seconds: 1.0, runs: 1 };
        let data = Data::Generated(Generated {
            seed: 1,
            count,
            size: 1000,
            variance: 0,
            random_percent: 100,
        });
        Request::reading(data, Vec::new(), rounds, 1)
    }

    #[test]
    fn generated_data_is_counted_without_generating_it() {
        let stop = Stop::new();
        let large = forecast(&request(1 << 40), &stop).unwrap();
        assert_eq!(large.data, Amount { count: 1 << 40, bytes: 1000 << 40 });
        assert!(large.time(u32::MAX, false) >= large.time(1, false));
        let mut both = request(9);
        let ExperimentRequest::Blobs(part) = &mut both.experiment else { unreachable!() };
        let updating = BlobWork { operation: Operation::Update, ..part.work[0] };
        part.work.push(updating);
        let counts: Vec<_> = forecast(&both, &stop).unwrap().workloads;
        assert_eq!(counts.iter().map(|w| w.count).collect::<Vec<_>>(), [9, 9]);
    }
}
