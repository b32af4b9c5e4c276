//! The columns, in their order. What was not measured, or is not told by the system, is empty.

use model::{Batch, Latency, Residency, tasks::Step};

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
    column("run", "number of the run in the record, from 1", |t| Cell::number(t.run)),
    column("started", "when the run began, seconds since 1970", |t| {
        Cell::number(t.record.header.started)
    }),
    column("seed", "seed of the run", |t| Cell::number(t.record.header.plan.seed)),
    column("round", "round, from 1", |t| Cell::number(u64::from(t.sample.round) + 1)),
    column("position", "place of the trial in its shuffled round, from 1", |t| {
        Cell::number(u64::from(t.sample.position) + 1)
    }),
    column("target", "label of the target", |t| Cell::text(&t.target.label)),
    column("baseline", "whether others are compared with it", |t| {
        Cell::truth(t.sample.target == t.record.header.plan.baseline)
    }),
    column("engine", "its engine", |t| Cell::text(&t.target.engine)),
    column("location", "where its store is, if the user named it", |t| {
        Cell::text(&t.target.location)
    }),
    column("settings", "its settings as asked for", |t| Cell::text(&settings(t))),
    column("on", "the file system it was put on, if one was chosen", |t| {
        Cell::text(t.target.on.as_deref().unwrap_or_default())
    }),
    column("workload", "what was done, in words", |t| Cell::text(&words::workload(t.workload))),
    column("workload_number", "its number in the plan, from 1", |t| {
        Cell::number(t.sample.workload + 1)
    }),
    column("operation", "kind of operation", |t| Cell::text(&t.workload.work.to_string())),
    column("order", "order of the keys", |t| order(t)),
    column("batch", "operations a commit; empty: all of the pass", |t| match t.workload.batch {
        Batch::All => Cell::maybe(None::<u64>),
        Batch::Of(count) => Cell::number(count),
    }),
    column("processes", "processes at work", |t| Cell::number(t.workload.processes)),
    column("threads", "workers of each process", |t| Cell::number(t.workload.threads)),
    column("rate", "operations a second that were to begin", |t| {
        Cell::maybe(t.workload.work.rate())
    }),
    column("age", "storage age", |t| Cell::maybe(t.workload.work.age())),
    column("cache", "cache state that it was to begin in", |t| Cell::text(t.sample.cache.as_str())),
    column("in_state", "whether it did; if not, no estimate counts it", |t| {
        Cell::truth(t.record.in_state(t.sample))
    }),
    // The throughput pass.
    column("operations", "operations of the throughput pass", |t| {
        Cell::number(t.sample.operations)
    }),
    column("bytes", "bytes it read or wrote", |t| Cell::number(t.sample.bytes)),
    column("wall_ns", "its time, ns", |t| Cell::number(t.sample.wall_ns)),
    column("ns_per_operation", "what targets are compared by, ns", |t| {
        Cell::maybe(Some(t.sample.ns_per_operation()).filter(|ns| ns.is_finite()))
    }),
    column("settle_ns", "part of it that flushed the remaining writes, ns", |t| {
        Cell::number(t.sample.settle_ns)
    }),
    column("background_ns", "flushing the rest after it, not counted, ns", |t| {
        Cell::number(t.sample.background_ns)
    }),
    column("open_ns", "opening the store before it, ns", |t| Cell::number(t.sample.open_ns)),
    column("first_operations", "operations of the first pass after opening", |t| {
        Cell::maybe(t.sample.first().map(|first| first.operations))
    }),
    column("first_wall_ns", "its time, ns", |t| {
        Cell::maybe(t.sample.first().map(|first| first.wall_ns))
    }),
    // The latency pass.
    column("latency_operations", "operations of the latency pass", |t| {
        latency(t, |latency| latency.operations)
    }),
    column("latency_sum_ns", "sum of their latencies, ns", |t| {
        latency(t, |latency| latency.sum_ns)
    }),
    column("latency_p50_ns", "median latency, ns", |t| latency(t, |latency| latency.p50_ns)),
    column("latency_p99_ns", "99th percentile, ns", |t| latency(t, |latency| latency.p99_ns)),
    column("latency_max_ns", "largest, ns", |t| latency(t, |latency| latency.max_ns)),
    column("reached_per_s", "operations a second that were done on a schedule", |t| {
        Cell::maybe(t.sample.paced().map(|paced| paced.reached))
    }),
    column("lag_p99_ns", "99th percentile of how late operations began, ns", |t| {
        Cell::maybe(t.sample.paced().map(|paced| paced.lag_p99_ns))
    }),
    // The steps of a task.
    column("create_p50_ns", "median of creating a task, ns", |t| step(t, Step::Create)),
    column("status_p50_ns", "median of changing its status, ns", |t| step(t, Step::Status)),
    column("rewrite_p50_ns", "median of rewriting its output, ns", |t| step(t, Step::Rewrite)),
    column("delete_p50_ns", "median of deleting it, ns", |t| step(t, Step::Delete)),
    // What the throughput pass cost.
    column("user_ns", "processor time in user mode, ns", |t| Cell::number(t.sample.cost.user_ns)),
    column("system_ns", "processor time in kernel mode, ns", |t| {
        Cell::number(t.sample.cost.system_ns)
    }),
    column("minor_faults", "page faults served from memory", |t| {
        Cell::maybe(t.sample.cost.minor_faults)
    }),
    column("major_faults", "page faults that waited for a device", |t| {
        Cell::maybe(t.sample.cost.major_faults)
    }),
    column("voluntary_switches", "context switches because a thread waited", |t| {
        Cell::maybe(t.sample.cost.voluntary_switches)
    }),
    column("involuntary_switches", "context switches because its time was over", |t| {
        Cell::maybe(t.sample.cost.involuntary_switches)
    }),
    column("read_calls", "calls that read", |t| Cell::maybe(t.sample.io.map(|io| io.read_calls))),
    column("read_bytes", "bytes that they delivered", |t| {
        Cell::maybe(t.sample.io.map(|io| io.read_bytes))
    }),
    column("write_calls", "calls that wrote", |t| {
        Cell::maybe(t.sample.io.map(|io| io.write_calls))
    }),
    column("written_bytes", "bytes that they took", |t| {
        Cell::maybe(t.sample.io.map(|io| io.written_bytes))
    }),
    column("fetched_bytes", "bytes fetched from a device for the workers", |t| {
        Cell::maybe(t.sample.io.map(|io| io.device_read_bytes))
    }),
    column("device_read_bytes", "bytes read from the device, whoever asked", |t| {
        Cell::maybe(t.sample.device.map(|device| device.read_bytes))
    }),
    column("device_written_bytes", "bytes written to it, whoever asked", |t| {
        Cell::maybe(t.sample.device.map(|device| device.written_bytes))
    }),
    column("memory_bytes", "memory in use at its end, page cache left out", |t| {
        Cell::maybe(t.sample.memory_bytes)
    }),
    column("files_bytes", "lengths of the store's files after it", |t| {
        Cell::maybe(t.sample.files().map(|files| files.apparent))
    }),
    column("files_disk_bytes", "what they occupied on disk", |t| {
        Cell::maybe(t.sample.files().map(|files| files.allocated))
    }),
    // What it met.
    column("resident_before", "share of the store's pages in memory at its start", |t| {
        resident(t.sample.before)
    }),
    column("resident_after", "the same at its end", |t| resident(t.sample.after)),
    column("other_cpus", "processors' worth of time that other processes used", |t| {
        Cell::maybe(t.sample.load.other_cpus)
    }),
    column("steal", "share of processor time that the hypervisor took", |t| {
        Cell::maybe(t.sample.load.steal)
    }),
];

fn settings(trial: &Trial<'_>) -> String {
    let all = trial.target.settings.0.iter().map(|(name, value)| format!("{name}={value}"));
    all.collect::<Vec<_>>().join(" ")
}

/// Experiments without values have no order of keys.
fn order(trial: &Trial<'_>) -> Cell {
    Cell::text(&trial.workload.work.order().map_or_else(String::new, |order| order.to_string()))
}

fn latency(trial: &Trial<'_>, of: fn(&Latency) -> u64) -> Cell {
    Cell::maybe(trial.sample.latency().map(of))
}

fn step(trial: &Trial<'_>, step: Step) -> Cell {
    Cell::maybe(trial.sample.steps().and_then(|steps| Some(steps.get(&step)?.p50_ns)))
}

fn resident(residency: Option<Residency>) -> Cell {
    Cell::maybe(residency.and_then(|residency| residency.resident_share()))
}
