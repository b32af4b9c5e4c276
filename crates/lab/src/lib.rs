//! The verbs of storemark: measure, copy, verify. Knows engines only by their traits.
#![warn(missing_docs)]

mod advise;
mod budget;
mod calibrate;
mod commits;
mod copy;
#[cfg(target_os = "linux")]
mod crash;
mod dataset;
mod doctor;
mod experiment;
mod progress;
mod recorder;
mod schedule;
mod store;
mod verify;
mod workers;
mod workload;

use std::sync::atomic::{AtomicBool, Ordering};

pub use ::host::{self, Stop};
pub use advise::{AdviseRequest, advise};
pub use calibrate::{CalibrateRequest, Calibrated, JudgeGate, Slow, SlowedEngine, calibrate};
pub use commits::{CommitsFound, CommitsRequest, check_commits, write_commits};
pub use copy::{
    Amount, Copied, CopyJob, StoreLocation, copy, copy_in_place, generated, interrupted_copy,
};
#[cfg(target_os = "linux")]
pub use crash::{CrashRequest, OneState, crash};
pub use dataset::nth_seed;
pub use doctor::{DoctorRequest, doctor};
pub use experiment::{
    age::AgeRequest,
    backup::BackupRequest,
    blobs::{
        BlobsRequest, Coverage, Data, Forecast, Hosts, Needs, RequestForecast, Room, RunForecast,
        equal_cache, forecast,
    },
    life::LifeRequest,
    queue::QueueRequest,
    request::{ExperimentRequest, Request, ResolvedTarget},
    roles::RolesRequest,
    rows::{Group, RowTarget, RowsRequest},
    store_cache::StoreCache,
};
pub use progress::{Progress, Silent};
pub use recorder::{RecordFile, Recorder, write_line};
pub use schedule::{Outcome, measure, measure_with};
pub use verify::{Checked, Differences, StoreTotals, Verified, check, verify};
pub use workers::{
    Finders, ProgramFacts, WORKER_SETTING, failure, plugin_facts, program_engine, serve,
    works_in_program,
};
pub use workload::{Op, Probe, ProbePass, Tally};

/// Runs `work`, and `watch` in a thread meanwhile, which is woken at the end; it is passed whether that has
/// come. Returns the results of both.
fn meanwhile<T, W: Send>(
    watch: impl FnOnce(&AtomicBool) -> W + Send,
    work: impl FnOnce() -> T,
) -> (T, std::thread::Result<W>) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(&over));
        let done = work();
        over.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        (done, watcher.join())
    })
}

/// Returns what a thread did; its panic goes on here.
fn join<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
