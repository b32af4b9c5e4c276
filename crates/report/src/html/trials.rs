//! What each trial measured.

use maud::{Markup, html};
use model::{Case, Latency, Sample, units::show_count};

use super::{
    part::{Part, Run},
    table,
};
use crate::table::{Column, Table};

/// Browsers are slow with a page of more.
const MOST: usize = 5_000;

pub(super) fn markup(part: &Part<'_>) -> Markup {
    let trials: Vec<_> = part.runs().flat_map(of_run).collect();
    let count = show_count(trials.len() as u64);
    html! {
        section {
            h2 { "Trials" }
            @if trials.len() > MOST {
                p {
                    "The " (count) " trials are too many for a page; "
                    code { "storemark report RECORD --csv" }
                    " writes a line for each."
                }
            } @else {
                details {
                    summary { "All " (count) " trials, in the order in which they ran" }
                    (table::markup(&trial_table(&trials)))
                }
            }
        }
    }
}

type Trial<'a> = (Run<'a>, &'a Sample);

fn of_run(run: Run<'_>) -> impl Iterator<Item = Trial<'_>> {
    run.record.samples.iter().map(move |sample| (run, sample))
}

fn trial_table(trials: &[Trial<'_>]) -> Table {
    let latency = |of: fn(&Latency) -> u64| {
        move |(_, sample): &Trial<'_>| Some(of(sample.latency()?) as f64 / 1e3)
    };
    let each = |sample: &Sample, ns: u64| ns as f64 / 1e3 / sample.operations as f64;
    Table::of("Trials", trials)
        .with(Column::text("target"), |(run, sample)| run.label(sample.target))
        .with(Column::text("in"), |(run, sample)| {
            let case = Case { workload: sample.workload, cache: sample.cache };
            run.on(run.place(case))
        })
        .with(Column::number("round", ""), |(_, sample)| u64::from(sample.round) + 1)
        .with(Column::number("operations", ""), |(_, sample)| sample.operations)
        .with(Column::number("time", "µs/op"), |(_, sample)| sample.ns_per_operation() / 1e3)
        .with(Column::number("p50", "µs"), latency(|latency| latency.p50_ns))
        .with(Column::number("p99", "µs"), latency(|latency| latency.p99_ns))
        .with(Column::number("max", "µs"), latency(|latency| latency.max_ns))
        .with(Column::number("user", "µs"), |(_, sample)| each(sample, sample.cost.user_ns))
        .with(Column::number("kernel", "µs"), |(_, sample)| each(sample, sample.cost.system_ns))
        .with(Column::number("opened in", "ms"), |(_, sample)| sample.open_ns as f64 / 1e6)
        .with(
            Column::text("in its state"),
            |(run, sample)| {
                if run.record.in_state(sample) { "yes" } else { "no" }
            },
        )
        .done()
}
