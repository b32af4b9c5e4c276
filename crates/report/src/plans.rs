//! What differs between the plans of records.
//!
//! Seeds, the number of rounds and what a pilot settles on the spot (operations in a pass) do not
//! count, nor do the places of stores and folders, which are other ones on another machine.

use model::{
    DatasetSpec, Generated, MemoryLimit, Operation, Owner, Plan, PlannedTarget, Workload,
    units::{show_count, show_rate, show_size},
};

use crate::unlike::Unlike;

/// What differs between `all`. Where nothing does, their workloads, cache states and targets have
/// the same indices.
pub fn plan_differences(all: &[&Plan]) -> Vec<Unlike> {
    let lists = |what, of: fn(&Plan) -> Vec<String>| {
        Unlike::of_lists(what, &all.iter().map(|plan| of(plan)).collect::<Vec<_>>())
    };
    let words = |what, of: fn(&Plan) -> String| Unlike::of(what, all.iter().map(|plan| of(plan)));
    [
        lists("targets", |plan| plan.targets.iter().map(target_words).collect()),
        lists("workloads", |plan| plan.workloads.iter().map(workload_words).collect()),
        lists("cache states", |plan| plan.caches.iter().map(ToString::to_string).collect()),
        words("data", data),
        words("keys touched", touched),
        words("baseline", baseline),
        words("durability", durability),
        words("memory", memory),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What a target is, wherever its store may be: `sqlite api=blob (journal=wal)`.
pub(crate) fn target_words(target: &PlannedTarget) -> String {
    let named = |word: &String| target.label.split(' ').any(|part| part == word);
    let settings = target.settings.0.iter().map(|(name, value)| format!("{name}={value}"));
    let on = target.on.iter().filter(|on| !target.label.contains(*on)).map(|on| format!("on {on}"));
    let owner = match target.owner {
        Owner::Scratch => None,
        Owner::User => Some("a store that was there".to_owned()),
        Owner::Copy => Some("a copy".to_owned()),
        Owner::InPlace => Some("in place".to_owned()),
    };
    let beside: Vec<String> = settings.filter(|word| !named(word)).chain(on).chain(owner).collect();
    if beside.is_empty() {
        return target.label.clone();
    }
    format!("{} ({})", target.label, beside.join(" "))
}

/// What a workload is: `read, random permutation, all operations a commit, 1 worker`.
pub(crate) fn workload_words(workload: &Workload) -> String {
    let what = match workload.operation {
        Operation::Mix(mix) => mix.to_string(),
        other => other.to_string(),
    };
    let workers = match (workload.processes, workload.threads) {
        (1, 1) => "1 worker".to_owned(),
        (1, threads) => format!("{threads} threads"),
        (processes, 1) => format!("{processes} processes"),
        (processes, threads) => format!("{processes} processes of {threads} threads"),
    };
    let batch = format!("{} a commit", workload.batch);
    let rate = workload.rate.map(|rate| format!("at {}/s", show_rate(rate)));
    let age = workload.age.map(|age| format!("age {age}"));
    let own = workload.own_databases.then(|| "a database each".to_owned());
    let always = [what, workload.order.to_string(), batch, workers];
    always.into_iter().chain(rate).chain(age).chain(own).collect::<Vec<_>>().join(", ")
}

fn data(plan: &Plan) -> String {
    let there = || format!("{} ({})", show_count(plan.available), show_size(plan.summary.bytes));
    match &plan.dataset {
        DatasetSpec::Generated(made) => generated(made),
        DatasetSpec::Directory { .. } => format!("a folder of {}", there()),
        DatasetSpec::Targets => format!("what the targets hold, {}", there()),
        DatasetSpec::Rows { rows } => format!("{} rows a process", show_count(*rows)),
        DatasetSpec::Tasks { tasks, rewrites, output } => {
            let [tasks, rewrites, output] = [tasks, rewrites, output].map(|n| show_count(*n));
            format!("{tasks} tasks a worker, {rewrites} rewrites of {output} bytes")
        }
    }
}

fn generated(made: &Generated) -> String {
    let [count, size, variance] = [made.count, made.size, made.variance].map(show_count);
    let random = match made.random_percent {
        100 => String::new(),
        percent => format!(", {percent} % of them random"),
    };
    format!("{count} blobs made up, of {size} ± {variance} bytes{random}")
}

fn touched(plan: &Plan) -> String {
    format!("{} of {}", show_count(plan.summary.count), show_count(plan.available))
}

fn baseline(plan: &Plan) -> String {
    plan.targets.get(plan.baseline).map(|target| target.label.clone()).unwrap_or_default()
}

fn durability(plan: &Plan) -> String {
    plan.durability.map_or_else(|| "as each target is set".to_owned(), |class| class.to_string())
}

fn memory(plan: &Plan) -> String {
    match plan.memory {
        None => "not limited".to_owned(),
        Some(MemoryLimit { bytes, limit_bytes: Some(_), .. }) => show_size(bytes),
        Some(MemoryLimit { bytes, .. }) => format!("{} for caches alone", show_size(bytes)),
    }
}
