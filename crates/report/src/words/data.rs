//! The data and the machine in words.

use itertools::Itertools;
use model::{
    DatasetSpec, DatasetSummary, Environment,
    units::{show_count, show_size},
};

use super::{counted, joined};

/// Describes where values come from: ` from seed 42`; empty if they are what the targets hold.
pub(crate) fn describe_source(dataset: &DatasetSpec) -> String {
    match dataset {
        DatasetSpec::Generated(data) => format!(" from seed {}", data.seed),
        DatasetSpec::Directory { path } => format!(" from {path}"),
        DatasetSpec::Targets => String::new(),
    }
}

/// The share below which compressibility is reported.
const COMPRESSES: f64 = 0.97;

/// Describes values: `5,000 keys of 8,000 to 12,000 bytes (50.1 MB) from seed 42`.
pub(crate) fn describe_values(summary: &DatasetSummary, available: u64, source: &str) -> String {
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

/// Describes a number of values and their bytes: `5,000 (50.1 MB)`.
pub(crate) fn sized(count: u64, bytes: u64) -> String {
    format!("{} ({})", show_count(count), show_size(bytes))
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
