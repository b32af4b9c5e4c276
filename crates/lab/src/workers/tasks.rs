//! Workers on tasks: threads, each with its own use of the queue.

use std::{
    ops::Range,
    sync::atomic::{AtomicBool, Ordering},
};

use model::{
    Error, Result,
    tasks::{Queue, QueueWorker},
};

use super::{Job, Worker};
use crate::{
    Stop,
    dataset::{Use, derive},
    workload::{
        Done, NoClock,
        done::named,
        task_cycle::{self, Cancel, EachStep, Ids},
    },
};

/// One of the passes of a trial, all by the same workers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskPass {
    /// Tasks of each worker.
    pub(crate) tasks: u64,
    /// Names the pass, so that its ids are its own.
    pub(crate) seed: u64,
    pub(crate) clocked: bool,
}

/// The passes of a trial over a queue.
pub(crate) struct TaskJob<'a> {
    pub(crate) queue: &'a dyn Queue,
    pub(crate) workers: u32,
    pub(crate) outputs: &'a [String],
    pub(crate) passes: &'a [TaskPass],
    pub(crate) stop: &'a Stop,
    /// Whether a worker has failed: then the others need not finish.
    pub(crate) failed: AtomicBool,
}

impl Job for TaskJob<'_> {
    type Pass = TaskPass;
    type Outcome = Option<EachStep>;

    fn passes(&self) -> &[TaskPass] {
        self.passes
    }

    fn workers(&self) -> Range<usize> {
        0..self.workers as usize
    }

    fn worker(&self, number: usize) -> Result<Box<dyn Worker<TaskPass, Option<EachStep>> + '_>> {
        let ids =
            |pass: &TaskPass| Ids::new(pass.tasks, derive(pass.seed, Use::Keys, number as u64));
        let ids = self.passes.iter().map(ids).collect::<Vec<_>>().into_iter();
        let failed = |_: &Error| self.failed.store(true, Ordering::Relaxed);
        let worker = self.queue.worker().inspect_err(failed)?;
        Ok(Box::new(TaskWorker { job: self, worker, ids }))
    }
}

struct TaskWorker<'a> {
    job: &'a TaskJob<'a>,
    worker: Box<dyn QueueWorker + 'a>,
    /// Of the passes to come.
    ids: std::vec::IntoIter<Ids>,
}

impl Worker<TaskPass, Option<EachStep>> for TaskWorker<'_> {
    fn run(&mut self, pass: &TaskPass, _: u64) -> Result<Done<Option<EachStep>>> {
        let Self { job, worker, ids } = self;
        let ids = ids.next().expect("ids are generated for each pass");
        let cancel = Cancel { stop: job.stop, failed: &job.failed };
        let mut outcome = pass.clocked.then(EachStep::new);
        let start_ns = host::now_ns();
        let done = match &mut outcome {
            None => task_cycle::run(&mut **worker, &ids, job.outputs, &mut NoClock, cancel),
            Some(clock) => task_cycle::run(&mut **worker, &ids, job.outputs, clock, cancel),
        };
        let operations = done.inspect_err(|_| job.failed.store(true, Ordering::Relaxed))?;
        let end_ns = host::now_ns();
        let counters = named(worker.statistics());
        Ok(Done { process: 0, operations, start_ns, end_ns, counters, outcome })
    }
}
