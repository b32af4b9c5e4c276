//! What differs between the plans of records.
//!
//! Seeds, the number of rounds and what is calibrated on the spot (operations in a pass) do not count, nor do
//! the places of stores and folders, which differ from machine to machine.

use model::{
    DatasetSpec, Experiment, Generated, MemoryLimit, Plan,
    units::{show_count, show_size},
};

use crate::{Unlike, words};

/// What differs between `all`. Where nothing does, their workloads, cache states and targets have
/// the same indices.
pub fn plan_differences(all: &[&Plan]) -> Vec<Unlike> {
    let lists = |what, of: fn(&Plan) -> Vec<String>| {
        Unlike::of_lists(what, &all.iter().map(|plan| of(plan)).collect::<Vec<_>>())
    };
    let compared = [
        lists("targets", |plan| plan.targets.iter().map(words::target).collect()),
        lists("workloads", |plan| plan.workloads.iter().map(words::workload).collect()),
        lists("cache states", |plan| plan.caches.iter().map(ToString::to_string).collect()),
        Unlike::of_each("baseline", all, |plan| words::label(plan, plan.baseline).to_owned()),
    ];
    compared.into_iter().flatten().chain(data_difference(all)).chain(conditions(all)).collect()
}

/// What differs in the data that is worked on.
pub(crate) fn data_difference(all: &[&Plan]) -> Option<Unlike> {
    Unlike::of_each("data", all, data)
}

/// What differs in how the same is done with the same data.
pub(crate) fn conditions(all: &[&Plan]) -> Vec<Unlike> {
    let durability = |plan: &Plan| {
        plan.durability.map_or_else(|| "as each target is set".to_owned(), |c| c.to_string())
    };
    let aspects = [
        Unlike::of_each("keys touched", all, touched),
        Unlike::of_each("durability", all, durability),
        Unlike::of_each("memory", all, memory),
    ];
    aspects.into_iter().flatten().collect()
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
    format!("{count} generated blobs of {size} ± {variance} bytes{random}")
}

fn touched(plan: &Plan) -> String {
    let Some(summary) = plan.experiment.summary() else { return String::new() };
    let available = plan.experiment.available().unwrap_or(summary.count);
    format!("{} of {}", show_count(summary.count), show_count(available))
}

fn memory(plan: &Plan) -> String {
    match plan.memory {
        None => "not limited".to_owned(),
        Some(MemoryLimit { bytes, limit_bytes: Some(_), .. }) => show_size(bytes),
        Some(MemoryLimit { bytes, .. }) => format!("{} for caches alone", show_size(bytes)),
    }
}
