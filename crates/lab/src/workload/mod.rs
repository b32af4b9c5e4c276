//! The work of workers: operations on values and the cycle of tasks, drawn and generated before any
//! clock starts, and the loops between two clock reads.

mod background_work;
mod clock;
mod common_time;
mod every_nth;
pub(crate) mod interleaved;
pub(crate) mod latency;
mod op;
mod op_stream;
mod pass;
mod probe;
mod role;
mod slices;
pub(crate) mod task_cycle;
pub(crate) mod turns;
mod verify;
pub(crate) mod worker_report;

pub(crate) use background_work::during;
pub(crate) use clock::{Latencies, NoClock};
pub(crate) use common_time::common_time;
pub(crate) use latency::nanoseconds;
pub use op::{Op, Tally};
pub(crate) use op::{Walk, WorkerPass, run};
pub(crate) use op_stream::OpStream;
pub(crate) use pass::{Pass, PassInput, PassOutcome, Timing, drawn, index};
pub use probe::{Probe, ProbePass};
pub(crate) use role::{RoleInput, RoleOutcome, RolePass};
pub(crate) use slices::over_time;
pub(crate) use worker_report::WorkerReport;

/// The operations of a first pass that writes: they take long, and there is no cache to fill.
pub(crate) const FIRST_WRITES: u64 = 500;

/// The operations of a first pass that sends requests to a service, which may cost money: enough to
/// connect.
pub(crate) const FIRST_REQUESTS: u64 = 10;
