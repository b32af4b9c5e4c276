//! What differs between the plans of records.
//!
//! Seeds, the number of rounds and what a pilot settles on the spot (operations in a pass) do not
//! count, nor do the places of stores and folders, which are other ones on another machine.

use model::{
    DatasetSpec, Experiment, Generated, MemoryLimit, Operation, Owner, Plan, PlannedTarget, Work,
    Workload,
    units::{show_count, show_rate, show_size},
};

use crate::unlike::Unlike;

/// What differs between `all`. Where nothing does, their workloads, cache states and targets have
/// the same indices.
pub fn plan_differences(all: &[&Plan]) -> Vec<Unlike> {
    let lists = |what, of: fn(&Plan) -> Vec<String>| {
        Unlike::of_lists(what, &all.iter().map(|plan| of(plan)).collect::<Vec<_>>())
    };
    let compared = [
        lists("targets", |plan| plan.targets.iter().map(target_words).collect()),
        lists("workloads", |plan| plan.workloads.iter().map(workload_words).collect()),
        lists("cache states", |plan| plan.caches.iter().map(ToString::to_string).collect()),
        words("baseline", all, baseline),
    ];
    compared.into_iter().flatten().chain(data_difference(all)).chain(conditions(all)).collect()
}

/// What differs in the data that is worked on.
pub(crate) fn data_difference(all: &[&Plan]) -> Option<Unlike> {
    words("data", all, data)
}

/// What differs in how the same is done with the same data.
pub(crate) fn conditions(all: &[&Plan]) -> Vec<Unlike> {
    let aspects = [
        words("keys touched", all, touched),
        words("durability", all, durability),
        words("memory", all, memory),
    ];
    aspects.into_iter().flatten().collect()
}

fn words(what: &str, all: &[&Plan], of: fn(&Plan) -> String) -> Option<Unlike> {
    Unlike::of(what, all.iter().map(|plan| of(plan)))
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
    let what = match workload.work.operation() {
        Some(Operation::Mix(mix)) => mix.to_string(),
        _ => workload.work.to_string(),
    };
    let workers = match (workload.processes, workload.threads) {
        (1, 1) => "1 worker".to_owned(),
        (1, threads) => format!("{threads} threads"),
        (processes, 1) => format!("{processes} processes"),
        (processes, threads) => format!("{processes} processes of {threads} threads"),
    };
    let batch = format!("{} a commit", workload.batch);
    let order = workload.work.order().map(|order| order.to_string());
    let rate = workload.work.rate().map(|rate| format!("at {}/s", show_rate(rate)));
    let age = workload.work.age().map(|age| format!("age {age}"));
    let own = matches!(workload.work, Work::Rows { own_databases: true, .. })
        .then(|| "a database each".to_owned());
    let always = [Some(what), order, Some(batch), Some(workers)].into_iter().flatten();
    always.chain(rate).chain(age).chain(own).collect::<Vec<_>>().join(", ")
}

fn data(plan: &Plan) -> String {
    match &plan.experiment {
        Experiment::Blobs { dataset, summary, available } => {
            let there = || format!("{} ({})", show_count(*available), show_size(summary.bytes));
            match dataset {
                DatasetSpec::Generated(data) => generated(data),
                DatasetSpec::Directory { .. } => format!("a folder of {}", there()),
                DatasetSpec::Targets => format!("what the targets hold, {}", there()),
            }
        }
        Experiment::Ageing { data, .. } => generated(data),
        Experiment::Rows { rows } => format!("{} rows a process", show_count(*rows)),
        Experiment::Tasks { tasks, rewrites, output } => {
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
    let Some(summary) = plan.experiment.summary() else { return String::new() };
    let available = plan.experiment.available().unwrap_or(summary.count);
    format!("{} of {}", show_count(summary.count), show_count(available))
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
