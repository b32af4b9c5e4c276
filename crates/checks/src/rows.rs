//! What can be doubted of a comparison of rows.

use model::{
    Durability, Finding, FindingKind, Work, Workload,
    record::Record,
    rows::{DELAYED_ROWS, Operation},
};

use super::{
    before::{class, settings},
    filesystems::filesystems,
    machine::machine,
};

/// Doubts that the record raises, once all targets were set up.
pub fn rows(record: &Record) -> Vec<Finding> {
    let plan = &record.header.plan;
    let mut findings = machine(&record.header.environment, plan);
    findings.extend(filesystems(record));
    for facts in &record.stores {
        findings.extend(settings(plan, facts));
        let label = &plan.targets[facts.target].label;
        let durability = durability(record, facts.durability);
        findings.extend(durability.map(|doubt| Finding::target(doubt, label)));
    }
    findings.extend(not_delayed(record));
    findings
}

pub(super) fn durability(record: &Record, class: Durability) -> Option<FindingKind> {
    let baseline = self::class(&record.stores, record.header.plan.baseline)?;
    (class != baseline).then_some(FindingKind::DurabilityDiffers { class, baseline })
}

fn inserts(workload: &Workload) -> bool {
    matches!(workload.work, Work::Rows { operation: Operation::Insert, .. })
}

/// Trials in which a server was asked to put rows off and did not, or not all.
fn not_delayed(record: &Record) -> Vec<Finding> {
    let plan = &record.header.plan;
    let of = |sample: &model::Sample| {
        let target = plan.targets.get(sample.target)?;
        let workload = plan.workloads.get(sample.workload)?;
        let asked = target.settings.get("style") == Some("delayed");
        let delayed = sample.counters.get(DELAYED_ROWS).copied().unwrap_or(0).unsigned_abs();
        let short = delayed < sample.operations;
        (asked && inserts(workload) && short).then(|| {
            let doubt = FindingKind::NotDelayed { delayed, rows: sample.operations };
            Finding::target(doubt, &target.label).in_workload(sample.workload)
        })
    };
    record.samples.iter().filter_map(of).collect()
}
