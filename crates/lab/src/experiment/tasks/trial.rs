//! One trial over a new queue: takes one task through all its steps and reads it back, then has the
//! workers make their passes. After each pass the queue must be empty.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use model::{
    Error, FileBytes, First, Latency, Measured, Result, Sample, StoreFacts,
    tasks::{Queue, Step},
};

use super::TasksRequest;
use crate::{
    Stop,
    dataset::{Use, derive},
    experiment::meter::{PassMeter, flush, soon_ns},
    workers::{
        Watch,
        tasks::{TaskJob, TaskPass},
        threads,
    },
    workload::{
        Done, LATENCY_OPERATIONS, done, nanoseconds, summarise,
        task_cycle::{self, EachStep, Ids, Timed},
    },
};

/// What a trial works on.
pub(super) struct TaskTrial<'a> {
    pub(super) part: &'a TasksRequest,
    pub(super) queue: &'a dyn Queue,
    pub(super) path: &'a Path,
    /// Names the trial, so that its ids and outputs are its own.
    pub(super) seed: u64,
    pub(super) stop: &'a Stop,
}

impl TaskTrial<'_> {
    pub(super) fn run(&self) -> Result<(StoreFacts, Sample)> {
        let start = Instant::now();
        let TasksRequest { rewrites, output, workers, .. } = *self.part;
        let (queue, stop) = (self.queue, self.stop);
        let outputs = task_cycle::outputs(rewrites, output, derive(self.seed, Use::Payloads, 0));
        let ids = Ids::new(1, derive(self.seed, Use::Check, 0));
        task_cycle::check(&mut *queue.worker()?, &ids, &outputs)?;
        none_left(queue)?;
        let check_ns = nanoseconds(start.elapsed());
        let passes = self.passes();
        let (outputs, passes, failed) = (&*outputs, &passes[..], AtomicBool::new(false));
        let job = TaskJob { queue, workers, outputs, passes, stop, failed };
        let mut passing = Passing::new(self);
        threads::run(&job, &mut passing)?;
        let Passing { sample, first, latency, steps, files, .. } = passing;
        let (in_effect, durability) = queue.in_effect()?;
        let facts = StoreFacts {
            target: 0,
            in_effect,
            durability,
            apparent_bytes: files.apparent,
            allocated_bytes: files.allocated,
            memory_bytes: None,
            server: None,
            fill_ns: None,
            check_ns,
        };
        let measured = Measured::Tasks { first, latency, steps, files };
        Ok((facts, Sample { measured, ..sample }))
    }

    /// The first pass after the queue was made, the steady one, and one with a clock around each
    /// step.
    fn passes(&self) -> [TaskPass; 3] {
        let TasksRequest { tasks, workers, .. } = *self.part;
        let few = tasks.min(LATENCY_OPERATIONS.div_ceil(workers.into()));
        let pass = |index, tasks, clocked| TaskPass {
            tasks,
            seed: derive(self.seed, Use::Keys, index),
            clocked,
        };
        [pass(0, few, false), pass(1, tasks, false), pass(2, few, true)]
    }
}

/// A task that was deleted and is there is no task done.
fn none_left(queue: &dyn Queue) -> Result<()> {
    match queue.count()? {
        0 => Ok(()),
        n => Err(Error::corrupt(format!("tasks that are left of those that were deleted: {n}"))),
    }
}

/// A trial as its passes go by.
struct Passing<'a> {
    trial: &'a TaskTrial<'a>,
    meter: Option<PassMeter>,
    sample: Sample,
    first: Option<First>,
    latency: Latency,
    steps: BTreeMap<Step, Latency>,
    files: FileBytes,
}

impl Watch<TaskPass, Option<EachStep>> for Passing<'_> {
    fn starts(&mut self, _: &TaskPass) -> Result<u64> {
        self.meter = Some(PassMeter::start(Vec::new(), Some(self.trial.path)));
        Ok(soon_ns())
    }

    /// Sizes are looked at before the rest is flushed: that may be what makes files small again.
    fn ended(&mut self, pass: &TaskPass, done: Vec<Done<Option<EachStep>>>) -> Result<()> {
        let TaskTrial { queue, stop, .. } = *self.trial;
        stop.check()?;
        let paths = self.paths();
        let host::Space { apparent, allocated } = host::space(&paths)?;
        let meter = self.meter.take().expect("every pass starts before it ends");
        let wall = done::wall(&done);
        let flush = || flush(&self.paths());
        let measured = meter.stop(wall, true, || queue.settle(), flush)?;
        none_left(queue)?;
        let operations = done.iter().map(|worker| worker.operations).sum();
        if pass.clocked {
            return self.note_latency(wall, &done, operations);
        }
        let Sample { operations: earlier, wall_ns, .. } = self.sample;
        self.first = (earlier > 0).then_some(First { operations: earlier, wall_ns });
        self.files = FileBytes { apparent, allocated };
        let (workers, counters) = (done::workers(&done), done::counters(&done));
        self.sample = Sample { operations, workers, counters, ..measured };
        Ok(())
    }
}

impl<'a> Passing<'a> {
    fn new(trial: &'a TaskTrial<'a>) -> Self {
        let (meter, sample, first, latency, steps, files) = Default::default();
        Self { trial, meter, sample, first, latency, steps, files }
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.trial.queue.files().into_iter().filter(|path| path.exists()).collect()
    }

    fn note_latency(
        &mut self,
        wall: Duration,
        done: &[Done<Option<EachStep>>],
        tasks: u64,
    ) -> Result<()> {
        let clocks = || done.iter().filter_map(|worker| worker.outcome.as_ref());
        let all = together(clocks().map(|clock| &clock.tasks));
        self.latency = summarise(&all.histogram, all.sum, wall, tasks)?;
        for step in Step::ALL {
            let of = together(clocks().map(|clock| &clock.steps[step as usize]));
            let taken = of.histogram.len();
            if taken > 0 {
                self.steps.insert(step, summarise(&of.histogram, of.sum, wall, taken)?);
            }
        }
        Ok(())
    }
}

fn together<'a>(parts: impl Iterator<Item = &'a Timed>) -> Timed {
    let mut all = Timed::new();
    parts.for_each(|part| all.add(part));
    all
}
