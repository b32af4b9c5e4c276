//! What can be doubted of stores that aged.

use std::collections::BTreeSet;

use model::{Finding, FindingKind, Measured, Sample, record::Record};

use super::{
    after::after, before::settings, filesystems::filesystems, machine::machine, rows::durability,
    servers::servers,
};

/// Doubts that the record raises, once all rounds are over.
pub fn age(record: &Record) -> Vec<Finding> {
    let plan = &record.header.plan;
    let mut findings = machine(&record.header.environment, plan);
    findings.extend(filesystems(record));
    findings.extend(servers(record));
    for facts in &record.stores {
        findings.extend(settings(plan, facts));
        let differs = durability(record, facts.durability);
        let label = &plan.targets[facts.target].label;
        findings.extend(differs.map(|doubt| Finding::target(doubt, label)));
    }
    findings.extend(extents_unknown(record));
    findings.extend(after(record));
    findings
}

/// Targets of whose files nobody tells where they lie.
fn extents_unknown(record: &Record) -> Vec<Finding> {
    let silent = |sample: &&Sample| match &sample.measured {
        Measured::Ageing { fragments, .. } => {
            fragments.as_ref().is_some_and(|fragments| fragments.extents.is_none())
        }
        _ => false,
    };
    let targets: BTreeSet<_> = record.samples.iter().filter(silent).map(|s| s.target).collect();
    let kind = record.header.environment.filesystems.first().map(|here| here.kind.clone());
    let kind = kind.unwrap_or_else(|| "the file system".to_owned());
    let label = |target: usize| &record.header.plan.targets[target].label;
    let finding =
        |target| Finding::target(FindingKind::ExtentsUnknown { kind: kind.clone() }, label(target));
    targets.into_iter().map(finding).collect()
}
