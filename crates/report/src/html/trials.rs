//! Raw rows: what each trial measured.

use maud::{Markup, html};
use model::{Latency, Sample, units::show_count};

use super::{
    machine::{Part, Run},
    table::{Column, Table},
};
use crate::terminal::number::{figure, figure_or_none};

/// More make a page that browsers are slow with.
const MOST: usize = 5_000;

pub(super) fn markup(part: &Part<'_>) -> Markup {
    let count: usize = part.runs().map(|run| run.record.samples.len()).sum();
    html! {
        section {
            h2 { "Trials" }
            @if count > MOST {
                p {
                    "The " (show_count(count as u64)) " trials are too many for a page; "
                    code { "storemark report RECORD --csv" }
                    " writes a line for each."
                }
            } @else {
                details {
                    summary { "All " (show_count(count as u64)) " trials, in the order in which they ran" }
                    (table(part).markup())
                }
            }
        }
    }
}

fn table(part: &Part<'_>) -> Table {
    let mut table = Table::new("Trials", columns());
    for run in part.runs() {
        for sample in &run.record.samples {
            table.row(cells(part, run, sample));
        }
    }
    table
}

fn columns() -> Vec<Column> {
    let mut columns = vec![
        Column::text("target"),
        Column::text("in"),
        Column::number("round", ""),
        Column::number("operations", ""),
        Column::number("time", "µs/op"),
    ];
    columns.extend(["p50", "p99", "max", "user", "kernel"].map(|name| Column::number(name, "µs")));
    columns.extend([Column::number("opened in", "ms"), Column::text("in its state")]);
    columns
}

fn cells(part: &Part<'_>, run: Run<'_>, sample: &Sample) -> Vec<String> {
    let us = |of: fn(&Latency) -> u64| {
        figure_or_none(sample.latency().map(|latency| of(latency) as f64 / 1e3))
    };
    let each = |ns: u64| figure(ns as f64 / 1e3 / sample.operations as f64);
    let case = model::Case { workload: sample.workload, cache: sample.cache };
    let varied = crate::terminal::sweep::varied(run.record);
    let place = [run.case(case), varied].into_iter().filter(|word| !word.is_empty());
    let place = place.collect::<Vec<_>>().join(", ");
    vec![
        run.label(sample.target).to_owned(),
        part.on(place, run.side),
        (u64::from(sample.round) + 1).to_string(),
        sample.operations.to_string(),
        figure(sample.ns_per_operation() / 1e3),
        us(|latency| latency.p50_ns),
        us(|latency| latency.p99_ns),
        us(|latency| latency.max_ns),
        each(sample.cost.user_ns),
        each(sample.cost.system_ns),
        figure(sample.open_ns as f64 / 1e6),
        if run.record.in_state(sample) { "yes" } else { "no" }.to_owned(),
    ]
}
