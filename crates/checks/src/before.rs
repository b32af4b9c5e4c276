//! What can be doubted before anything was measured.

use model::{
    Durability, Experiment, Finding, FindingKind, Order, Plan, Settings, StoreFacts, Work,
    record::{Header, Record},
};

use super::{
    filesystems::filesystems, machine::machine, memory::memory, reads::reads, servers::servers,
    updates::updates,
};

/// Doubts that plan, stores and environment raise.
pub fn before(record: &Record) -> Vec<Finding> {
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
    let Experiment::Blobs { summary, available, .. } = plan.experiment else { return findings };
    for (index, workload) in plan.workloads.iter().enumerate() {
        let Work::Blobs { order, .. } = workload.work else { continue };
        let touched = touched(order, workload.count, summary.count);
        if touched < available {
            let doubt = FindingKind::KeysNotCovered { touched, keys: available };
            findings.push(Finding::run(doubt).in_workload(index));
        }
        if matches!(order, Order::Asc | Order::Desc) {
            findings.push(Finding::run(FindingKind::OrderOfInsertion).in_workload(index));
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
    (n * (1.0 - untouched)).round() as u64
}

pub(super) fn settings(plan: &Plan, facts: &StoreFacts) -> Vec<Finding> {
    let target = &plan.targets[facts.target];
    let differs = |(name, asked): (&String, &String)| {
        let effect = facts.in_effect.get(name).unwrap_or("nothing");
        (effect != asked).then(|| FindingKind::SettingNotInEffect {
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
        let doubt = FindingKind::DurabilityDiffers { class: facts.durability, baseline };
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
        let doubt = FindingKind::FlushedOnClose { kind: flushing.kind.clone() };
        Finding::target(doubt, &target.label).in_workload(update)
    })
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
