//! The plan: data, targets, workloads, cache states and when to stop.

use maud::{Markup, html};
use model::{Owner, PlannedTarget, Settings, spec::RunSpec, units::show_size};

use super::{part::Part, table};
use crate::{
    StoreFigures, stores,
    table::{Column, Table},
    tables, words,
};

pub(super) fn markup(part: &Part<'_>) -> Markup {
    html! {
        section {
            h2 { "Plan" }
            (table::markup(&measured(part)))
            (table::markup(&targets(part)))
        }
    }
}

fn measured(part: &Part<'_>) -> Table {
    let (plan, record) = (part.plan(), part.first().record);
    let data = if part.is_sweep() {
        tables::sweep_title(part.sides[0].records)
    } else {
        words::data(plan)
    };
    let workloads = plan.cases().map(|case| ("workload", words::case_title(record, case)));
    let durability = plan.durability.map(|class| ("durability asked for", class.to_string()));
    let memory = plan.memory.map(|memory| {
        let limit = memory.limit_bytes.map_or_else(|| "no limit".to_owned(), show_size);
        let cache = show_size(memory.cache_bytes);
        ("memory of each target", format!("{limit}, cache {cache}"))
    });
    let named = [("data", data)].into_iter().chain(workloads).chain(durability).chain(memory);
    let options = record.header.spec.iter().flat_map(RunSpec::texts);
    let options = options.map(|(name, values)| (format!("--{name}"), values));
    let rounds = part.sides.iter().map(|side| (side.on("rounds"), words::ended(side.records)));
    let named = named.map(|(name, value)| (name.to_owned(), value));
    let rows: Vec<_> = named.chain(options).chain(rounds).collect();
    Table::of("What was measured", &rows)
        .with(Column::text(""), |(name, _)| name.clone())
        .with(Column::text(""), |(_, value)| value.clone())
        .done()
}

fn targets(part: &Part<'_>) -> Table {
    let stores = stores(part.first().record);
    let targets: Vec<(&PlannedTarget, StoreFigures)> =
        part.plan().targets.iter().zip(stores).collect();
    Table::of("Targets", &targets)
        .with(Column::text("target"), |(target, _)| &*target.label)
        .with(Column::text("engine"), |(target, _)| &*target.engine)
        .with(Column::text("store"), |(target, _)| place(target))
        .with(Column::text("settings asked for"), |(target, _)| settings(&target.settings))
        .with(Column::text("settings in effect"), |(_, store)| settings(&store.in_effect))
        .done()
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

/// Absent: there are none.
fn settings(settings: &Settings) -> Option<String> {
    let all: Vec<_> = settings.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
    (!all.is_empty()).then(|| all.join(" "))
}
