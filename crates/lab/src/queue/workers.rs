//! The workers of a trial: threads, each with its own use of the queue, which begin every pass
//! together.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use model::{
    Result,
    tasks::{Queue, QueueWorker},
};

use super::life::{EachStep, Ends, Ids, live};
use crate::{
    Stop, host,
    pass::Gate,
    seed::{Use, derive},
    worker::NoClock,
};

/// One of the passes of a trial, all by the same workers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    /// Tasks of each worker.
    pub(super) tasks: u64,
    /// Names the pass, so that its ids are its own.
    pub(super) seed: u64,
    pub(super) clocked: bool,
}

/// What a worker did in a pass.
pub(super) struct Worked {
    pub(super) tasks: u64,
    pub(super) ended_ns: u64,
    pub(super) clock: Option<EachStep>,
    pub(super) counters: Vec<(&'static str, i64)>,
}

/// Who looks on while the workers wait.
pub(super) trait Watch {
    /// Returns when the workers begin, in the clock of [`host::now_ns`].
    fn starts(&mut self) -> u64;
    /// The pass that began then is over. An error ends the trial.
    fn ended(&mut self, leg: &Leg, start_ns: u64, worked: &[Worked]) -> Result<()>;
}

/// What all workers have in common.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub(super) queue: &'a dyn Queue,
    pub(super) outputs: &'a [String],
    pub(super) legs: &'a [Leg],
    pub(super) stop: &'a Stop,
}

impl Work<'_> {
    /// Has `workers` go through all passes.
    pub(super) fn done_by(&self, workers: u32, watch: &mut impl Watch) -> Result<()> {
        let gate = Gate::new(workers as usize);
        let failed = AtomicBool::new(false);
        thread::scope(|scope| {
            for number in 0..u64::from(workers) {
                let (gate, failed) = (&gate, &failed);
                scope.spawn(move || self.work(number, gate, failed));
            }
            gate.barrier.wait();
            let outcome = self.legs.iter().try_for_each(|leg| {
                let start_ns = watch.starts();
                gate.run(start_ns);
                watch.ended(leg, start_ns, &gate.take()?)
            });
            gate.close();
            outcome
        })
    }

    /// One worker's part. It comes to every barrier whatever happens, or the others would wait for
    /// ever.
    fn work(&self, number: u64, gate: &Gate<Worked>, failed: &AtomicBool) {
        let mut worker = Some(self.queue.worker());
        let ids = |leg: &Leg| Ids::new(leg.tasks, derive(leg.seed, Use::Keys, number));
        // Made while nothing is timed, as all that follow are.
        let mut legs = self.legs.iter().map(|leg| (leg, ids(leg))).collect::<Vec<_>>().into_iter();
        gate.barrier.wait();
        while let Some(start_ns) = gate.enter() {
            let done = legs.next().zip(worker.take()).map(|((leg, ids), opened)| {
                let mut opened = opened?;
                host::wait_until(start_ns);
                let done = self.pass(leg, &ids, &mut *opened, failed)?;
                worker = Some(Ok(opened));
                Ok(done)
            });
            if matches!(done, Some(Err(_))) {
                failed.store(true, Ordering::Relaxed);
            }
            gate.put(done);
            gate.barrier.wait();
        }
    }

    fn pass(
        &self,
        leg: &Leg,
        ids: &Ids,
        worker: &mut dyn QueueWorker,
        failed: &AtomicBool,
    ) -> Result<Worked> {
        let ends = Ends { stop: self.stop, failed };
        let mut clock = leg.clocked.then(EachStep::new);
        let tasks = match &mut clock {
            None => live(worker, ids, self.outputs, &mut NoClock, ends),
            Some(clock) => live(worker, ids, self.outputs, clock, ends),
        }?;
        let ended_ns = host::now_ns();
        Ok(Worked { tasks, ended_ns, clock, counters: worker.statistics() })
    }
}
