//! The workers of one process: a thread each.

use std::{
    sync::{
        Barrier, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use model::Result;

use super::{Job, Watch};
use crate::workload::Done;

/// Runs the passes of `job` one after the other.
pub(crate) fn run<J: Job>(job: &J, watch: &mut dyn Watch<J::Pass, J::Outcome>) -> Result<()> {
    let gate = Gate::new(job.workers().len());
    thread::scope(|scope| {
        for number in job.workers() {
            let gate = &gate;
            scope.spawn(move || work(job, number, gate));
        }
        gate.barrier.wait();
        let outcome = job.passes().iter().try_for_each(|pass| {
            let done = job.observe(pass, &mut || {
                gate.run(watch.starts(pass)?);
                gate.take()
            })?;
            watch.ended(pass, done)
        });
        gate.close();
        outcome
    })
}

/// One worker's part. It comes to every barrier whatever happens, or the others would wait for
/// ever.
fn work<J: Job>(job: &J, number: usize, gate: &Gate<Done<J::Outcome>>) {
    let mut worker = Some(job.worker(number));
    gate.barrier.wait();
    let mut passes = job.passes().iter();
    while let Some(start_ns) = gate.enter() {
        let done = passes.next().zip(worker.take()).map(|(pass, opened)| {
            let mut opened = opened?;
            host::wait_until(start_ns);
            let done = opened.run(pass, start_ns)?;
            // One that failed is closed at once: others may wait for a lock that it holds.
            worker = Some(Ok(opened));
            Ok(done)
        });
        gate.put(done);
        gate.barrier.wait();
    }
}

/// Holds all workers and the one who looks on together.
struct Gate<T> {
    barrier: Barrier,
    /// Whether there is no further pass.
    closed: AtomicBool,
    /// When the next pass starts.
    start_ns: AtomicU64,
    /// What each worker did in the last pass.
    done: Mutex<Vec<Result<T>>>,
}

impl<T> Gate<T> {
    fn new(workers: usize) -> Self {
        Self {
            barrier: Barrier::new(workers + 1),
            closed: AtomicBool::new(false),
            start_ns: AtomicU64::new(0),
            done: Mutex::new(Vec::with_capacity(workers)),
        }
    }

    /// For a worker: waits for the next pass and returns when it starts; `None`: there is none.
    fn enter(&self) -> Option<u64> {
        self.barrier.wait();
        (!self.closed.load(Ordering::Relaxed)).then(|| self.start_ns.load(Ordering::Relaxed))
    }

    /// Lets the workers make a pass.
    fn run(&self, start_ns: u64) {
        self.start_ns.store(start_ns, Ordering::Relaxed);
        self.barrier.wait();
        self.barrier.wait();
    }

    /// Lets the workers end.
    fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.barrier.wait();
    }

    /// What a worker did; one that has failed before does nothing more.
    fn put(&self, done: Option<Result<T>>) {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).extend(done);
    }

    fn take(&self) -> Result<Vec<T>> {
        let done = std::mem::take(&mut *self.done.lock().unwrap_or_else(PoisonError::into_inner));
        done.into_iter().collect()
    }
}
