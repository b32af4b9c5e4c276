//! The runs that candidates are compared in: those of `storemark run`, with a share of the time each.

use std::{path::Path, time::Duration};

use model::{
    BlobWork, Blobs, Cache, Error, ErrorKind, Generated, Operation, Order, Result, Role, Rounds,
    record::{Ended, Record},
    units::whole,
};

use super::{AdviseRequest, candidates::Runner};
use crate::{
    Data, LifeRequest, Progress, Recorder, Request, ResolvedTarget, RolesRequest, Stop, StoreCache,
    budget::{Budget, guessed, shares},
    experiment::blobs::Coverage,
    measure_with,
};

/// The state that the runs of a search share.
pub(super) struct Race<'a> {
    pub(super) asked: &'a AdviseRequest,
    pub(super) budget: Budget,
    pub(super) progress: &'a dyn Progress,
    pub(super) stop: &'a Stop,
}

/// The smallest and the largest number of values of a sample.
const SAMPLE: [u64; 2] = [4, 2_000];

/// The operations of a cold pass.
const COLD_READS: u64 = 400;

/// The bytes of the values that roles use, and the largest number of these.
const ROLE_BYTES: u64 = 64 << 20;
const ROLE_VALUES: u64 = 20_000;

/// The length of a pass of roles: several hundred operations of the slowest store, and many passes
/// in little time.
const PASS: Duration = Duration::from_millis(100);

/// The bytes of the values of a life of stores.
const LIFE_BYTES: u64 = 8 << 20;
/// The smallest and the largest number of its values.
const LIFE_KEYS: [u64; 2] = [20, 500];
/// The days on which 1 % of its values change.
const DAYS: u32 = 5;

/// The largest number of stores of a candidate: one to read with its copies, one to update with its
/// journal.
const STORES: u64 = 8;

impl Race<'_> {
    /// Returns the seconds of a part of the remaining time.
    pub(super) fn share(&self, part: f64) -> f64 {
        self.budget.remaining() * part
    }

    /// Returns how many candidates can be measured in this time.
    pub(super) fn candidates(&self, seconds: f64) -> usize {
        let blobs_only = self.asked.roles.is_empty();
        let each = if blobs_only { guessed::CANDIDATE } else { guessed::CANDIDATE_OF_ROLES };
        usize::try_from(whole(seconds / each)).unwrap_or(usize::MAX)
    }

    /// Returns how many values with these `lengths` a sample has, for `candidates` candidates in
    /// this time.
    pub(super) fn sample(&self, lengths: &[u64], candidates: usize, seconds: f64) -> u64 {
        let [least, most] = SAMPLE;
        let fitting = whole(guessed::SAMPLE_BYTES * seconds) / mean(lengths).max(1);
        fitting.clamp(least, most).min(self.room(lengths, candidates))
    }

    /// Returns how many values have room on the disk in the stores of `candidates` candidates.
    pub(super) fn room(&self, lengths: &[u64], candidates: usize) -> u64 {
        let folder = self.asked.scratch.as_deref().unwrap_or(Path::new("."));
        let stores = STORES * candidates.max(1) as u64;
        let each = mean(lengths).max(BLOCK).saturating_mul(stores);
        host::free_bytes(folder).map_or(u64::MAX, |free| (free / each).max(1))
    }

    /// Reads of what is there now, to look at the data.
    pub(super) fn survey_request(&self) -> Request {
        self.reading(vec![self.asked.now.clone()], self.share(1.0))
    }

    /// Returns a request for reads of `targets`.
    pub(super) fn reading(&self, targets: Vec<ResolvedTarget<dyn Blobs>>, seconds: f64) -> Request {
        let AdviseRequest { data, seed, durability, scratch, worker, threads, .. } = self.asked;
        let mut request = Request::reading(data.clone(), targets, Rounds::within(seconds), *seed);
        request.durability = Some(*durability);
        request.scratch.clone_from(scratch);
        request.worker.clone_from(worker);
        request.change_blobs(|part| {
            part.threads = *threads;
            part.batch = self.asked.batch;
            part.leaves_out = true;
            if self.asked.cold {
                part.caches = vec![Cache::DataCold];
            }
        });
        request
    }

    /// Returns a request for reads and updates of `runners`, those that have a share.
    pub(super) fn request(
        &self,
        runners: &[Runner],
        baseline: usize,
        (coverage, lengths): (Coverage, &[u64]),
        seconds: f64,
    ) -> Request {
        if !self.asked.roles.is_empty() {
            let Coverage::Fitting(most) = coverage else { unreachable!("a race has a limit") };
            let roles = self.roles(targets(runners), self.asked.roles.clone(), (most, lengths));
            return Request { baseline, ..self.of_roles(roles, seconds) };
        }
        let request = Request { baseline, ..self.reading(targets(runners), seconds) };
        let reads = self.asked.reads;
        let shares = [(Operation::Read, reads), (Operation::Update, 1.0 - reads)];
        let work = |(operation, _)| BlobWork { operation, order: Order::Permutation, rate: None };
        let work = shares.into_iter().filter(|(_, share)| *share > 0.0).map(work).collect();
        with(request, |part| (part.work, part.coverage) = (work, coverage))
    }

    /// Returns sessions that read and write at the same time, on at most `most` values generated in
    /// the sizes of the data.
    pub(super) fn roles(
        &self,
        targets: Vec<ResolvedTarget<dyn Blobs>>,
        roles: Vec<Role>,
        (most, lengths): (u64, &[u64]),
    ) -> RolesRequest {
        let size = mean(lengths).max(1);
        let fitting = (ROLE_BYTES / size).clamp(1, ROLE_VALUES).min(most);
        let spread = lengths.iter().map(|length| length.abs_diff(size)).sum::<u64>();
        let variance = (spread / lengths.len().max(1) as u64).min(size - 1);
        let count = fitting.min(lengths.len() as u64).max(1);
        let data = Generated { seed: self.asked.seed, count, size, variance, random_percent: 100 };
        let request = RolesRequest::new(targets, Data::Generated(data), roles);
        RolesRequest { pass: Some(PASS), ..request }
    }

    /// Returns the request of roles that takes `seconds`.
    pub(super) fn of_roles(&self, roles: RolesRequest, seconds: f64) -> Request {
        Request { experiment: roles.into(), ..self.reading(Vec::new(), seconds) }
    }

    /// Runs a request, and returns its record.
    pub(super) fn run(
        &self,
        request: &Request,
        stores: &mut StoreCache,
        recorder: &mut Recorder,
    ) -> Result<Record> {
        let outcome = measure_with(stores, request, recorder, self.progress, self.stop)?;
        if outcome.ended == Ended::Interrupted {
            return Err(Error::interrupted());
        }
        // The outer time may be over while the run has some left.
        let record = recorder.record().filter(|record| !record.samples.is_empty());
        record.cloned().ok_or_else(Error::overdue)
    }

    /// Measures reads of the last candidates from the device, of at most `keys` keys; `None` if the final
    /// was cold itself, roles or no reads were asked for, there is no time, or it fails.
    pub(super) fn measure_cold(
        &self,
        runners: &[Runner],
        (coverage, keys): (Coverage, u64),
        stores: &mut StoreCache,
    ) -> Result<Option<Record>> {
        let [least, most] = guessed::COLD_START;
        let seconds = self.share(shares::COLD_START);
        let is_wanted = self.asked.roles.is_empty() && !self.asked.cold && self.asked.reads > 0.0;
        if !is_wanted || seconds < least {
            return Ok(None);
        }
        let request = self.reading(targets(runners), seconds.min(most));
        let request = with(request, |part| {
            // A key that is read again is no longer cold.
            part.count = Some(COLD_READS.min(keys));
            (part.coverage, part.caches) = (coverage, vec![Cache::DataCold]);
        });
        self.measure_if_possible(&request, stores)
    }

    /// Measures the life of the last candidates, on a few values generated in the sizes of the
    /// data; `None` if there is no time for it.
    pub(super) fn life(&self, runners: &[Runner], lengths: &[u64]) -> Result<Option<Record>> {
        let seconds = self.budget.remaining();
        if seconds < guessed::LIFE || !self.asked.roles.is_empty() {
            return Ok(None);
        }
        let size = mean(lengths).max(1);
        let count = (LIFE_BYTES / size).clamp(LIFE_KEYS[0], LIFE_KEYS[1]);
        let (seed, variance) = (self.asked.seed, size / 2);
        let data = Generated { seed, count, size, variance, random_percent: 100 };
        let life = LifeRequest {
            targets: targets(runners),
            data: Data::Generated(data),
            days: DAYS,
            caches: vec![Cache::DataCold],
        };
        let reading = self.reading(Vec::new(), seconds);
        let rounds = Rounds { min: 1, ..reading.rounds };
        let experiment = life.into();
        self.measure_if_possible(
            &Request { experiment, rounds, ..reading },
            &mut StoreCache::default(),
        )
    }

    /// Measures `request`, without which there is an answer too; `None` if it fails.
    pub(super) fn measure_if_possible(
        &self,
        request: &Request,
        stores: &mut StoreCache,
    ) -> Result<Option<Record>> {
        match self.run(request, stores, &mut Recorder::new(None)) {
            Ok(record) => Ok(Some(record)),
            Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
            // The answer says that it is not covered.
            Err(_) => Ok(None),
        }
    }

    /// Calls `work` again if it failed: the data may have changed while they were read.
    pub(super) fn retried<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        match work() {
            Err(error) if matches!(error.kind(), ErrorKind::Failed | ErrorKind::Missing) => {
                self.progress.detail(&format!("{error}; trying again"));
                work()
            }
            other => other,
        }
    }
}

fn targets(runners: &[Runner]) -> Vec<ResolvedTarget<dyn Blobs>> {
    runners.iter().map(|runner| runner.target.clone()).collect()
}

/// The bytes that a file takes at least.
const BLOCK: u64 = 4096;

fn mean(lengths: &[u64]) -> u64 {
    lengths.iter().sum::<u64>() / (lengths.len() as u64).max(1)
}

/// Changes the part of `request` that is about blobs.
pub(super) fn with(mut request: Request, change: impl FnOnce(&mut crate::BlobsRequest)) -> Request {
    request.change_blobs(change);
    request
}
