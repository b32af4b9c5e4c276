//! A meter of the costs of a pass.

use std::path::{Path, PathBuf};

use host::{Passed, RunClock, Spent, ThreadMeter, Usage};
use model::{Cost, Device, Result, Sample};

use crate::workload::{WorkerReport, worker_report};

/// How long before its start a pass is announced to the workers: long enough for all to wake.
const AHEAD_NS: u64 = 1_000_000;

/// Returns the start of a pass that is announced now.
pub(crate) fn soon_ns() -> u64 {
    host::now_ns() + AHEAD_NS
}

/// The processes that work for a store, besides this one.
#[derive(Clone, Copy, Default)]
pub(crate) struct Others<'a> {
    /// Servers: they are seen from outside.
    pub(crate) servers: &'a [u32],
    /// Workers on this host: they report what a pass cost them.
    pub(crate) workers: &'a [u32],
    /// What this process does meanwhile.
    pub(crate) own: Own,
}

/// The part of a pass that is the work of this process.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Own {
    /// All that it does meanwhile.
    #[default]
    Works,
    /// The flush that the durability class still requires; else it only asks workers.
    Settles,
    /// Nothing: it only asks workers.
    Asks,
}

/// A meter that runs from the start of a pass until its writes are on the device.
pub(crate) struct PassMeter<'a> {
    meter: host::Meter,
    others: Others<'a>,
    /// The clock of the thread that waits for the workers.
    clock: RunClock,
    server: bool,
    /// The folder of the store, and what the device under it had done at the start.
    device: Option<(&'a Path, Device)>,
}

impl<'a> PassMeter<'a> {
    /// Counts what this process, `others` and the device under `path` do. `server`: the store is that of
    /// one, whose threads' waiting cannot be distinguished from its work.
    pub(crate) fn start(others: Others<'a>, path: Option<&'a Path>, server: bool) -> Self {
        let device = path.and_then(|path| Some((path, host::device(path)?)));
        let clock = RunClock::of_this_thread();
        let meter = host::Meter::start(others.servers, others.workers);
        Self { meter, others, clock, server, device }
    }

    /// Completes the sample from what the workers have `done`. After writes, `settle` does what the
    /// durability class still requires, on the clock. Then `files` are flushed off the clock, which
    /// `background_ns` and the device's counters have.
    pub(crate) fn stop<T>(
        self,
        done: &[WorkerReport<T>],
        writes: bool,
        settle: impl FnOnce() -> Result<()>,
        files: impl FnOnce() -> Vec<PathBuf>,
    ) -> Result<Sample> {
        let (settling, own) =
            if writes { self.settle_pass(settle)? } else { (NOTHING, Usage::NONE) };
        let measured = self.meter.stop();
        let own = if self.others.own == Own::Works { measured.own } else { own };
        let Usage { cost, io } = measured.with(own);
        let pass = worker_report::passed(done).plus(settling);
        let memory_bytes =
            host::occupied_bytes(&[self.others.servers, self.others.workers].concat());
        let flushing = || timed(&self.clock, || flush(&files()));
        let background = if writes { flushing()? } else { NOTHING };
        let device = self.device.and_then(|(path, then)| Some(host::device(path)?.since(then)));
        Ok(Sample {
            operations: done.iter().map(|worker| worker.operations).sum(),
            wall_ns: pass.wall_ns,
            waited_ns: pass.waited_ns.filter(|_| !self.server && done.len() <= processors()),
            settle_ns: settling.wall_ns,
            background_ns: background.wall_ns,
            // The flushes of a server are not seen.
            cost: Cost { flushes: cost.flushes.filter(|_| !self.server), ..cost },
            io,
            device,
            load: measured.load,
            memory_bytes,
            workers: worker_report::workers(done),
            counters: worker_report::counters(done),
            ..Sample::default()
        })
    }

    /// Makes what the durability class still requires. Also returns the work that this thread had with it.
    fn settle_pass(&self, settle: impl FnOnce() -> Result<()>) -> Result<(Passed, Usage)> {
        if self.others.own != Own::Settles {
            return Ok((timed(&self.clock, settle)?, Usage::NONE));
        }
        let mut spent = Spent::default();
        ThreadMeter::of_this_thread().measure(&mut spent, settle)?;
        Ok((spent.passed, Usage { cost: spent.cost, io: spent.io }))
    }
}

const NOTHING: Passed = Passed { wall_ns: 0, waited_ns: Some(0) };

/// Returns the number of processors that this process may use. More workers wait for each other,
/// which is part of the work.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn timed(clock: &RunClock, work: impl FnOnce() -> Result<()>) -> Result<Passed> {
    let start = clock.now();
    work()?;
    Ok(clock.now().since(start))
}

/// Flushes files and folders.
pub(crate) fn flush(paths: &[PathBuf]) -> Result<()> {
    paths.iter().try_for_each(|path| host::sync(path))
}
