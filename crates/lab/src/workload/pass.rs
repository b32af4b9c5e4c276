//! The passes of a trial over values: what all workers have in common, and one worker's part.

use std::{ops::Range, sync::Arc};

use host::{RunClock, now_ns};
use model::{BackgroundWork, BlobWork, Result, Session, Workload};
use serde::{Deserialize, Serialize};

use super::{
    background_work,
    clock::{Clock, EachOperation, Latencies, NoClock, OpSchedule},
    every_nth::EveryNth,
    op::{self, Op, Tally, Walk, WorkerPass},
    op_stream::OpStream,
    worker_report::{WorkerReport, named},
};
use crate::{
    Stop,
    dataset::{Cursor, Dataset, Pool},
};

/// The input that all passes of a workload over any target have in common in one round.
#[derive(Clone)]
pub(crate) struct PassInput<'a> {
    pub(crate) workload: Workload,
    pub(crate) work: BlobWork,
    pub(crate) dataset: &'a Dataset,
    pub(crate) pool: &'a Pool,
    /// Index of this process among those that work.
    pub(crate) process: u32,
    /// If keys are drawn: the operations.
    pub(super) ops: Option<Arc<OpStream>>,
    pub(crate) stop: &'a Stop,
}

/// A pass of a trial; all of them are made in the same sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pass {
    /// Keys of the round's order that an earlier pass has touched, which this one leaves out.
    pub(crate) skip: u64,
    /// Operations, from the next key on.
    pub(crate) count: u64,
    /// Names the pass, so that its payloads are its own.
    pub(crate) salt: u64,
    pub(crate) timing: Timing,
}

/// The operations of a pass that are timed one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Timing {
    None,
    /// As many as take next to no time to be timed.
    Some,
    Each,
}

/// The result of a pass over values, for each worker.
#[derive(Serialize, Deserialize)]
pub(crate) struct PassOutcome {
    pub(crate) tally: Tally,
    /// If operations were timed.
    pub(crate) latencies: Option<Latencies>,
    /// The background work that the engine reports, in the clock that all processes share.
    pub(crate) background: Vec<BackgroundWork>,
}

/// Draws the operations of `workload` in one round, before any clock starts; `None` if its keys are
/// not drawn.
pub(crate) fn drawn(
    workload: &Workload,
    dataset: &Dataset,
    seed: u64,
) -> Result<Option<Arc<OpStream>>> {
    let work = workload.work.on_values()?;
    let draw = || {
        let counts: Vec<_> = counts(workload, workload.count).collect();
        OpStream::draw(work, dataset, &counts, seed).map(Arc::new)
    };
    work.order.is_drawn().then(draw).transpose()
}

/// Splits `count` operations evenly among all workers.
pub(super) fn counts(workload: &Workload, count: u64) -> impl Iterator<Item = u64> + use<> {
    let workers = workload.workers() as usize;
    let of = cuts(count, workers);
    (0..workers).map(move |worker| of(worker).end - of(worker).start)
}

impl<'a> PassInput<'a> {
    /// Creates the input of a workload whose `ops` were [`drawn`] over `dataset`.
    pub(crate) fn new(
        workload: Workload,
        dataset: &'a Dataset,
        pool: &'a Pool,
        ops: Option<Arc<OpStream>>,
        stop: &'a Stop,
    ) -> Result<Self> {
        let work = workload.work.on_values()?;
        Ok(Self { workload, work, dataset, pool, process: 0, ops, stop })
    }

    /// Returns the numbers of the workers of this process among all.
    pub(crate) fn workers(&self) -> Range<usize> {
        let threads = self.workload.threads as usize;
        let first = self.process as usize * threads;
        first..first + threads
    }

    /// Returns the part of one worker with `count` operations; `salt` identifies the payloads that
    /// they write.
    pub(super) fn part(&self, count: u64, salt: u64) -> WorkerPass<'_> {
        WorkerPass {
            pool: self.pool,
            batch: self.workload.batch,
            writes: self.work.operation.writes(),
            count,
            salt,
            stop: self.stop,
        }
    }

    /// Returns the operations of a worker if all do the same, one key after the other, without the
    /// first `skip` of all workers. Workers never share a key, so that the last writer of each is
    /// known.
    pub(super) fn walk(&self, worker: usize, skip: u64) -> Walk<'_> {
        let entries = self.dataset.round_entries();
        let workers = self.workload.workers() as usize;
        let keys = cuts(entries.len() as u64, workers)(worker);
        let skipped = cuts(skip, workers)(worker);
        let own = &entries[index(keys.start)..index(keys.end)];
        let cursor = Cursor::new(own, index(skipped.end - skipped.start));
        Walk { dataset: self.dataset, cursor, action: self.work.operation.action() }
    }

    /// Returns the first `count` operations of a worker in `pass`.
    pub(super) fn ops(
        &self,
        pass: &Pass,
        worker: usize,
        count: u64,
    ) -> Box<dyn Iterator<Item = Op<'_>> + '_> {
        match &self.ops {
            None => Box::new(self.walk(worker, pass.skip).take(index(count))),
            Some(ops) => Box::new(ops.ops(self.dataset, worker, count)),
        }
    }

    /// Carries out a worker's part of one pass. `run_clock` is that of the calling thread.
    pub(crate) fn run(
        &self,
        pass: &Pass,
        worker: usize,
        common_start_ns: u64,
        session: &mut dyn Session,
        buffer: &mut [u8],
        run_clock: &RunClock,
    ) -> Result<WorkerReport<PassOutcome>> {
        let actions = self.work.operation.actions();
        // One worker alone starts when it is ready.
        let start_ns = if common_start_ns == 0 { now_ns() } else { common_start_ns };
        match pass.timing {
            Timing::None => self.timed(pass, worker, session, buffer, run_clock, NoClock),
            Timing::Some => {
                let clock = EveryNth::new(actions, start_ns);
                self.timed(pass, worker, session, buffer, run_clock, clock)
            }
            Timing::Each => {
                let workers = self.workload.workers();
                let schedule = |rate| OpSchedule::new(rate, (worker, workers), self.stop);
                let clock = EachOperation::new(actions, start_ns, self.work.rate.map(schedule));
                self.timed(pass, worker, session, buffer, run_clock, clock)
            }
        }
    }

    /// Carries out that part with the `clock` of its operations.
    fn timed(
        &self,
        pass: &Pass,
        worker: usize,
        session: &mut dyn Session,
        buffer: &mut [u8],
        run_clock: &RunClock,
        mut clock: impl Clock,
    ) -> Result<WorkerReport<PassOutcome>> {
        let count =
            counts(&self.workload, pass.count).nth(worker).expect("a count for each worker");
        let part = self.part(count, pass.salt);
        let start = run_clock.now();
        clock.begin_slice(start.start_ns());
        let tally = match &self.ops {
            None => op::run(&part, self.walk(worker, pass.skip), session, buffer, &mut clock),
            Some(ops) => {
                op::run(&part, ops.ops(self.dataset, worker, count), session, buffer, &mut clock)
            }
        }?;
        let passed = run_clock.now().since(start);
        clock.end_slice(start.start_ns() + passed.wall_ns);
        let latencies = clock.finish();
        let background =
            session.background_work().iter().map(background_work::on_shared_clock).collect();
        let outcome = PassOutcome { tally, latencies, background };
        let (process, counters) = (self.process, named(session.statistics()));
        Ok(WorkerReport { process, counters, ..WorkerReport::new(start, passed, count, outcome) })
    }

    /// Returns room for the largest value, with its pages touched so that no pass pays for that.
    pub(crate) fn buffer(&self) -> Vec<u8> {
        let largest =
            self.dataset.round_entries().iter().map(|entry| entry.size).max().unwrap_or(0);
        let mut buffer = vec![0; largest as usize];
        buffer.fill(0xa5);
        buffer
    }
}

/// Returns the parts of `whole`, which differ by one at most.
fn cuts(whole: u64, parts: usize) -> impl Fn(usize) -> Range<u64> {
    let (each, more) = (whole / parts as u64, whole % parts as u64);
    let start = move |part| each * part as u64 + more.min(part as u64);
    move |part| start(part)..start(part + 1)
}

pub(crate) fn index(entry: u64) -> usize {
    usize::try_from(entry).expect("entries are in memory")
}
