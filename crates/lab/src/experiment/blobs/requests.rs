//! How many requests a run will send to services that charge for them.

use model::{Action, Requests};

use super::{BlobTarget, Job, calibration::REQUESTS};
use crate::{Amount, workload::BlobWork};

/// Operations of a pass over fewer keys, which is repeated until its time is that of the store.
const FEWEST: u64 = 200;

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
    /// The most that so many rounds take.
    pub fn most(&self, rounds: u32) -> Requests {
        self.preparing + self.round * u64::from(rounds)
    }

    /// What so many rounds cannot do without.
    pub fn least(&self, rounds: u32) -> Requests {
        self.least_filling + self.least_round * u64::from(rounds)
    }
}

/// The requests of all targets; `None`: no target sends any.
pub(super) fn requests(job: Job<'_>, data: Amount) -> Option<RequestForecast> {
    let of_target = |target: &BlobTarget| of_target(job, data, target);
    let all = job.part.targets.iter().filter_map(of_target);
    all.reduce(|one, other| RequestForecast {
        preparing: one.preparing + other.preparing,
        round: one.round + other.round,
        least_filling: one.least_filling + other.least_filling,
        least_round: one.least_round + other.least_round,
    })
}

impl Job<'_> {
    /// Whether a target sends requests to a service that may charge for them.
    pub(super) fn sends_requests(&self) -> bool {
        let sends = |target: &BlobTarget| {
            target.engine.requests(Action::Read, 1, &target.settings).is_some()
        };
        self.part.targets.iter().any(sends)
    }
}

fn of_target(job: Job<'_>, data: Amount, target: &BlobTarget) -> Option<RequestForecast> {
    let settings = job.settings(target).ok()?;
    let bytes = data.bytes.div_ceil(data.count.max(1));
    let one = |action: Action| target.engine.requests(action, bytes, &settings);
    let (read, insert) = (one(Action::Read)?, one(Action::Insert)?);
    let own = target.engine.store_requests(data.count, &settings)?;
    let is_scratch = |operation: &_| job.is_scratch(target, *operation);
    let stores = job.operations().iter().filter(|of| is_scratch(of)).count() as u64;
    // An operation of a mix is the one that takes the most.
    let operation = |work: &BlobWork| {
        let all = work.operation.actions().filter_map(one);
        all.max_by_key(Requests::count).unwrap_or_default()
    };
    let (caches, keys) = (job.part.caches.len() as u64, data.count);
    let (mut calibrating, mut round, mut least) = <(Requests, Requests, Requests)>::default();
    for work in &job.part.work {
        let count = job.part.count.unwrap_or(keys);
        let longest = job.part.count.unwrap_or(keys.max(FEWEST));
        let tried = REQUESTS.min(keys);
        // What was written is read back after the first pass and after the one that counts.
        let checked = if work.operation.writes() { keys + longest.min(keys) } else { 0 };
        round += (operation(work) * (count.min(keys) + longest) + read * checked) * caches;
        // Once, values are looked at before they are written.
        let looked = if work.operation.updates() { keys } else { 0 };
        calibrating += (operation(work) * (2 * tried) + read * looked) * caches;
        let single = work.operation.actions().filter_map(one).min_by_key(Requests::count);
        let is_part = job.part.count.is_none() && job.bound().is_some();
        let count = if is_part { count.min(FEWEST) } else { count };
        least += single.unwrap_or_default() * count * caches;
    }
    let filled = insert * keys * stores;
    Some(RequestForecast {
        // What was filled is checked.
        preparing: filled + read * (keys * stores) + own * stores + calibrating,
        round,
        // A service that looks itself whether there is an object is not asked.
        least_filling: (insert - one(Action::Stat)?) * keys * stores,
        least_round: least,
    })
}
