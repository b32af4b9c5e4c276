//! `storemark queue`: tasks are created, changed and deleted, on the file system that each target
//! is placed on.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use host::RunClock;
use model::{
    Batch, Cache, Error, Facet, Latency, QueueData, QueueMeasured, Result, Sample, StoreFacts,
    Work, Workload,
    tasks::{Queue, QueueWorker, TaskStep},
};

use super::{
    Experiment, Output, Prepared, Scratches, Trial, environment,
    meter::{Others, PassMeter, soon_ns},
    request::{ExperimentPart, ExperimentRequest, Preparation, Request, ResolvedTarget, one_in},
};
use crate::{
    Stop,
    dataset::{Use, derive},
    store::{facts, file_bytes},
    workers::{Worker, Workers, threads},
    workload::{
        FIRST_WRITES, WorkerReport, latency, nanoseconds,
        task_cycle::{self, EachStep, Ids, Timed},
        worker_report::{named, passed},
    },
};

/// The request of `storemark queue`: tasks are created, changed and deleted.
#[derive(Clone)]
pub struct QueueRequest {
    /// The targets.
    pub targets: Vec<ResolvedTarget<dyn model::Tasks>>,
    /// Workers at once.
    pub workers: u32,
    /// Tasks that each processes, one after the other.
    pub tasks: u64,
    /// Times that the output of a task is rewritten.
    pub rewrites: u64,
    /// Bytes of an output.
    pub output: u64,
}

impl ExperimentPart for QueueRequest {
    fn prepare<'a>(&'a self, preparation: Preparation<'a>) -> Result<Prepared<'a>> {
        let Preparation { request, stop, .. } = preparation;
        let QueueRequest { tasks, rewrites, output, workers, .. } = *self;
        let count = tasks * u64::from(workers);
        let workload = Workload::alone(Work::Queue, count);
        let workload = Workload { batch: Batch::Of(1), threads: workers, ..workload };
        let targets = request.plan_scratch(&self.targets, Facet::Tasks)?;
        let experiment = QueueData { tasks, rewrites, output };
        let plan = request.plan(experiment, targets, vec![workload], vec![Cache::Warm]);
        let folders: Vec<_> = self.targets.iter().map(|target| request.parent(target)).collect();
        let libraries = self.targets.iter().filter_map(ResolvedTarget::library);
        let environment = environment(&folders, libraries);
        let mut scratches = Scratches::default();
        for folder in folders {
            scratches.in_folder(folder, true)?;
        }
        let queues = Queues { request, part: self, scratches, created: 0, stop };
        Ok(Prepared::new(queues, plan, environment, "fewer --tasks or targets"))
    }

    fn labels(&mut self) -> Vec<&mut String> {
        self.targets.iter_mut().map(|target| &mut target.label).collect()
    }

    fn one_of(&self, parts: u32) -> Option<ExperimentRequest> {
        let tasks = one_in(self.tasks, parts);
        Some(Self { tasks, ..self.clone() }.into())
    }
}

struct Queues<'a> {
    request: &'a Request,
    part: &'a QueueRequest,
    scratches: Scratches,
    /// The number of queues created so far.
    created: u64,
    stop: &'a Stop,
}

impl Experiment for Queues<'_> {
    fn run(&mut self, trial: &Trial, output: &mut Output<'_>) -> Result<()> {
        let Self { request, part, stop, .. } = *self;
        let target = &part.targets[trial.target()];
        self.created += 1;
        let scratch = self.scratches.in_folder(request.parent(target), true)?;
        let path = scratch.path().join(format!("{}-{}", target.engine.name(), self.created));
        let settings = target.settings_for(Facet::Tasks, request.durability)?;
        let queue = target.engine.create(&path, &settings)?;
        let seed = derive(request.seed, Use::Payloads, self.created);
        let run = QueueTrial { part, queue: &*queue, path: &path, seed, stop }.run();
        let (facts, sample) = run?;
        // Fails if the folder has a file that the count does not know.
        queue.remove()?;
        output.facts(facts)?;
        output.sample(sample, None)
    }
}

/// A trial over a new queue: it takes one task through all its steps and reads it back, then has
/// the workers make their passes. After each pass the queue must be empty.
struct QueueTrial<'a> {
    part: &'a QueueRequest,
    queue: &'a dyn Queue,
    path: &'a Path,
    /// Names the trial, so that its ids and outputs are its own.
    seed: u64,
    stop: &'a Stop,
}

/// A pass of a trial: the tasks of each worker.
struct QueuePass(Vec<Ids>);

impl QueueTrial<'_> {
    fn run(&self) -> Result<(StoreFacts, Sample)> {
        let start = Instant::now();
        let QueueRequest { rewrites, output, workers, .. } = *self.part;
        let outputs = task_cycle::outputs(rewrites, output, derive(self.seed, Use::Payloads, 0));
        let ids = Ids::new(1, derive(self.seed, Use::Check, 0));
        task_cycle::check(&mut *self.queue.worker()?, &ids, &outputs)?;
        self.check_is_empty()?;
        let check_ns = nanoseconds(start.elapsed());
        let (outputs, passes) = (&*outputs, self.passes());
        let (stop, failed) = (self.stop, &AtomicBool::new(false));
        let open = |number: usize| {
            let (mut worker, clock) = (self.queue.worker()?, RunClock::of_this_thread());
            let worker: Worker<'_, &QueuePass, _> = Box::new(move |QueuePass(ids), _| {
                let done = work(&mut *worker, &ids[number], outputs, &clock, (stop, failed));
                // The others need not finish.
                done.inspect_err(|_| failed.store(true, Ordering::Relaxed))
            });
            Ok(worker)
        };
        let count = workers as usize;
        let sample = threads::with(0..count, open, |workers| self.measure(&passes, workers))?;
        let files = sample.files().unwrap_or_default();
        let facts = facts(self.queue.in_effect()?, files);
        Ok((StoreFacts { check_ns, ..facts }, sample))
    }

    /// Returns the first pass after the queue was created, and the steady one.
    fn passes(&self) -> [QueuePass; 2] {
        let QueueRequest { tasks, workers, .. } = *self.part;
        let few = tasks.min(FIRST_WRITES.div_ceil(workers.into()));
        [(0, few), (1, tasks)].map(|(index, tasks)| {
            let seed = derive(self.seed, Use::Keys, index);
            let ids = |number: u32| Ids::new(tasks, derive(seed, Use::Keys, number.into()));
            QueuePass((0..workers).map(ids).collect())
        })
    }

    fn measure<'a>(
        &self,
        [first, steady]: &'a [QueuePass; 2],
        workers: &mut Workers<'_, &'a QueuePass, WorkerReport<EachStep>>,
    ) -> Result<Sample> {
        let mut measure = |pass| {
            let meter = PassMeter::start(Others::default(), Some(self.path), false);
            let done = workers(pass, soon_ns())?;
            self.stop.check()?;
            // Before the rest is flushed: that may be what makes files small again.
            let files = file_bytes(&self.files())?;
            let sample = meter.stop(&done, true, || self.queue.flush_writes(), || self.files())?;
            self.check_is_empty()?;
            Ok::<_, Error>((sample, files, done))
        };
        let first = Some(measure(first)?.0.as_first());
        let (steady, files, done) = measure(steady)?;
        let (latency, steps) = latencies(&done)?;
        Ok(Sample { measured: QueueMeasured { first, latency, steps, files }.into(), ..steady })
    }

    /// Fails if the queue still has a task: all were deleted.
    fn check_is_empty(&self) -> Result<()> {
        match self.queue.count()? {
            0 => Ok(()),
            n => {
                Err(Error::corrupt(format!("tasks still in the queue after all were deleted: {n}")))
            }
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        self.queue.files().into_iter().filter(|path| path.exists()).collect()
    }
}

/// Carries out a worker's part of a pass.
fn work(
    worker: &mut dyn QueueWorker,
    ids: &Ids,
    outputs: &[String],
    run_clock: &RunClock,
    cancel: (&Stop, &AtomicBool),
) -> Result<WorkerReport<EachStep>> {
    let mut clock = EachStep::new();
    let start = run_clock.now();
    let operations = task_cycle::run(worker, ids, outputs, &mut clock, cancel)?;
    let passed = run_clock.now().since(start);
    let counters = named(worker.statistics());
    Ok(WorkerReport { counters, ..WorkerReport::new(start, passed, operations, clock) })
}

/// Summarises the latencies of tasks, and of each kind of step.
fn latencies(done: &[WorkerReport<EachStep>]) -> Result<(Latency, BTreeMap<TaskStep, Latency>)> {
    let wall = Duration::from_nanos(passed(done).wall_ns);
    let together = |part: &dyn Fn(&EachStep) -> &Timed| {
        let mut all = Timed::new();
        for worker in done {
            all.add(part(&worker.outcome));
        }
        all
    };
    let summary = |all: &Timed| latency::summarise(&all.histogram, all.sum, wall);
    let mut steps = BTreeMap::new();
    for step in TaskStep::ALL {
        let all = together(&|clock| &clock.steps[step as usize]);
        if !all.histogram.is_empty() {
            steps.insert(step, summary(&all)?);
        }
    }
    Ok((summary(&together(&|clock| &clock.tasks))?, steps))
}
