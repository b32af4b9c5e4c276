//! The words for targets and workloads.

use std::collections::BTreeMap;

use checks::keys_touched;
use itertools::Itertools;
use model::{
    Batch, Case, Operation, Owner, Plan, PlannedTarget, Workload,
    record::Record,
    units::{show_count, show_percent, show_rate},
};

use super::{counted, joined, pairs};

/// Describes a target, wherever its store may be: `sqlite api=blob (journal=wal)`.
pub(crate) fn target(target: &PlannedTarget) -> String {
    described(target, &target.label, &[], owner(target))
}

/// Describes a target by another `name`, whoever owns the store, without the settings that its
/// durability class sets.
pub(crate) fn target_as(target: &PlannedTarget, name: &str) -> String {
    described(target, name, &target.of_class, None)
}

fn described(
    target: &PlannedTarget,
    name: &str,
    without: &[String],
    owner: Option<&str>,
) -> String {
    let named = |word: &String| name.split(' ').any(|part| part == word);
    let settings = target.settings.0.iter().filter(|(name, _)| !without.contains(name));
    let settings = settings.map(|(name, value)| format!("{name}={value}"));
    let on = target.on.iter().filter(|on| !name.contains(*on)).map(|on| format!("on {on}"));
    let owner = owner.map(str::to_owned);
    let more = joined(settings.filter(|word| !named(word)).chain(on).chain(owner), " ");
    more.map_or_else(|| name.to_owned(), |more| format!("{name} ({more})"))
}

/// Describes who owns a store; `None` for storemark's own.
pub(crate) fn owner(target: &PlannedTarget) -> Option<&'static str> {
    match target.owner {
        Owner::Scratch => None,
        Owner::User => Some("a store of the user"),
        Owner::Copy => Some("a copy"),
        Owner::InPlace => Some("in place"),
    }
}

pub(crate) fn label(plan: &Plan, target: usize) -> &str {
    plan.targets.get(target).map_or("", |target| &target.label)
}

/// Describes a workload: `read, random permutation, all operations a commit`.
pub(crate) fn workload(workload: &Workload) -> String {
    let what = match workload.work.operation() {
        Some(Operation::Mix(mix)) => mix.to_string(),
        _ => workload.work.to_string(),
    };
    let rate = workload.work.rate().map(|rate| format!("at {}/s", show_rate(rate)));
    let age = workload.work.age().map(|age| format!("age {age}"));
    let own = (workload.work.own_databases() == Some(true)).then(|| "a database each".to_owned());
    let more = [Some(conditions(workload)), rate, age, own].into_iter().flatten();
    [what].into_iter().chain(more).join(", ")
}

/// Describes the order of keys, the commits, and the workers if there are several.
fn conditions(workload: &Workload) -> String {
    let threads = counted(workload.threads.into(), "thread");
    let workers = match (workload.processes, workload.threads) {
        (1, 1) => None,
        (1, _) => Some(threads),
        (processes, 1) => Some(format!("{processes} processes")),
        (processes, _) => Some(format!("{processes} processes of {threads}")),
    };
    let order = workload.work.order().map(|order| order.to_string());
    let commits = match workload.batch {
        Batch::All if !workload.work.writes() => "all in one transaction".to_owned(),
        batch if !workload.work.writes() => format!("{batch} a transaction"),
        batch => format!("{batch} a commit"),
    };
    let commits = Some(commits);
    joined([order, commits, workers], ", ").unwrap_or_default()
}

/// Describes a case and what else varies: `read, warm, threads=2`.
pub(crate) fn about(plan: &Plan, case: Case, others: &BTreeMap<String, String>) -> String {
    joined([plan.case_name(case), pairs(others, "=", ", ")], ", ").unwrap_or_default()
}

/// Describes a case in full: `read, warm: 5,000 operations, random permutation, 100 operations a
/// commit, 2 threads`.
pub(crate) fn case_title(record: &Record, case: Case) -> String {
    let plan = &record.header.plan;
    let name = plan.workload_name(case.workload);
    let Some(workload) = plan.workloads.get(case.workload) else { return name };
    // A cold trial touches no key twice, so that it may have fewer than the plan.
    let measured =
        record.samples.iter().find(|s| s.workload == case.workload && s.cache == case.cache);
    // Of clients on other hosts, those count that were made while all worked.
    let measured = measured.filter(|_| plan.hosts.is_empty());
    let count = show_count(measured.map_or(workload.count, |sample| sample.operations));
    let on = match plan.hosts.len() {
        0 => String::new(),
        hosts => format!(" on {}", counted(hosts as u64, "host")),
    };
    let name = match workload.work.operation() {
        Some(Operation::Mix(mix)) => format!("{name} ({mix})"),
        _ => name,
    };
    let touched = keys_touched(record, case).map_or_else(String::new, |share| {
        format!(" a round, {} of the keys in all", show_percent(share))
    });
    let class = plan.durability.filter(|_| workload.work.writes());
    let class = class.map_or_else(String::new, |class| format!(", durability {class}"));
    let (cache, conditions) = (case.cache, conditions(workload));
    format!("{name}, {cache}: {count} operations{touched}, {conditions}{class}{on}")
}
