//! The findings about the work: keys that a pass leaves out, batches that are too small or too
//! large, writes that are not counted.

use model::{
    Batch, BlobWork, BlobsData, Cache, Finding, FindingKind, Operation, Order, StoreFacts, Work,
    Workload, record::Record, units::whole,
};

/// Finds workloads with more workers than processors.
pub(super) fn outnumbering(record: &Record) -> impl Iterator<Item = Finding> {
    let cpus = record.header.environment.cpu.count;
    // Other hosts have processors of their own.
    let cpus = if record.header.plan.hosts.is_empty() { cpus } else { u32::MAX };
    let workloads = (0..).zip(&record.header.plan.workloads);
    // On a schedule workers sleep most of the time; the times of roles leave out such waits.
    let waits = |work: Work| work.rate().is_none() && work.role().is_none();
    let busy = workloads.filter(move |(_, workload)| waits(workload.work));
    busy.filter(move |(_, workload)| workload.workers() > cpus).map(move |(index, workload)| {
        let kind = FindingKind::WorkersOutnumberCpus { workers: workload.workers(), cpus };
        Finding::run(kind).in_workload(index)
    })
}

/// Returns the findings about each workload on values.
pub(super) fn findings(record: &Record) -> Vec<Finding> {
    let plan = &record.header.plan;
    let Some(BlobsData { summary, available, drawn, .. }) = plan.experiment.blobs().cloned() else {
        return Vec::new();
    };
    let of = |(index, workload): (usize, &Workload)| {
        let Some(BlobWork { operation, order, .. }) = workload.work.blobs() else {
            return Vec::new();
        };
        // Rounds that touch parts of the keys touch all of them in turn.
        let touched = match workload.parts {
            Some(_) => available,
            None => touched(order, workload.count, summary.count),
        };
        let mut kinds = keys_not_covered(order, touched, available);
        if operation == Operation::Read {
            kinds.extend(only_warm(record));
            kinds.extend((workload.batch == Batch::Of(1)).then_some(FindingKind::ReadsAlone));
        }
        if plan.first_workload(Work::updates) == Some(index) {
            kinds.extend(one_commit(workload, &record.stores));
        }
        kinds.into_iter().map(|kind| Finding::run(kind).in_workload(index)).collect()
    };
    let drawn = drawn.map(|drawn| FindingKind::KeysDrawn { drawn, keys: summary.count });
    let drawn = drawn.into_iter().map(Finding::run);
    drawn.chain(plan.workloads.iter().enumerate().flat_map(of)).collect()
}

/// Returns findings about keys that a pass does not touch, and about orders that are faster than
/// most uses.
fn keys_not_covered(order: Order, touched: u64, available: u64) -> Vec<FindingKind> {
    let not_covered =
        (touched < available).then_some(FindingKind::KeysNotCovered { touched, keys: available });
    let in_order =
        matches!(order, Order::Asc | Order::Desc).then_some(FindingKind::OrderOfInsertion);
    not_covered.into_iter().chain(in_order).collect()
}

/// Returns the number of distinct keys that a pass touches; the expected number if they are drawn
/// with replacement.
fn touched(order: Order, count: u64, keys: u64) -> u64 {
    if order.is_skewed() {
        // That caches hold what is touched most is what is asked for.
        return keys;
    }
    if order != Order::Random {
        return count.min(keys);
    }
    // Each key stays untouched with probability (1 - 1/n)^count.
    let n = keys as f64;
    let untouched = (count as f64 * (-1.0 / n).ln_1p()).exp();
    whole((n * (1.0 - untouched)).round())
}

/// Returns a finding if only the warm state is measured; a store without files has no other.
fn only_warm(record: &Record) -> Option<FindingKind> {
    let files = record.stores.iter().any(|facts| facts.apparent_bytes > 0);
    (record.header.plan.caches == [Cache::Warm] && files).then_some(FindingKind::OnlyWarm)
}

/// Returns a finding if a whole pass shares one commit: the better the durability class, the more a
/// commit costs, and the more that misleads.
fn one_commit(workload: &Workload, stores: &[StoreFacts]) -> Option<FindingKind> {
    let class = stores.iter().map(|facts| facts.durability).max()?;
    let operations = workload.count;
    let shared = match workload.batch {
        Batch::All => operations > 1,
        Batch::Of(batch) => operations > 1 && batch >= operations,
    };
    shared.then_some(FindingKind::OneCommit { operations, class })
}

/// Returns findings about what a store leaves out of the time of writing, or counts and others do
/// not.
pub(super) fn of_store(record: &Record, facts: &StoreFacts) -> Vec<Finding> {
    let plan = &record.header.plan;
    let find = |kind, workload| {
        Finding::target(kind, &plan.targets[facts.target].label).in_workload(workload)
    };
    let flushed = plan.first_workload(Work::writes).zip(flushed_on_close(record, facts));
    let logged = plan.first_workload(Work::updates).filter(|_| is_never_checkpointed(facts));
    let flushed = flushed.map(|(write, kind)| find(kind, write));
    flushed.into_iter().chain(logged.map(|at| find(FindingKind::NoCheckpoint, at))).collect()
}

/// Returns a finding if the file system flushes on close: ext4's `auto_da_alloc` (on by default,
/// see ext4(5)) starts writing a file's blocks when it is closed after it was truncated to nothing,
/// and when it is renamed over another.
fn flushed_on_close(record: &Record, facts: &StoreFacts) -> Option<FindingKind> {
    let whole_files = matches!(facts.in_effect.get("write"), Some("inplace" | "rename"));
    if !whole_files || facts.in_effect.get("sync") != Some("none") {
        return None;
    }
    let target = &record.header.plan.targets[facts.target];
    // The name of a file system starts with its type.
    let on = |kind: &str| target.on.as_ref().is_none_or(|on| on.starts_with(kind));
    let mut filesystems = record.header.environment.filesystems.iter();
    filesystems
        .find(|f| f.kind == "ext4" && !f.options.contains("noauto_da_alloc") && on(&f.kind))
        .map(|flushing| FindingKind::FlushedOnClose { kind: flushing.kind.clone() })
}

fn is_never_checkpointed(facts: &StoreFacts) -> bool {
    let is = |name, value| facts.in_effect.get(name) == Some(value);
    is("journal", "wal") && is("checkpoint", "none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawing_with_replacement_leaves_a_third_untouched() {
        // 1 - 1/e of the keys.
        assert_eq!(touched(Order::Random, 100_000, 100_000), 63_212);
        assert_eq!(touched(Order::Permutation, 100_000, 100_000), 100_000);
        assert_eq!(touched(Order::Permutation, 1000, 100_000), 1000);
    }
}
