//! The columns, in their order. What was not measured, or is not known to the system, is empty.

use model::{Batch, Device, FileBytes, Io, Latency, Residency, tasks::Step};

use super::{Trial, cell::Cell};
use crate::words;

/// A column.
pub(super) struct Column {
    /// Its head.
    pub(super) name: &'static str,
    /// What it holds, with its unit.
    pub(super) about: &'static str,
    /// Its cell for a trial.
    pub(super) cell: fn(&Trial<'_>) -> Cell,
}

const fn column(name: &'static str, about: &'static str, cell: fn(&Trial<'_>) -> Cell) -> Column {
    Column { name, about, cell }
}

pub(super) const COLUMNS: &[Column] = &[
    // What it is of.
    column("run", "number of the run in the record, from 1", |t| t.run.into()),
    column("started", "when the run began, seconds since 1970", |t| t.record.header.started.into()),
    column("seed", "seed of the run", |t| t.record.header.plan.seed.into()),
    column("round", "round, from 1", |t| (u64::from(t.round) + 1).into()),
    column("position", "place of the trial in its shuffled round, from 1", |t| {
        (u64::from(t.position) + 1).into()
    }),
    column("target", "label of the target", |t| Cell::text(&t.target.label)),
    column("baseline", "whether others are compared with it", |t| {
        (t.sample.target == t.record.header.plan.baseline).into()
    }),
    column("engine", "its engine", |t| Cell::text(&t.target.engine)),
    column("location", "where its store is, if the user named it", |t| {
        Cell::text(&t.target.location)
    }),
    column("settings", "its settings as asked for", |t| Cell::text(&settings(t))),
    column("on", "the file system it was put on, if one was chosen", |t| {
        t.target.on.as_deref().into()
    }),
    column("workload", "what was done, in words", |t| Cell::text(&words::workload(t.workload))),
    column("workload_number", "its number in the plan, from 1", |t| (t.sample.workload + 1).into()),
    column("operation", "kind of operation", |t| Cell::text(&t.workload.work.to_string())),
    column("order", "order of the keys", order),
    column("batch", "operations a commit; empty: all of the pass", batch),
    column("processes", "processes at work", |t| t.workload.processes.into()),
    column("threads", "workers of each process", |t| t.workload.threads.into()),
    column("rate", "operations a second that were to begin", |t| t.workload.work.rate().into()),
    column("age", "storage age", |t| t.workload.work.age().into()),
    column("cache", "cache state that it was to begin in", |t| t.cache.as_str().into()),
    column("in_state", "whether it did; if not, no estimate counts it", |t| {
        t.record.in_state(t.sample).into()
    }),
    // The throughput pass.
    column("operations", "operations of the throughput pass", |t| t.operations.into()),
    column("bytes", "bytes it read or wrote", |t| t.bytes.into()),
    column("wall_ns", "its time, ns", |t| t.wall_ns.into()),
    column("ns_per_operation", "what targets are compared by, ns", |t| t.ns_per_operation().into()),
    column("settle_ns", "part of it that flushed the remaining writes, ns", |t| t.settle_ns.into()),
    column("background_ns", "flushing the rest after it, not counted, ns", |t| {
        t.background_ns.into()
    }),
    column("open_ns", "opening the store before it, ns", |t| t.open_ns.into()),
    column("first_operations", "operations of the first pass after opening", |t| {
        t.first().map(|first| first.operations).into()
    }),
    column("first_wall_ns", "its time, ns", |t| t.first().map(|first| first.wall_ns).into()),
    // The latency pass.
    column("latency_operations", "operations of the latency pass", |t| {
        latency(t, |all| all.operations)
    }),
    column("latency_sum_ns", "sum of their latencies, ns", |t| latency(t, |all| all.sum_ns)),
    column("latency_p50_ns", "median latency, ns", |t| latency(t, |all| all.p50_ns)),
    column("latency_p99_ns", "99th percentile, ns", |t| latency(t, |all| all.p99_ns)),
    column("latency_max_ns", "largest, ns", |t| latency(t, |all| all.max_ns)),
    column("reached_per_s", "operations a second that were done on a schedule", |t| {
        t.paced().map(|paced| paced.reached).into()
    }),
    column("lag_p99_ns", "99th percentile of how late operations began, ns", |t| {
        t.paced().map(|paced| paced.lag_p99_ns).into()
    }),
    // The steps of a task.
    column("create_p50_ns", "median of creating a task, ns", |t| step(t, Step::Create)),
    column("status_p50_ns", "median of changing its status, ns", |t| step(t, Step::Status)),
    column("rewrite_p50_ns", "median of rewriting its output, ns", |t| step(t, Step::Rewrite)),
    column("delete_p50_ns", "median of deleting it, ns", |t| step(t, Step::Delete)),
    // What the throughput pass cost.
    column("user_ns", "processor time in user mode, ns", |t| t.cost.user_ns.into()),
    column("system_ns", "processor time in kernel mode, ns", |t| t.cost.system_ns.into()),
    column("minor_faults", "page faults served from memory", |t| t.cost.minor_faults.into()),
    column("major_faults", "page faults that waited for a device", |t| t.cost.major_faults.into()),
    column("voluntary_switches", "context switches because a thread waited", |t| {
        t.cost.voluntary_switches.into()
    }),
    column("involuntary_switches", "context switches because its time was over", |t| {
        t.cost.involuntary_switches.into()
    }),
    column("read_calls", "calls that read", |t| io(t, |io| io.read_calls)),
    column("read_bytes", "bytes that they delivered", |t| io(t, |io| io.read_bytes)),
    column("write_calls", "calls that wrote", |t| io(t, |io| io.write_calls)),
    column("written_bytes", "bytes that they took", |t| io(t, |io| io.written_bytes)),
    column("fetched_bytes", "bytes fetched from a device for the workers", |t| {
        io(t, |io| io.device_read_bytes)
    }),
    column("device_read_bytes", "bytes read from the device, whoever asked", |t| {
        device(t, |device| device.read_bytes)
    }),
    column("device_written_bytes", "bytes written to it, whoever asked", |t| {
        device(t, |device| device.written_bytes)
    }),
    column("memory_bytes", "memory in use at its end, page cache left out", |t| {
        t.memory_bytes.into()
    }),
    column("files_bytes", "lengths of the store's files after it", |t| {
        files(t, |files| files.apparent)
    }),
    column("files_disk_bytes", "what they occupied on disk", |t| files(t, |files| files.allocated)),
    // What it met.
    column("resident_before", "share of the store's pages in memory at its start", |t| {
        resident(t.before)
    }),
    column("resident_after", "the same at its end", |t| resident(t.after)),
    column("other_cpus", "processors' worth of time that other processes used", |t| {
        t.load.other_cpus.into()
    }),
    column("steal", "share of processor time that the hypervisor took", |t| t.load.steal.into()),
];

fn settings(trial: &Trial<'_>) -> String {
    let all = trial.target.settings.0.iter().map(|(name, value)| format!("{name}={value}"));
    all.collect::<Vec<_>>().join(" ")
}

fn batch(trial: &Trial<'_>) -> Cell {
    if let Batch::Of(count) = trial.workload.batch { count.into() } else { Cell::default() }
}

/// Experiments without values have no order of keys.
fn order(trial: &Trial<'_>) -> Cell {
    trial.workload.work.order().map(|order| order.to_string()).as_deref().into()
}

fn latency(trial: &Trial<'_>, of: fn(&Latency) -> u64) -> Cell {
    trial.sample.latency().map(of).into()
}

fn step(trial: &Trial<'_>, step: Step) -> Cell {
    trial.steps().and_then(|steps| Some(steps.get(&step)?.p50_ns)).into()
}

fn io(trial: &Trial<'_>, of: fn(&Io) -> u64) -> Cell {
    trial.io.as_ref().map(of).into()
}

fn device(trial: &Trial<'_>, of: fn(&Device) -> u64) -> Cell {
    trial.device.as_ref().map(of).into()
}

fn files(trial: &Trial<'_>, of: fn(&FileBytes) -> u64) -> Cell {
    trial.files().as_ref().map(of).into()
}

fn resident(residency: Option<Residency>) -> Cell {
    residency.and_then(|residency| residency.resident_share()).into()
}
