//! One trial: makes a queue, sees one task through and reads it back, has the workers make their
//! passes, and removes the queue. After each pass it must be empty.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use model::{
    Device, Error, FileBytes, First, Latency, Measured, Result, Sample, StoreFacts, Worker,
    tasks::{Queue, Step},
};

use super::{
    life::{Ids, Timed, check, outputs},
    request::{QueueRequest, QueueTarget},
    workers::{Leg, Watch, Work, Worked},
};
use crate::{
    Stop, host,
    rounds::Tried,
    seed::{Use, derive},
    trial::{AHEAD_NS, LATENCY_OPERATIONS, latency, nanoseconds},
};

/// What a trial works on.
pub(super) struct Trial<'a> {
    pub(super) request: &'a QueueRequest,
    pub(super) target: &'a QueueTarget,
    /// Where its queue is made; nothing is there.
    pub(super) place: &'a Path,
    /// Names the trial, so that its ids and outputs are its own.
    pub(super) seed: u64,
    pub(super) stop: &'a Stop,
}

impl Trial<'_> {
    pub(super) fn run(&self) -> Result<Tried> {
        let queue = self.target.engine.create(self.place, &self.target.settings)?;
        let tried = self.with(&*queue)?;
        // What is not known to be left refuses this.
        queue.remove()?;
        Ok(tried)
    }

    fn with(&self, queue: &dyn Queue) -> Result<Tried> {
        let start = Instant::now();
        let QueueRequest { rewrites, output, workers, .. } = *self.request;
        let outputs = outputs(rewrites, output, derive(self.seed, Use::Payloads, 0));
        check(&mut *queue.worker()?, &Ids::new(1, derive(self.seed, Use::Check, 0)), &outputs)?;
        none_left(queue)?;
        let facts = facts(queue, start.elapsed())?;
        let legs = legs(self.request, self.seed);
        let work = Work { queue, outputs: &outputs, legs: &legs, stop: self.stop };
        let mut passes = Passes {
            queue,
            place: self.place,
            stop: self.stop,
            before: None,
            sample: Sample::default(),
            first: None,
            latency: Latency::default(),
            steps: BTreeMap::new(),
            files: FileBytes::default(),
        };
        work.done_by(workers, &mut passes)?;
        let Passes { sample, first, latency, steps, files, .. } = passes;
        let FileBytes { apparent, allocated } = files;
        let sample =
            Sample { measured: Measured::Tasks { first, latency, steps, files }, ..sample };
        let facts = StoreFacts { apparent_bytes: apparent, allocated_bytes: allocated, ..facts };
        Ok(Tried { samples: vec![sample], facts })
    }
}

fn facts(queue: &dyn Queue, check: Duration) -> Result<StoreFacts> {
    Ok(StoreFacts {
        target: 0,
        in_effect: queue.in_effect()?,
        durability: queue.durability()?,
        apparent_bytes: 0,
        allocated_bytes: 0,
        memory_bytes: None,
        server: None,
        fill_ns: None,
        check_ns: nanoseconds(check),
    })
}

/// The first pass after the queue was made, the steady one, and one with a clock around each step.
fn legs(request: &QueueRequest, seed: u64) -> [Leg; 3] {
    let enough = LATENCY_OPERATIONS.div_ceil(request.workers.into());
    let few = request.tasks.min(enough);
    let leg = |index, tasks, clocked| Leg { tasks, seed: derive(seed, Use::Keys, index), clocked };
    [leg(0, few, false), leg(1, request.tasks, false), leg(2, few, true)]
}

/// A task that was deleted and is there is no task done.
fn none_left(queue: &dyn Queue) -> Result<()> {
    match queue.count()? {
        0 => Ok(()),
        n => Err(Error::corrupt(format!("tasks that are left of those that were deleted: {n}"))),
    }
}

/// A trial as its passes go by.
struct Passes<'a> {
    queue: &'a dyn Queue,
    place: &'a Path,
    stop: &'a Stop,
    before: Option<(host::Meter, Option<Device>)>,
    sample: Sample,
    first: Option<First>,
    latency: Latency,
    steps: BTreeMap<Step, Latency>,
    files: FileBytes,
}

impl Watch for Passes<'_> {
    fn starts(&mut self) -> u64 {
        let device = host::device(self.place);
        self.before = Some((host::Meter::start(&[]), device));
        host::now_ns() + AHEAD_NS
    }

    /// Pays what is owed on the clock, then notes and checks. Sizes are looked at before that, off
    /// the clock: what is owed may be what makes files small again.
    fn ended(&mut self, leg: &Leg, start_ns: u64, worked: &[Worked]) -> Result<()> {
        self.stop.check()?;
        let files = self.files()?;
        let owed = timed(|| self.queue.settle())?;
        let (meter, device) = self.before.take().expect("every pass starts before it ends");
        let measured = meter.stop();
        let memory_bytes = host::occupied_bytes(&[]);
        let background = timed(|| self.paths().iter().try_for_each(|path| host::sync(path)))?;
        let device = device.zip(host::device(self.place)).map(|(then, now)| now.since(then));
        none_left(self.queue)?;
        let ended_ns = worked.iter().map(|worker| worker.ended_ns).max().unwrap_or(start_ns);
        let wall = Duration::from_nanos(ended_ns.saturating_sub(start_ns));
        let operations = worked.iter().map(|worker| worker.tasks).sum();
        if leg.clocked {
            return self.note_latency(wall, worked, operations);
        }
        let Sample { operations: earlier, wall_ns, .. } = self.sample;
        self.first = (earlier > 0).then_some(First { operations: earlier, wall_ns });
        self.files = files;
        self.sample = Sample {
            operations,
            wall_ns: nanoseconds(wall + owed),
            settle_ns: nanoseconds(owed),
            background_ns: nanoseconds(background),
            cost: measured.cost,
            io: measured.io,
            device,
            load: measured.load,
            memory_bytes,
            workers: workers(start_ns, worked),
            counters: counters(worked),
            ..Sample::default()
        };
        Ok(())
    }
}

impl Passes<'_> {
    fn paths(&self) -> Vec<PathBuf> {
        self.queue.files().into_iter().filter(|path| path.exists()).collect()
    }

    fn files(&self) -> Result<FileBytes> {
        let host::Space { apparent, allocated } = host::space(&self.paths())?;
        Ok(FileBytes { apparent, allocated })
    }

    fn note_latency(&mut self, wall: Duration, worked: &[Worked], tasks: u64) -> Result<()> {
        let clocks = || worked.iter().filter_map(|worker| worker.clock.as_ref());
        let all = together(clocks().map(|clock| &clock.tasks));
        self.latency = latency(&all.histogram, all.sum, wall, tasks)?;
        for step in Step::ALL {
            let of = together(clocks().map(|clock| &clock.steps[step as usize]));
            let taken = of.histogram.len();
            if taken > 0 {
                self.steps.insert(step, latency(&of.histogram, of.sum, wall, taken)?);
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

/// What one alone did is told by the sample as a whole.
fn workers(start_ns: u64, worked: &[Worked]) -> Vec<Worker> {
    let part = |done: &Worked| Worker {
        process: 0,
        operations: done.tasks,
        wall_ns: done.ended_ns.saturating_sub(start_ns),
    };
    if worked.len() > 1 { worked.iter().map(part).collect() } else { Vec::new() }
}

fn counters(worked: &[Worked]) -> BTreeMap<String, i64> {
    let mut counters = BTreeMap::new();
    for (name, n) in worked.iter().flat_map(|worker| &worker.counters) {
        *counters.entry((*name).to_owned()).or_default() += n;
    }
    counters
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}
