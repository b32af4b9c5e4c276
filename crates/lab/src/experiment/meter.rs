//! What a pass costs.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use model::{Device, Result, Sample};

use crate::workload::{Done, done, nanoseconds};

/// How long before its start a pass is announced to the workers: long enough for all to wake.
const AHEAD_NS: u64 = 1_000_000;

/// When a pass starts that is announced now.
pub(crate) fn soon_ns() -> u64 {
    host::now_ns() + AHEAD_NS
}

/// Runs from the start of a pass until its writes are on the device.
pub(crate) struct PassMeter<'a> {
    meter: host::Meter,
    processes: &'a [u32],
    /// Where the store is, and what the device under it had done.
    device: Option<(&'a Path, Device)>,
}

impl<'a> PassMeter<'a> {
    /// Counts what this process, others that work for the store and the device under `path` do.
    pub(crate) fn start(processes: &'a [u32], path: Option<&'a Path>) -> Self {
        let device = path.and_then(|path| Some((path, host::device(path)?)));
        Self { meter: host::Meter::start(processes), processes, device }
    }

    /// The pass is over: the workers did `done`. After writes, `settle` does what the durability
    /// class still requires, on the clock, and what was left of `files` to the background is flushed
    /// off the clock.
    pub(crate) fn stop<T>(
        self,
        done: &[Done<T>],
        writes: bool,
        settle: impl FnOnce() -> Result<()>,
        files: impl FnOnce() -> Vec<PathBuf>,
    ) -> Result<Sample> {
        let settling = if writes { timed(settle)? } else { Duration::ZERO };
        let measured = self.meter.stop();
        let memory_bytes = host::occupied_bytes(self.processes);
        let background = if writes { timed(|| flush(&files()))? } else { Duration::ZERO };
        let device = self.device.and_then(|(path, then)| Some(host::device(path)?.since(then)));
        Ok(Sample {
            operations: done.iter().map(|worker| worker.operations).sum(),
            wall_ns: nanoseconds(done::wall(done) + settling),
            settle_ns: nanoseconds(settling),
            background_ns: nanoseconds(background),
            cost: measured.cost,
            io: measured.io,
            device,
            load: measured.load,
            memory_bytes,
            workers: done::workers(done),
            counters: done::counters(done),
            ..Sample::default()
        })
    }
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

/// Flushes files and folders.
pub(crate) fn flush(paths: &[PathBuf]) -> Result<()> {
    paths.iter().try_for_each(|path| host::sync(path))
}
