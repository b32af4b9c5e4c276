//! What was measured, and where.

use model::{
    Batch, DatasetSpec, DatasetSummary, Environment, Experiment, Plan,
    record::Record,
    units::{show_count, show_size},
};

use super::counted;

/// The data, and the machine.
pub(crate) fn what_and_where(record: &Record) -> [String; 2] {
    [data(&record.header.plan), machine(&record.header.environment)]
}

/// What the experiment works on.
pub(crate) fn data(plan: &Plan) -> String {
    match &plan.experiment {
        Experiment::Blobs { dataset, summary, available } => {
            let source = match dataset {
                DatasetSpec::Generated(data) => format!(" from seed {}", data.seed),
                DatasetSpec::Directory { path } => format!(" from {path}"),
                DatasetSpec::Targets => String::new(),
            };
            values(summary, *available, &source)
        }
        Experiment::Ageing { data, summary } => {
            values(summary, summary.count, &format!(" from seed {}", data.seed))
        }
        Experiment::Rows { rows } => table_of_rows(plan, *rows),
        Experiment::Tasks { tasks, rewrites, output } => {
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

/// Data that compresses to less than this share is reported to.
const COMPRESSES: f64 = 0.97;

/// `5,000 keys of 8,000 to 12,000 bytes (50.1 MB) from seed 42`.
fn values(summary: &DatasetSummary, available: u64, source: &str) -> String {
    let of_all = match available {
        all if all == summary.count => String::new(),
        all => format!(" of {}", show_count(all)),
    };
    let sizes = if summary.smallest == summary.largest {
        show_count(summary.smallest)
    } else {
        format!("{} to {}", show_count(summary.smallest), show_count(summary.largest))
    };
    let (count, bytes) = (show_count(summary.count), show_size(summary.bytes));
    let deflated = summary.deflated.filter(|share| *share < COMPRESSES);
    let deflated =
        deflated.map_or_else(String::new, |share| format!(", a sample deflates to {share:.2}"));
    let keys = if summary.count == 1 && of_all.is_empty() { "key" } else { "keys" };
    format!("{count}{of_all} {keys} of {sizes} bytes ({bytes}){source}{deflated}")
}

/// `200,000 rows of two integers by each process, 100,000 a transaction`.
fn table_of_rows(plan: &Plan, rows: u64) -> String {
    let batch = match plan.workloads.first().map(|workload| workload.batch) {
        Some(Batch::Of(batch)) => format!("{} a transaction", show_count(batch)),
        _ => "all in one transaction".to_owned(),
    };
    format!("{} rows of two integers by each process, {batch}", show_count(rows))
}

/// `AMD EPYC, 4 CPUs, 16.0 GB of memory, linux 6.18, ext4, virtualised (kvm), sqlite 3.51.1`.
pub(crate) fn machine(environment: &Environment) -> String {
    let system =
        [Some(environment.os.as_str()), environment.kernel.as_deref()].into_iter().flatten();
    let mut kinds: Vec<_> = environment.filesystems.iter().map(|fs| fs.kind.clone()).collect();
    kinds.dedup();
    let parts = [
        environment.cpu.model.clone(),
        Some(counted(environment.cpu.count.into(), "CPU")),
        environment.memory.total_bytes.map(|bytes| format!("{} of memory", show_size(bytes))),
        Some(system.collect::<Vec<_>>().join(" ")),
        Some(kinds.join(", ")),
        environment.virtualised.as_ref().map(|kind| format!("virtualised ({kind})")),
    ];
    let libraries = environment.libraries.iter().map(|l| format!("{} {}", l.name, l.version));
    let parts = parts.into_iter().flatten().chain(libraries);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}
