//! What was to be measured: data, targets, workloads, states and when to stop.

use maud::{Markup, html};
use model::{Owner, PlannedTarget, Settings, record::Record, spec::RunSpec, units::show_size};

use super::{
    machine::{Job, Part},
    table::{Column, Table},
};
use crate::{
    stores,
    terminal::{head, number::NONE, queue, rows, summary, sweep, times},
};

pub(super) fn markup(part: &Part<'_>) -> Markup {
    html! {
        section {
            h2 { "Plan" }
            (whole(part).markup())
            (targets(part).markup())
        }
    }
}

fn whole(part: &Part<'_>) -> Table {
    let record = part.first();
    let plan = &record.header.plan;
    let mut table = Table::new("What was measured", vec![Column::text(""), Column::text("")]);
    let mut row = |name: &str, value: String| table.row(vec![name.to_owned(), value]);
    row("data", data(part));
    for case in plan.cases() {
        row("workload", times::title(record, case));
    }
    if let Some(class) = plan.durability {
        row("durability asked for", class.to_string());
    }
    if let Some(memory) = plan.memory {
        let limit = memory.limit_bytes.map_or_else(|| "no limit".to_owned(), show_size);
        row("memory of each target", format!("{limit}, cache {}", show_size(memory.cache_bytes)));
    }
    for (name, values) in record.header.spec.iter().flat_map(RunSpec::texts) {
        row(&format!("--{name}"), values);
    }
    for side in &part.sides {
        row(&part.on("rounds", side), ended(side.records()));
    }
    table
}

fn data(part: &Part<'_>) -> String {
    match part.job() {
        Job::Rows => rows::title(part.first()),
        Job::Queue => queue::title(part.first()),
        Job::Sweep => sweep::told_of_runs(part.sides[0].records()),
        _ => head::data(&part.first().header.plan),
    }
}

fn ended(records: &[Record]) -> String {
    match records {
        [one] => summary::ended(one),
        all => sweep::ended(all),
    }
}

fn targets(part: &Part<'_>) -> Table {
    let record = part.first();
    let names = ["target", "engine", "store", "settings asked for", "settings in effect"];
    let mut table = Table::new("Targets", names.map(Column::text).to_vec());
    for (target, store) in record.header.plan.targets.iter().zip(stores(record)) {
        table.row(vec![
            target.label.clone(),
            target.engine.clone(),
            place(target),
            settings(&target.settings),
            settings(&store.in_effect),
        ]);
    }
    table
}

fn place(target: &PlannedTarget) -> String {
    let owner = match target.owner {
        Owner::Scratch => "scratch",
        Owner::User => "the user’s own, read only",
        Owner::Copy => "a copy of the user’s",
        Owner::InPlace => "the user’s own, in place",
    };
    let on = target.on.as_ref().map(|on| format!("on {on}"));
    let location = Some(target.location.clone()).filter(|location| !location.is_empty());
    [Some(owner.to_owned()), location, on].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn settings(settings: &Settings) -> String {
    let all: Vec<_> = settings.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if all.is_empty() { NONE.to_owned() } else { all.join(" ") }
}
