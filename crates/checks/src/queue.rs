//! What can be doubted of a comparison of queues.

use model::{Finding, record::Record};

use super::{
    before::{durability, flushed_on_close, settings},
    filesystems::filesystems,
    machine::machine,
};

/// Doubts that the record raises, once all targets were set up.
pub fn queue(record: &Record) -> Vec<Finding> {
    let plan = &record.header.plan;
    let mut findings = machine(&record.header.environment, plan);
    findings.extend(filesystems(record));
    for facts in &record.stores {
        findings.extend(settings(plan, facts));
        findings.extend(durability(plan, facts, &record.stores));
        findings.extend(flushed_on_close(record, facts));
    }
    findings
}
