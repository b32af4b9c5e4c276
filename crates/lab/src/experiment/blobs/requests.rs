//! The number of requests that a run will send to services that charge for them.

use model::{Action, BlobWork, Operation, Requests, units::whole};

use super::{
    BlobTarget, Job,
    calibration::{FEWEST, Lengths, REQUESTS},
    fit,
    source::Listed,
};
use crate::{Amount, budget::guessed, experiment::values::first_operations};

/// The requests of a run, if none has to be sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequestForecast {
    /// The most that making stores ready, calibrating and removing them takes.
    pub preparing: Requests,
    /// The most that a round takes.
    pub round: Requests,
    /// The least that filling the stores takes.
    pub least_filling: Requests,
    /// The least that a round takes.
    pub least_round: Requests,
}

impl RequestForecast {
    /// Returns the most requests that `rounds` rounds send.
    pub fn most(&self, rounds: u32) -> Requests {
        self.preparing + self.round * u64::from(rounds)
    }

    /// Returns the requests that `rounds` rounds cannot do without.
    pub fn least(&self, rounds: u32) -> Requests {
        self.least_filling + self.least_round * u64::from(rounds)
    }
}

/// Returns the requests of all targets; `None` if no target sends any.
pub(super) fn requests(
    job: Job<'_>,
    data: Amount,
    listed: Option<Listed>,
) -> Option<RequestForecast> {
    let of_target = |target: &BlobTarget| of_target(job, data, target);
    let all = job.part.targets.iter().filter_map(of_target).chain(of_source(job, data, listed));
    all.reduce(|one, other| RequestForecast {
        preparing: one.preparing + other.preparing,
        round: one.round + other.round,
        least_filling: one.least_filling + other.least_filling,
        least_round: one.least_round + other.least_round,
    })
}

impl Job<'_> {
    /// Reports whether a target sends requests to a service that may charge for them.
    pub(super) fn sends_requests(&self) -> bool {
        let sends = |target: &BlobTarget| target.engine.sends_requests(&target.settings);
        self.part.targets.iter().any(sends)
    }

    /// Returns the largest number of operations of the pass of `work` that counts.
    fn longest_pass(self, work: &BlobWork, keys: u64) -> u64 {
        let Lengths { shortest, scheduled, .. } = Lengths::new(self);
        let repeated = || match work.rate {
            Some(rate) => whole((rate * scheduled).ceil()),
            // Passes that take no time are made longer by repeating keys.
            None => whole((shortest / guessed::REQUEST).ceil()) * u64::from(self.workers()),
        };
        self.part.count.unwrap_or_else(|| keys.max(repeated()))
    }
}

/// Returns the requests that listing and reading the data takes; `None` if their store does not charge
/// for any.
fn of_source(job: Job<'_>, data: Amount, listed: Option<Listed>) -> Option<RequestForecast> {
    let (place, listed) = (job.part.source_location()?, listed?);
    let bytes = data.bytes.div_ceil(data.count.max(1));
    let lists = place.engine.servers().ok()?.store_requests(listed.all.count, &place.settings)?;
    // Each value is read to fill stores, and to note what it is.
    let reads = place.engine.requests(Action::Read, bytes, &place.settings)? * data.count;
    // Parts of a store are looked for before they are listed.
    let preparing = lists * 2 + reads * 2;
    Some(RequestForecast { preparing, least_filling: reads, ..RequestForecast::default() })
}

fn of_target(job: Job<'_>, data: Amount, target: &BlobTarget) -> Option<RequestForecast> {
    let settings = job.settings(target).ok()?;
    let bytes = data.bytes.div_ceil(data.count.max(1));
    let one = |action: Action| target.engine.requests(action, bytes, &settings);
    let (read, put) = (one(Action::Read)?, one(Action::Insert)? - one(Action::Stat)?);
    let own = target.engine.servers().ok()?.store_requests(data.count, &settings)?;
    let is_scratch = |operation: &_| job.is_scratch(target, *operation);
    let stores = job.operations().iter().filter(|of| is_scratch(of)).count() as u64;
    let (caches, keys) = (job.part.caches.len() as u64, data.count);
    let (mut calibrating, mut round, mut least) = <(Requests, Requests, Requests)>::default();
    for work in &job.part.work {
        let actions = || work.operation.actions().filter_map(one);
        // An operation of a mix is the one that takes the most.
        let most = actions().max_by_key(Requests::count).unwrap_or_default();
        let changes_keys = matches!(work.operation, Operation::Mix(mix) if mix.changes_keys());
        // What a pass inserted is deleted again, and the other way round, and all keys are listed.
        let restored = if changes_keys { one(Action::Insert)? } else { Requests::default() };
        let longest = job.longest_pass(work, keys);
        let first = first_operations(&job.workload(*work, longest, keys), keys, true);
        let tried = REQUESTS.min(longest);
        round += (most + restored) * (first + longest);
        calibrating += (most + restored) * (first.min(tried) + tried);
        if changes_keys {
            (round, calibrating) = (round + own, calibrating + own);
        }
        if work.operation.writes() {
            // What was written is read back once.
            round += read * (first + longest.min(keys));
        }
        if work.operation.updates() {
            // Values that the first pass will write are looked at before the first round.
            calibrating += read * first;
        }
        let fewest = if job.touches_all() { keys } else { keys.min(FEWEST) };
        let single = actions().min_by_key(Requests::count).unwrap_or_default();
        least += single * job.part.count.unwrap_or(fewest);
    }
    let filled = put * keys * stores;
    let tried = fit::trial_time(job, data).map_or(Requests::default(), |time| {
        put * keys.min(whole((time.as_secs_f64() / guessed::REQUEST).ceil())) + own
    });
    Some(RequestForecast {
        // What was filled is checked.
        preparing: tried + filled + read * (keys * stores) + own * stores + calibrating * caches,
        round: round * caches,
        least_filling: filled,
        least_round: least * caches,
    })
}
