//! What can be doubted before anything was measured.

use model::{
    Doubt, Durability, Finding, Order, Plan, Settings, StoreFacts, Workload,
    record::{Header, Record},
};

use super::{
    filesystems::filesystems, machine::machine, memory::memory, reads::reads, servers::servers,
    updates::updates,
};

/// Doubts that plan, stores and environment raise.
pub(crate) fn before(record: &Record) -> Vec<Finding> {
    let Header { environment, plan, .. } = &record.header;
    let mut findings = machine(environment, plan);
    findings.extend(coverage(plan));
    findings.extend(memory(record));
    findings.extend(filesystems(record));
    findings.extend(reads(record));
    findings.extend(updates(record));
    findings.extend(servers(record));
    for facts in &record.stores {
        findings.extend(settings(plan, facts));
        findings.extend(durability(plan, facts, &record.stores));
        findings.extend(flushed_on_close(record, facts));
    }
    findings
}

/// Keys that a pass does not touch, and orders that flatter.
fn coverage(plan: &Plan) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, workload) in plan.workloads.iter().enumerate() {
        let touched = touched(workload, plan.summary.count);
        if touched < plan.available {
            let doubt = Doubt::KeysNotCovered { touched, keys: plan.available };
            findings.push(Finding::run(doubt).in_workload(index));
        }
        if matches!(workload.order, Order::Asc | Order::Desc) {
            findings.push(Finding::run(Doubt::OrderOfInsertion).in_workload(index));
        }
    }
    findings
}

/// Distinct keys that a pass touches; drawn with replacement, the expected number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of keys, at most `keys`"
)]
fn touched(workload: &Workload, keys: u64) -> u64 {
    if workload.order.is_skewed() {
        // That caches hold what is touched most is what is asked for.
        return keys;
    }
    if workload.order != Order::Random {
        return workload.count.min(keys);
    }
    // Each key stays untouched with probability (1 - 1/n)^count.
    let n = keys as f64;
    let untouched = (workload.count as f64 * (-1.0 / n).ln_1p()).exp();
    (n * (1.0 - untouched)).round() as u64
}

pub(super) fn settings(plan: &Plan, facts: &StoreFacts) -> Vec<Finding> {
    let target = &plan.targets[facts.target];
    let differs = |(name, asked): (&String, &String)| {
        let effect = facts.in_effect.get(name).unwrap_or("nothing");
        (effect != asked).then(|| Doubt::SettingNotInEffect {
            name: name.clone(),
            asked: asked.clone(),
            effect: effect.to_owned(),
        })
    };
    let Settings(asked) = &target.settings;
    asked.iter().filter_map(differs).map(|doubt| Finding::target(doubt, &target.label)).collect()
}

/// Only what is written can be lost: the class matters where there are updates.
pub(super) fn durability(
    plan: &Plan,
    facts: &StoreFacts,
    stores: &[StoreFacts],
) -> Option<Finding> {
    let baseline = class(stores, plan.baseline)?;
    (plan.first_write().is_some() && facts.durability != baseline).then(|| {
        let doubt = Doubt::DurabilityDiffers { class: facts.durability, baseline };
        Finding::target(doubt, &plan.targets[facts.target].label)
    })
}

pub(super) fn class(stores: &[StoreFacts], target: usize) -> Option<Durability> {
    stores.iter().find(|facts| facts.target == target).map(|facts| facts.durability)
}

/// ext4's `auto_da_alloc` (on by default, see ext4(5)) starts writing a file's blocks when it is
/// closed after it was truncated to nothing, and when it is renamed over another.
pub(super) fn flushed_on_close(record: &Record, facts: &StoreFacts) -> Option<Finding> {
    let Header { environment, plan, .. } = &record.header;
    let whole_files = matches!(facts.in_effect.get("write"), Some("inplace" | "rename"));
    let unsynced = facts.in_effect.get("sync") == Some("none");
    let update = plan.first_write()?;
    let target = plan.targets.get(facts.target)?;
    // What a file system is called begins with its kind.
    let on = |kind: &str| target.on.as_ref().is_none_or(|on| on.starts_with(kind));
    let flushing = environment
        .filesystems
        .iter()
        .find(|f| f.kind == "ext4" && !f.options.contains("noauto_da_alloc") && on(&f.kind))?;
    (whole_files && unsynced).then(|| {
        let doubt = Doubt::FlushedOnClose { kind: flushing.kind.clone() };
        Finding::target(doubt, &target.label).in_workload(update)
    })
}

#[cfg(test)]
mod tests {
    use model::{Batch, Operation};

    use super::*;

    #[test]
    fn drawing_with_replacement_leaves_a_third_untouched() {
        let mut workload = Workload {
            operation: Operation::Read,
            order: Order::Random,
            count: 100_000,
            batch: Batch::All,
            threads: 1,
            processes: 1,
            rate: None,
            own_databases: false,
            age: None,
        };
        // 1 - 1/e of the keys.
        assert_eq!(touched(&workload, 100_000), 63_212);
        workload.order = Order::Permutation;
        assert_eq!(touched(&workload, 100_000), 100_000);
        workload.count = 1000;
        assert_eq!(touched(&workload, 100_000), 1000);
    }
}
