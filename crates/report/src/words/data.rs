//! The data and the machine in words.

use itertools::Itertools;
use model::{
    AgeData, BackupData, Batch, BlobsData, DatasetSpec, DatasetSummary, Environment, Experiment,
    LifeData, Plan, QueueData, RowsData,
    record::Record,
    units::{show_count, show_size},
};

use super::{counted, joined};

pub(crate) fn what_and_where(record: &Record) -> [String; 2] {
    [data(&record.header.plan), machine(&record.header.environment)]
}

pub(crate) fn data(plan: &Plan) -> String {
    match &plan.experiment {
        Experiment::Blobs(BlobsData { dataset, summary, available, sampled_from, .. }) => {
            let source = source(dataset);
            let all = sampled_from.map_or(*available, |all| all.count);
            let source = if sampled_from.is_some() {
                format!("{source}, a sample stratified by size")
            } else {
                source
            };
            values(summary, all, &source)
        }
        Experiment::Life(LifeData { dataset, summary, .. }) => {
            values(summary, summary.count, &source(dataset))
        }
        Experiment::Age(AgeData { data, summary }) => {
            values(summary, summary.count, &format!(" from seed {}", data.seed))
        }
        Experiment::Backup(BackupData { folder, files, bytes, copies }) => {
            let what = match copies {
                None => "backups".to_owned(),
                Some(1) => "the catalogue's operations of backups".to_owned(),
                Some(copies) => {
                    format!(
                        "the catalogue's operations of backups, for {} copies",
                        show_count(u64::from(*copies))
                    )
                }
            };
            let (files, bytes) = (counted(*files, "file"), show_size(*bytes));
            match folder {
                None => format!("{what} of a generated folder: {files}, {bytes}"),
                Some(folder) => format!(
                    "{what} of a copy of {folder}: {files}, {bytes}; nothing is kept (--keep DIR)"
                ),
            }
        }
        Experiment::Rows(RowsData { rows }) => {
            let batch = match plan.workloads.first().map(|workload| workload.batch) {
                Some(Batch::Of(batch)) => format!("{} a transaction", show_count(batch)),
                _ => "all in one transaction".to_owned(),
            };
            format!("{} rows of two integers by each process, {batch}", show_count(*rows))
        }
        Experiment::Queue(QueueData { tasks, rewrites, output }) => {
            let workers = plan.workloads.first().map_or(0, |workload| workload.threads);
            format!(
                "{}, {} each: created, status changed, output of {} rewritten {}, deleted",
                counted(workers.into(), "worker"),
                counted(*tasks, "task"),
                show_size(*output),
                counted(*rewrites, "time")
            )
        }
    }
}

fn source(dataset: &DatasetSpec) -> String {
    match dataset {
        DatasetSpec::Generated(data) => format!(" from seed {}", data.seed),
        DatasetSpec::Directory { path } => format!(" from {path}"),
        DatasetSpec::Targets => String::new(),
    }
}

/// The share below which compressibility is reported.
const COMPRESSES: f64 = 0.97;

/// Describes values: `5,000 keys of 8,000 to 12,000 bytes (50.1 MB) from seed 42`.
fn values(summary: &DatasetSummary, available: u64, source: &str) -> String {
    let all = available == summary.count;
    let of_all = if all { String::new() } else { format!(" of {}", show_count(available)) };
    let (smallest, largest) = (summary.smallest, counted(summary.largest, "byte"));
    let one = smallest == summary.largest;
    let sizes = if one { largest } else { format!("{} to {largest}", show_count(smallest)) };
    let (count, bytes) = (show_count(summary.count), show_size(summary.bytes));
    let deflated = match summary.deflated {
        Some(share) if share < COMPRESSES => format!(", a sample deflates to {share:.2}"),
        _ => String::new(),
    };
    let keys = if summary.count == 1 && all { "key" } else { "keys" };
    format!("{count}{of_all} {keys} of {sizes} ({bytes}){source}{deflated}")
}

/// Describes a machine: `AMD EPYC, 4 CPUs, 16.0 GB of memory, linux 6.18, ext4, virtualised (kvm),
/// sqlite 3.51.1`.
pub(crate) fn machine(environment: &Environment) -> String {
    let parts = [
        environment.cpu.model.clone(),
        Some(counted(environment.cpu.count.into(), "CPU")),
        environment.memory.total_bytes.map(|bytes| format!("{} of memory", show_size(bytes))),
        joined([Some(environment.os.clone()), environment.kernel.clone()], " "),
        joined(environment.filesystems.iter().map(|fs| fs.kind.clone()).dedup(), ", "),
        environment.virtualised.as_ref().map(|kind| format!("virtualised ({kind})")),
    ];
    let libraries = environment.libraries.iter().map(|library| Some(library.to_string()));
    joined(parts.into_iter().chain(libraries), ", ").unwrap_or_default()
}
