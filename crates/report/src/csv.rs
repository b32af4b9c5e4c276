//! Trials as comma-separated values: one row a trial, as RFC 4180 has it, text in quotes and numbers
//! without.

use std::{collections::BTreeSet, io::Write, ops::Deref};

use checks::sample_requests;
use csv::{QuoteStyle, WriterBuilder};
use itertools::Itertools;
use model::{
    Batch, Error, Latency, PlannedTarget, Requests, Result, Sample, Workload, record::Record,
    tasks::TaskStep,
};

use crate::{text::harmless, words};

/// A trial with the run, the target and the workload that it belongs to.
struct Trial<'a> {
    /// The number of the run, counted from 1.
    run: usize,
    record: &'a Record,
    target: &'a PlannedTarget,
    workload: &'a Workload,
    sample: &'a Sample,
}

impl Deref for Trial<'_> {
    type Target = Sample;

    fn deref(&self) -> &Sample {
        self.sample
    }
}

/// Returns the name and the meaning of each column, except the columns of a sweep.
pub fn csv_columns() -> impl Iterator<Item = (&'static str, &'static str)> {
    COLUMNS.iter().map(|(name, about, _)| (*name, *about))
}

/// Writes every trial of `records`, whose runs are numbered from 1. What varies in a sweep is in
/// columns of its own, before the others.
///
/// # Errors
///
/// Fails if `out` cannot be written to.
pub fn csv(records: &[Record], out: impl Write) -> Result<()> {
    let varied: BTreeSet<_> =
        records.iter().flat_map(|record| record.header.varied().keys()).collect();
    let mut out = WriterBuilder::new().quote_style(QuoteStyle::NonNumeric).from_writer(out);
    let names = varied.iter().map(|name| format!("sweep_{name}"));
    let names = names.chain(COLUMNS.iter().map(|(name, ..)| (*name).to_owned()));
    out.write_record(names).map_err(not_written)?;
    for (index, record) in records.iter().enumerate() {
        for sample in &record.samples {
            let plan = &record.header.plan;
            let of = plan.targets.get(sample.target).zip(plan.workloads.get(sample.workload));
            // One that is of neither is a finding, and no trial.
            let Some((target, workload)) = of else { continue };
            let trial = Trial { run: index + 1, record, target, workload, sample };
            let values = record.header.varied();
            let varied =
                varied.iter().map(|name| CsvCell::from(values.get(*name).map(String::as_str)));
            let cells = varied.chain(COLUMNS.iter().map(|(_, _, cell)| cell(&trial)));
            out.write_record(cells.map(|cell| cell.0)).map_err(not_written)?;
        }
    }
    out.flush().map_err(|error| not_written(error.into()))
}

fn not_written(error: csv::Error) -> Error {
    let message = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::io("CSV", error),
        _ => Error::failed(message),
    }
}

/// The head of a column, what it holds with its unit, and how its cell is computed from a trial.
type CsvColumn = (&'static str, &'static str, fn(&Trial<'_>) -> CsvCell);

/// The columns in their order. A cell is empty if its figure was not measured, or the system does
/// not report it.
const COLUMNS: &[CsvColumn] = &[
    // The run, the target and the workload.
    ("run", "number of the run in the record, from 1", |t| t.run.into()),
    ("started", "when the run began, seconds since 1970", |t| t.record.header.started.into()),
    ("seed", "seed of the run", |t| t.record.header.plan.seed.into()),
    ("repeat", "which of several --runs, from 1", |t| (u64::from(t.sample.run) + 1).into()),
    ("round", "round, from 1", |t| (u64::from(t.round) + 1).into()),
    ("position", "place of the trial in its shuffled round, from 1", |t| {
        (u64::from(t.position) + 1).into()
    }),
    ("target", "label of the target", |t| (&*t.target.label).into()),
    ("baseline", "whether others are compared with it", |t| {
        (t.sample.target == t.record.header.plan.baseline).into()
    }),
    ("engine", "its engine", |t| (&*t.target.engine).into()),
    ("location", "where its store is, if the user named it", |t| (&*t.target.location).into()),
    ("settings", "its settings as asked for", |t| settings(t).into()),
    ("on", "the file system it was put on, if one was chosen", |t| t.target.on.clone().into()),
    ("workload", "what was done, in words", |t| words::workload(t.workload).into()),
    ("workload_number", "its number in the plan, from 1", |t| (t.sample.workload + 1).into()),
    ("operation", "kind of operation", |t| t.workload.work.to_string().into()),
    // Experiments without values have none.
    ("order", "order of the keys", |t| t.workload.work.order().map(|o| o.to_string()).into()),
    ("batch", "operations a commit; empty: all of the pass", batch),
    ("processes", "processes at work", |t| t.workload.processes.into()),
    ("threads", "workers of each process", |t| t.workload.threads.into()),
    ("rate", "operations a second that were to begin", |t| t.workload.work.rate().into()),
    ("age", "storage age", |t| t.workload.work.age().into()),
    ("cache", "cache state that it was to begin in", |t| t.cache.as_str().into()),
    ("in_state", "whether it did; if not, no estimate counts it", |t| {
        t.record.in_state(t.sample).into()
    }),
    // The pass.
    ("operations", "operations of the pass", |t| t.operations.into()),
    ("bytes", "bytes it read or wrote", |t| t.bytes.into()),
    ("part", "the part of the keys that it touched, from 1; empty: all", |t| {
        t.passes().and_then(|passes| passes.part).map(|part| part + 1).into()
    }),
    ("copy", "the copy of a scratch store that it read, from 1; empty: there is one", |t| {
        t.passes().and_then(|passes| passes.copy).map(|copy| u64::from(copy) + 1).into()
    }),
    ("half", "whether it touched keys of half of a sample", |t| {
        t.passes().map(|passes| passes.half).into()
    }),
    ("wall_ns", "its time, ns", |t| t.wall_ns.into()),
    (
        "waited_ns",
        "the part of it that waited for a processor, not compared; empty: not known",
        |t| t.waited_ns.into(),
    ),
    ("ns_per_operation", "what targets are compared by, ns", |t| t.ns_per_operation().into()),
    ("settle_ns", "part of it that flushed the remaining writes, ns", |t| t.settle_ns.into()),
    ("background_ns", "flushing the rest after it, not counted, ns", |t| t.background_ns.into()),
    ("open_ns", "opening the store before it, ns", |t| t.open_ns.into()),
    ("first_operations", "operations of the first pass after opening", |t| {
        t.first_pass().map(|first| first.operations).into()
    }),
    ("first_ns", "its time without waiting for a processor, ns", |t| {
        t.first_pass().map(|first| first.ns).into()
    }),
    // Its latencies.
    ("latency_operations", "operations whose latencies are known", |t| {
        latency(t, |all| all.operations)
    }),
    ("latency_sum_ns", "sum of their latencies, ns", |t| latency(t, |all| all.sum_ns)),
    ("latency_p50_ns", "median latency, ns", |t| latency(t, |all| all.p50_ns)),
    ("latency_p99_ns", "99th percentile, ns", |t| latency(t, |all| all.p99_ns)),
    ("latency_p999_ns", "99.9th percentile, ns", |t| latency(t, |all| all.p999_ns)),
    ("latency_max_ns", "largest, ns", |t| latency(t, |all| all.max_ns)),
    ("reached_per_s", "operations a second that were done on a schedule", |t| {
        t.paced().map(|paced| paced.reached).into()
    }),
    ("lag_p99_ns", "99th percentile of how late operations began, ns", |t| {
        t.paced().map(|paced| paced.lag_p99_ns).into()
    }),
    // The steps of a task.
    ("create_p50_ns", "median of creating a task, ns", |t| step(t, TaskStep::Create)),
    ("status_p50_ns", "median of changing its status, ns", |t| step(t, TaskStep::Status)),
    ("rewrite_p50_ns", "median of rewriting its output, ns", |t| step(t, TaskStep::Rewrite)),
    ("delete_p50_ns", "median of deleting it, ns", |t| step(t, TaskStep::Delete)),
    // A step of a backup.
    ("catalogue_ns", "the part of its time that the catalogue took, ns", |t| {
        t.backup().map(|step| step.catalogue_ns).into()
    }),
    ("added_bytes", "bytes that it added to packs", |t| {
        t.backup().map(|step| step.added_bytes).into()
    }),
    // A day of changes in the life of a store.
    ("backup_files_bytes", "bytes that a backup of whole files must copy after it", |t| {
        t.backup_bytes().map(|bytes| bytes.files).into()
    }),
    ("backup_blocks_bytes", "the same of one of blocks of 4 KiB", |t| {
        t.backup_bytes().map(|bytes| bytes.blocks).into()
    }),
    // The costs of the pass.
    ("user_ns", "processor time in user mode, ns", |t| t.cost.user_ns.into()),
    ("system_ns", "processor time in kernel mode, ns", |t| t.cost.system_ns.into()),
    ("minor_faults", "page faults served from memory", |t| t.cost.minor_faults.into()),
    ("major_faults", "page faults that waited for a device", |t| t.cost.major_faults.into()),
    ("voluntary_switches", "context switches because a thread waited", |t| {
        t.cost.voluntary_switches.into()
    }),
    ("involuntary_switches", "context switches because its time was over", |t| {
        t.cost.involuntary_switches.into()
    }),
    ("read_calls", "calls that read", |t| t.io.and_then(|io| io.read_calls).into()),
    ("flushes", "calls that flushed to a device", |t| t.cost.flushes.into()),
    ("read_bytes", "bytes that they delivered", |t| t.io.and_then(|io| io.read_bytes).into()),
    ("write_calls", "calls that wrote", |t| t.io.and_then(|io| io.write_calls).into()),
    ("written_bytes", "bytes that they took", |t| t.io.and_then(|io| io.written_bytes).into()),
    ("fetched_bytes", "bytes fetched from a device for the workers", |t| {
        t.io.and_then(|io| io.device_read_bytes).into()
    }),
    ("sent_to_device_bytes", "bytes that the workers had the system write to a device", |t| {
        t.io.and_then(|io| io.device_written_bytes).into()
    }),
    ("device_read_bytes", "bytes read from the device, whoever asked", |t| {
        t.device.map(|device| device.read_bytes).into()
    }),
    ("device_written_bytes", "bytes written to it, whoever asked", |t| {
        t.device.map(|device| device.written_bytes).into()
    }),
    ("puts", "requests of an object store that cost what a put does", |t| {
        requests(t, |sent| sent.puts)
    }),
    ("gets", "those that cost what a get does", |t| requests(t, |sent| sent.gets)),
    ("deletes", "those that delete", |t| requests(t, |sent| sent.deletes)),
    ("sent_bytes", "bytes that they sent", |t| requests(t, |sent| sent.sent_bytes)),
    ("received_bytes", "bytes that they received", |t| requests(t, |sent| sent.received_bytes)),
    ("requests_cost", "what they cost by the target's prices, in their currency", |t| {
        sample_requests(t).and_then(|sent| sent.cost).into()
    }),
    ("memory_bytes", "memory in use at its end, page cache left out", |t| t.memory_bytes.into()),
    ("files_bytes", "lengths of the store's files after it", |t| {
        t.files().map(|f| f.apparent).into()
    }),
    ("files_disk_bytes", "what they occupied on disk", |t| t.files().map(|f| f.allocated).into()),
    // The conditions.
    ("resident_before", "share of the store's pages in memory at its start", |t| {
        t.before.and_then(|before| before.resident_share()).into()
    }),
    ("resident_after", "the same at its end", |t| {
        t.after.and_then(|after| after.resident_share()).into()
    }),
    (
        "other_cpus",
        "processors' worth of time that other processes used, within 0.02 s of it",
        |t| t.load.other_cpus.into(),
    ),
    ("steal", "share of processor time that the hypervisor took", |t| t.load.steal.into()),
];

fn settings(trial: &Trial<'_>) -> String {
    trial.target.settings.0.iter().map(|(name, value)| format!("{name}={value}")).join(" ")
}

fn batch(trial: &Trial<'_>) -> CsvCell {
    if let Batch::Of(count) = trial.workload.batch { count.into() } else { CsvCell::default() }
}

fn latency(trial: &Trial<'_>, of: fn(&Latency) -> u64) -> CsvCell {
    trial.sample.latency().map(of).into()
}

fn requests(trial: &Trial<'_>, of: fn(&Requests) -> u64) -> CsvCell {
    sample_requests(trial).as_ref().map(of).into()
}

fn step(trial: &Trial<'_>, step: TaskStep) -> CsvCell {
    trial.steps().and_then(|steps| Some(steps.get(&step)?.p50_ns)).into()
}

/// A number, or text that no program takes for a formula. An empty cell means that the value is not
/// known.
#[derive(Debug, Default, PartialEq)]
struct CsvCell(String);

/// The characters with which a spreadsheet takes text for a formula (OWASP, "CSV Injection").
const OF_FORMULAS: [char; 4] = ['=', '+', '-', '@'];

/// An apostrophe before a formula makes it text; control characters are replaced.
impl From<&str> for CsvCell {
    fn from(text: &str) -> Self {
        let text = harmless(text);
        let formula = text.trim_start().starts_with(OF_FORMULAS);
        Self(if formula { format!("'{text}") } else { text })
    }
}

impl From<String> for CsvCell {
    fn from(text: String) -> Self {
        Self::from(&*text)
    }
}

/// Converts a number; the cell is empty if the number is not finite.
impl From<f64> for CsvCell {
    fn from(number: f64) -> Self {
        Self(if number.is_finite() { number.to_string() } else { String::new() })
    }
}

macro_rules! from_plain {
    ($($plain:ty),*) => {
        $(impl From<$plain> for CsvCell {
            fn from(plain: $plain) -> Self {
                Self(plain.to_string())
            }
        })*
    };
}
from_plain!(bool, u32, u64, usize);

impl<T: Into<CsvCell>> From<Option<T>> for CsvCell {
    fn from(value: Option<T>) -> Self {
        value.map(Into::into).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_text_and_numbers_stay_numbers() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\u{a0}=1"] {
            assert!(CsvCell::from(formula).0.starts_with('\''), "{formula}");
        }
        for control in ["\t=1", "\r=1", "a\nb"] {
            assert!(!CsvCell::from(control).0.contains(['\t', '\r', '\n']), "{control:?}");
        }
        assert_eq!(CsvCell::from("sqlite api=blob").0, "sqlite api=blob");
        assert_eq!(CsvCell::from(-0.5).0, "-0.5");
        assert_eq!(CsvCell::from(None::<u64>).0, "");
    }
}
