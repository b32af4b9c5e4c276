//! Doubts that reading raises.

use model::{Batch, Cache, Finding, FindingKind, Operation, record::Record};

pub(super) fn reads(record: &Record) -> Vec<Finding> {
    let workloads = record.header.plan.workloads.iter().enumerate();
    let reads =
        workloads.filter(|(_, workload)| workload.work.operation() == Some(Operation::Read));
    let about = |(index, batch)| {
        let alone = (batch == Batch::Of(1)).then_some(FindingKind::ReadsAlone);
        let doubts = only_warm(record).into_iter().chain(alone);
        doubts.map(move |doubt| Finding::run(doubt).in_workload(index))
    };
    reads.map(|(index, workload)| (index, workload.batch)).flat_map(about).collect()
}

/// A store without files has no other state than warm.
fn only_warm(record: &Record) -> Option<FindingKind> {
    let files = record.stores.iter().any(|facts| facts.apparent_bytes > 0);
    (record.header.plan.caches == [Cache::Warm] && files).then_some(FindingKind::OnlyWarm)
}
