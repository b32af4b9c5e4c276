//! Whether data and stores fit: into the processor's cache, into memory, and into caches of the
//! stores' own.

use model::{Finding, FindingKind, StoreFacts, record::Record};

use super::baseline;

/// Difference of two targets' own memory that is not reported, in bytes. SQLite's cache has 2 MB
/// unless it is set otherwise.
const OWN_MEMORY: u64 = 16 << 20;
/// The same as a part of the data: one in so many bytes.
const OWN_MEMORY_PART: u64 = 10;

pub(super) fn findings(record: &Record) -> impl Iterator<Item = Finding> {
    [fits_cpu_cache(record), memory_small(record)].into_iter().flatten().map(Finding::run)
}

fn fits_cpu_cache(record: &Record) -> Option<FindingKind> {
    let bytes = record.header.plan.experiment.summary()?.bytes;
    let cache = record.header.environment.cpu.last_level_cache_bytes?;
    (bytes < cache).then_some(FindingKind::FitsCpuCache { bytes, cache })
}

fn memory_small(record: &Record) -> Option<FindingKind> {
    // A limit is there to be smaller than the data.
    if record.header.plan.is_limited() {
        return None;
    }
    let bytes = record.stores.iter().map(|facts| facts.allocated_bytes).sum();
    let available = record.header.environment.memory.available_bytes?;
    (bytes > available).then_some(FindingKind::MemorySmall { bytes, available })
}

/// More memory is an advantage as far as there is data to put into it, and shows if the difference
/// is a good part of the data: more than a tenth, and more than engines differ in by themselves.
pub(super) fn differs(record: &Record, facts: &StoreFacts) -> Option<FindingKind> {
    let plan = &record.header.plan;
    // What is taken for a cache is missing elsewhere.
    if plan.is_limited() {
        return None;
    }
    let (bytes, baseline) = (facts.memory_bytes?, baseline(record)?.memory_bytes?);
    let data = plan.experiment.summary()?.bytes;
    let difference = bytes.min(data).abs_diff(baseline.min(data));
    let differs = difference > OWN_MEMORY.max(data / OWN_MEMORY_PART);
    differs.then_some(FindingKind::MemoryDiffers { bytes, baseline })
}
