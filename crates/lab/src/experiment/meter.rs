//! What a pass costs.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use model::{Device, Result, Sample};

use crate::workload::nanoseconds;

/// How long before its start a pass is announced to the workers: long enough for all to wake.
const AHEAD_NS: u64 = 1_000_000;

/// Runs from the start of a pass until its writes are on the device.
pub(crate) struct PassMeter {
    meter: host::Meter,
    processes: Vec<u32>,
    /// Where the store is, and what the device under it had done.
    device: Option<(PathBuf, Device)>,
}

/// When a pass starts that is announced now.
pub(crate) fn soon_ns() -> u64 {
    host::now_ns() + AHEAD_NS
}

impl PassMeter {
    /// Counts what this process, others that work for the store and the device under `path` do.
    pub(crate) fn start(processes: Vec<u32>, path: Option<&Path>) -> Self {
        let device = path.and_then(|path| Some((path.to_owned(), host::device(path)?)));
        Self { meter: host::Meter::start(&processes), processes, device }
    }

    /// The pass is over: it took `wall`. After writes, `settle` does what the durability class
    /// still requires, on the clock, and `flush` flushes what was left to the background, off the
    /// clock.
    pub(crate) fn stop(
        self,
        wall: Duration,
        writes: bool,
        settle: impl FnOnce() -> Result<()>,
        flush: impl FnOnce() -> Result<()>,
    ) -> Result<Sample> {
        let settling = if writes { timed(settle)? } else { Duration::ZERO };
        let measured = self.meter.stop();
        let memory_bytes = host::occupied_bytes(&self.processes);
        let background = if writes { timed(flush)? } else { Duration::ZERO };
        let device = self.device.and_then(|(path, then)| Some(host::device(&path)?.since(then)));
        Ok(Sample {
            wall_ns: nanoseconds(wall + settling),
            settle_ns: nanoseconds(settling),
            background_ns: nanoseconds(background),
            cost: measured.cost,
            io: measured.io,
            device,
            load: measured.load,
            memory_bytes,
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
