//! What was compared, and where.

use model::{
    DatasetSpec, Environment, Experiment, Plan,
    record::Record,
    units::{show_count, show_size},
};

use super::page::{Page, Paint};

pub(super) fn print(page: &mut Page, record: &Record) {
    page.paragraph("", &data(&record.header.plan), Paint::Bold);
    machine_line(page, record);
}

/// Where it ran.
pub(super) fn machine_line(page: &mut Page, record: &Record) {
    page.paragraph("", &machine(&record.header.environment), Paint::Dim);
}

/// The same without its form: the data, and the machine.
pub(crate) fn what_and_where(record: &Record) -> [String; 2] {
    [data(&record.header.plan), machine(&record.header.environment)]
}

/// Data that compresses to less than this share is told to.
const COMPRESSES: f64 = 0.97;

/// `5,000 keys of 8,000 to 12,000 bytes (50.1 MB) from seed 42`.
pub(crate) fn data(plan: &Plan) -> String {
    let Some(summary) = plan.experiment.summary() else { return String::new() };
    let of_all = match plan.experiment.available().unwrap_or(summary.count) {
        all if all == summary.count => String::new(),
        all => format!(" of {}", show_count(all)),
    };
    let sizes = if summary.smallest == summary.largest {
        show_count(summary.smallest)
    } else {
        format!("{} to {}", show_count(summary.smallest), show_count(summary.largest))
    };
    let source = match &plan.experiment {
        Experiment::Ageing { data, .. }
        | Experiment::Blobs { dataset: DatasetSpec::Generated(data), .. } => {
            format!(" from seed {}", data.seed)
        }
        Experiment::Blobs { dataset: DatasetSpec::Directory { path }, .. } => {
            format!(" from {path}")
        }
        _ => String::new(),
    };
    let (count, bytes) = (show_count(summary.count), show_size(summary.bytes));
    let deflated = summary.deflated.filter(|share| *share < COMPRESSES);
    let deflated =
        deflated.map_or_else(String::new, |share| format!(", a sample deflates to {share:.2}"));
    let keys = if summary.count == 1 && of_all.is_empty() { "key" } else { "keys" };
    format!("{count}{of_all} {keys} of {sizes} bytes ({bytes}){source}{deflated}")
}

/// `AMD EPYC, 4 CPUs, 16.0 GB, linux 6.18, ext4, virtualised (kvm); sqlite 3.51.1`.
pub(crate) fn machine(environment: &Environment) -> String {
    let system =
        [Some(environment.os.as_str()), environment.kernel.as_deref()].into_iter().flatten();
    let mut kinds: Vec<_> = environment.filesystems.iter().map(|fs| fs.kind.clone()).collect();
    kinds.dedup();
    let parts = [
        environment.cpu.model.clone(),
        Some(cpus(environment.cpu.count)),
        environment.memory.total_bytes.map(|bytes| format!("{} of memory", show_size(bytes))),
        Some(system.collect::<Vec<_>>().join(" ")),
        Some(kinds.join(", ")),
        environment.virtualised.as_ref().map(|kind| format!("virtualised ({kind})")),
    ];
    let libraries = environment.libraries.iter().map(|l| format!("{} {}", l.name, l.version));
    let parts = parts.into_iter().flatten().chain(libraries);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn cpus(count: u32) -> String {
    if count == 1 { "1 CPU".to_owned() } else { format!("{count} CPUs") }
}
