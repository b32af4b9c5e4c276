//! The job of measuring values, and its time.

use std::time::Duration;

use model::{
    Batch, BlobWork, Error, ErrorKind, Facet, Operation, Order, Result, Settings, Workload,
    units::show_duration,
};

use super::request::BlobsRequest;
use crate::{
    Progress, Stop,
    budget::{
        Budget,
        shares::{ANSWERING, ANSWERING_AT_LEAST},
    },
    experiment::request::{Request, ResolvedTarget},
};

pub(super) type BlobTarget = ResolvedTarget<dyn model::Blobs>;

/// A job: the request of an experiment on values, and its listener.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) request: &'a Request,
    pub(super) part: &'a BlobsRequest,
    pub(super) progress: &'a dyn Progress,
    pub(super) stop: &'a Stop,
    pub(super) budget: Budget,
}

impl<'a> Job<'a> {
    /// Creates a job, whose time starts now.
    pub(super) fn new(
        request: &'a Request,
        part: &'a BlobsRequest,
        progress: &'a dyn Progress,
        stop: &'a Stop,
    ) -> Self {
        Self { request, part, progress, stop, budget: Budget::new(request.time()) }
    }

    /// Reports whether a round touches every key that was asked for, however long that takes.
    pub(super) fn touches_all(&self) -> bool {
        let BlobsRequest { count, max_key, start, work, .. } = self.part;
        let in_order = |work: &BlobWork| matches!(work.order, Order::Asc | Order::Desc);
        count.is_some() || max_key.is_some() || start.is_some() || work.iter().any(in_order)
    }

    /// Returns the time that this part of getting ready may take, one of
    /// [`shares`](crate::budget::shares); `None` if a round touches all keys.
    pub(super) fn share(&self, part: f64) -> Option<Duration> {
        let seconds = self.request.rounds.seconds * part;
        (!self.touches_all()).then(|| model::units::duration_of(seconds))
    }

    /// Returns the time that is left, or all of it where rounds decide when the run ends; `None` if
    /// a round touches all keys.
    pub(super) fn remaining(&self) -> Option<Duration> {
        let all = self.share(1.0)?;
        Some(self.budget.limit().map_or(all, |left| left.min(all)))
    }

    /// Runs `work` in the time `limit`; returns `None` if that was too short for it.
    pub(super) fn within<T>(
        &self,
        limit: Option<Duration>,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<Option<T>> {
        match self.stop.within(limit, work) {
            // The time of the whole command may be over, too.
            Err(error) if error.kind() == ErrorKind::Overdue => self.stop.check().map(|()| None),
            done => done.map(Some),
        }
    }

    /// Runs `work` of a trial in a worker of a program. Fails if it does not answer in time, which is not
    /// limited if a round touches all keys.
    pub(super) fn answered<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let limit = self.share(ANSWERING).map(|share| share.max(ANSWERING_AT_LEAST));
        self.within(limit, work)?.ok_or_else(|| {
            let limit = show_duration(limit.unwrap_or_default());
            Error::failed(format!("has not answered for {limit}"))
        })
    }

    /// Reports whether the keys that are measured may be a random part of all.
    pub(super) fn draws_keys(&self) -> bool {
        let is_drawn = |work: &BlobWork| work.order.is_drawn();
        !self.touches_all() && !self.part.work.iter().any(is_drawn)
    }

    /// Reports whether scratch stores can be filled with a part of the data: no target has data of its own.
    pub(super) fn can_sample(&self) -> bool {
        self.part.targets.iter().all(|target| target.location.is_none())
    }

    pub(super) fn settings(&self, target: &BlobTarget) -> Result<Settings> {
        target.settings_for(Facet::Blobs, self.request.durability)
    }

    /// Returns what stores are created for: one for all that only reads, one for all that writes.
    pub(super) fn operations(&self) -> Vec<Operation> {
        let any = |writes| self.part.work.iter().any(|work| work.operation.writes() == writes);
        let read = any(false).then_some(Operation::Read);
        read.into_iter().chain(any(true).then_some(Operation::Update)).collect()
    }

    /// Reports whether stores are filled with the data.
    pub(super) fn fills_stores(&self) -> bool {
        let is_scratch = |target: &BlobTarget| {
            self.operations().into_iter().any(|operation| self.is_scratch(target, operation))
        };
        self.part.targets.iter().any(is_scratch)
    }

    /// Returns the number of worker processes; one if this process works itself.
    pub(super) fn processes(&self) -> u32 {
        let hosts = self.part.hosts.as_ref().map_or(1, |hosts| hosts.names.len());
        self.part.processes.unwrap_or(1).saturating_mul(u32::try_from(hosts).unwrap_or(u32::MAX))
    }

    /// Reports whether several processes, or those of other hosts, have a store open at once.
    pub(super) fn shares_stores(&self) -> bool {
        self.processes() > 1 || self.part.hosts.is_some()
    }

    /// Reports whether worker processes make whole passes: those that were asked for, or one that
    /// each of several runs starts for itself.
    pub(super) fn has_workers(&self) -> bool {
        self.part.processes.is_some() || self.shares_stores() || self.request.rounds.runs > 1
    }

    /// Workers of all processes together.
    pub(super) fn workers(&self) -> u32 {
        self.part.threads.saturating_mul(self.processes())
    }

    /// Returns the workload for one piece of work; the calibration settles `count`.
    pub(super) fn workload(&self, work: BlobWork, count: u64, keys: u64) -> Workload {
        let keys = u32::try_from(keys).unwrap_or(u32::MAX).max(1);
        let processes = self.processes().min(keys);
        let threads = self.part.threads.min(keys / processes);
        let batch = self.part.batch.unwrap_or(Batch::usual(work.operation.writes()));
        let workload = Workload::alone(work, count);
        Workload { batch, threads, processes, ..workload }
    }

    /// Fails if several processes are to work on a store that several cannot open.
    pub(super) fn check_sharing(&self) -> Result<()> {
        if !self.shares_stores() {
            return Ok(());
        }
        let writes = self.part.work.iter().any(|work| work.operation.writes());
        for target in &self.part.targets {
            // A scratch store is opened to be written whatever is done with it.
            let writes = writes || target.location.is_none();
            let why = if target.engine.capabilities().processes {
                target.engine.writes_alone(&self.settings(target)?).filter(|_| writes)
            } else {
                Some(format!(
                    "a store of {} can be open in one process only: --threads gives it several \
                     workers",
                    target.engine.name()
                ))
            };
            if let Some(why) = why {
                return Err(Error::usage(format!("{}: {why}", target.label)));
            }
        }
        Ok(())
    }

    /// Fails if caches of other hosts would have to be dropped, which is not possible.
    pub(super) fn check_caches(&self) -> Result<()> {
        if self.part.hosts.is_some() && self.part.caches.iter().any(|cache| cache.is_cold()) {
            return Err(Error::usage(
                "--cache: only warm is accepted with --hosts, as the caches of other hosts are not \
                 storemark's to drop",
            ));
        }
        Ok(())
    }
}
