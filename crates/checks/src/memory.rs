//! Doubts about the room that data and stores take: in the processor's cache, in memory, and in
//! caches of their own.

use model::{Finding, FindingKind, StoreFacts, record::Record};

/// Difference of two targets' own memory that needs no word, in bytes. SQLite's cache has 2 MB
/// unless it is set otherwise.
const OWN_MEMORY: u64 = 16 << 20;
/// The same as a part of the data: one in so many bytes.
const OWN_MEMORY_PART: u64 = 10;

pub(super) fn memory(record: &Record) -> Vec<Finding> {
    let doubts = fits_cpu_cache(record).into_iter().chain(memory_small(record));
    let differing = record.stores.iter().filter_map(|facts| memory_differs(record, facts));
    doubts.map(Finding::run).chain(differing).collect()
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

/// More memory is an advantage as far as there is data to put into it, and shows where the
/// difference is a good part of the data: more than a tenth, and more than engines differ in by
/// themselves.
fn memory_differs(record: &Record, facts: &StoreFacts) -> Option<Finding> {
    let plan = &record.header.plan;
    // What is taken for a cache is missing elsewhere.
    if plan.is_limited() {
        return None;
    }
    let baseline = record.stores.iter().find(|facts| facts.target == plan.baseline)?;
    let (bytes, baseline) = (facts.memory_bytes?, baseline.memory_bytes?);
    let data = plan.experiment.summary()?.bytes;
    let difference = bytes.min(data).abs_diff(baseline.min(data));
    (difference > OWN_MEMORY.max(data / OWN_MEMORY_PART)).then(|| {
        let doubt = FindingKind::MemoryDiffers { bytes, baseline };
        Finding::target(doubt, &plan.targets[facts.target].label)
    })
}
