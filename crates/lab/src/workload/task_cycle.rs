//! The cycle of a task, step by step: the loop between the two clock reads.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use hdrhistogram::Histogram;
use host::now_ns;
use model::{
    Error, Result,
    tasks::{QueueWorker, StoredTask, Task, TaskStep},
};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::latency::histogram;
use crate::Stop;

/// The command of a task: as long as published, in words of our own.
const COMMAND: &str = "convert";
const ARGUMENTS: [&str; 3] = ["a", "b", "c"];
const CREATED: &str = "pending";
const STARTED: &str = "processing";

/// The number of digits of an id.
const ID: usize = 32;

/// The ids of tasks, one after the other.
pub(crate) struct Ids(String);

impl Ids {
    pub(crate) fn new(count: u64, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let ids =
            (0..count).map(|_| format!("{:016x}{:016x}", random.next_u64(), random.next_u64()));
        Self(ids.collect())
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.0.len()).step_by(ID).map(|start| &self.0[start..start + ID])
    }
}

/// Outputs of `length` letters and digits, one for each time that a task is rewritten: what is
/// written is never what is there.
pub(crate) fn outputs(rewrites: u64, length: u64, seed: u64) -> Vec<String> {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut letter = || char::from(LETTERS[(random.next_u64() >> 59) as usize]);
    (0..rewrites).map(|_| (0..length).map(|_| letter()).collect()).collect()
}

/// A clock that times each task and each of its steps: from one reading to the next, so that there
/// is one a step.
pub(crate) struct EachStep {
    pub(crate) tasks: Timed,
    /// In the order of [`TaskStep::ALL`].
    pub(crate) steps: [Timed; 4],
    /// When the current task began, and when its last step ended.
    task_ns: u64,
    step_ns: u64,
}

/// The latencies of one kind.
pub(crate) struct Timed {
    pub(crate) histogram: Histogram<u64>,
    pub(crate) sum: Duration,
}

impl Timed {
    pub(crate) fn new() -> Self {
        Self { histogram: histogram(), sum: Duration::ZERO }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.histogram += &other.histogram;
        self.sum += other.sum;
    }

    #[inline]
    fn record(&mut self, ns: u64) {
        self.sum += Duration::from_nanos(ns);
        self.histogram.saturating_record(ns);
    }
}

impl EachStep {
    pub(crate) fn new() -> Self {
        let (tasks, steps) = (Timed::new(), TaskStep::ALL.map(|_| Timed::new()));
        Self { tasks, steps, task_ns: 0, step_ns: 0 }
    }

    fn begin(&mut self) {
        self.task_ns = now_ns();
        self.step_ns = self.task_ns;
    }

    fn step(&mut self, step: TaskStep) {
        let now_ns = now_ns();
        self.steps[step as usize].record(now_ns - self.step_ns);
        self.step_ns = now_ns;
    }

    fn end(&mut self) {
        self.tasks.record(self.step_ns - self.task_ns);
    }
}

/// Takes tasks through all their steps, one after the other, until it is to stop or another worker
/// has `failed`; returns how many.
pub(crate) fn run(
    worker: &mut dyn QueueWorker,
    ids: &Ids,
    outputs: &[String],
    clock: &mut EachStep,
    (stop, failed): (&Stop, &AtomicBool),
) -> Result<u64> {
    let mut finished = 0;
    for id in ids.iter() {
        stop.check()?;
        if failed.load(Ordering::Relaxed) {
            break;
        }
        clock.begin();
        for (step, task) in steps(id, outputs) {
            worker.take(step, &task)?;
            clock.step(step);
        }
        clock.end();
        finished += 1;
    }
    Ok(finished)
}

fn steps<'a>(id: &'a str, outputs: &'a [String]) -> impl Iterator<Item = (TaskStep, Task<'a>)> {
    let created = Task { id, status: CREATED, command: COMMAND, arguments: &ARGUMENTS, output: "" };
    let started = Task { status: STARTED, ..created };
    let last = Task { output: outputs.last().map_or("", String::as_str), ..started };
    let rewritten =
        outputs.iter().map(move |output| (TaskStep::Rewrite, Task { output, ..started }));
    let begin = [(TaskStep::Create, created), (TaskStep::Status, started)];
    begin.into_iter().chain(rewritten).chain([(TaskStep::Delete, last)])
}

/// Takes one task through all its steps and reads it back after each step.
pub(crate) fn check(worker: &mut dyn QueueWorker, ids: &Ids, outputs: &[String]) -> Result<()> {
    for (step, task) in ids.iter().flat_map(|id| steps(id, outputs)) {
        worker.take(step, &task)?;
        let expected = (step != TaskStep::Delete)
            .then(|| StoredTask { status: task.status.to_owned(), output: task.output.to_owned() });
        if worker.find(task.id)? != expected {
            return Err(Error::corrupt(format!("after {step} a task is not as it was written")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_has_the_published_steps() {
        let outputs = outputs(10, 33, 1);
        let taken: Vec<TaskStep> = steps("x", &outputs).map(|(step, _)| step).collect();
        let mut expected = vec![TaskStep::Create, TaskStep::Status];
        expected.extend([TaskStep::Rewrite; 10]);
        expected.push(TaskStep::Delete);
        assert_eq!(taken, expected);
        let distinct: std::collections::BTreeSet<_> = outputs.iter().collect();
        assert_eq!((distinct.len(), outputs[0].len()), (10, 33));
    }

    #[test]
    fn ids_are_distinct_and_the_same_for_the_same_seed() {
        let ids = Ids::new(1000, 7);
        let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), 1000);
        assert!(ids.iter().all(|id| id.len() == ID && id.bytes().all(|b| b.is_ascii_hexdigit())));
        assert_eq!(Ids::new(1000, 7).0, ids.0);
        assert_ne!(Ids::new(1000, 8).0, ids.0);
    }
}
