//! Doubts that updating raises.

use model::{Batch, Finding, FindingKind, StoreFacts, Workload, record::Record};

pub(super) fn updates(record: &Record) -> Vec<Finding> {
    let plan = &record.header.plan;
    let Some(update) = plan.first_update() else { return Vec::new() };
    let commits = one_commit(&plan.workloads[update], &record.stores).map(Finding::run);
    let logged = record.stores.iter().filter(|facts| is_never_checkpointed(facts));
    let logged = logged
        .map(|facts| Finding::target(FindingKind::NoCheckpoint, &plan.targets[facts.target].label));
    commits.into_iter().chain(logged).map(|finding| finding.in_workload(update)).collect()
}

/// The better the promise, the more a commit costs, and the more it misleads to share one.
fn one_commit(workload: &Workload, stores: &[StoreFacts]) -> Option<FindingKind> {
    let class = stores.iter().map(|facts| facts.durability).max()?;
    let operations = workload.count;
    let shared = match workload.batch {
        Batch::All => operations > 1,
        Batch::Of(batch) => operations > 1 && batch >= operations,
    };
    shared.then_some(FindingKind::OneCommit { operations, class })
}

fn is_never_checkpointed(facts: &StoreFacts) -> bool {
    let is = |name, value| facts.in_effect.get(name) == Some(value);
    is("journal", "wal") && is("checkpoint", "none")
}
