//! The charts of a part, a module for each question. A chart without data is left out.

mod ages;
mod break_evens;
mod latencies;
mod load;
mod over_time;
mod page_sizes;
mod ratios;
mod rows;
mod space;
mod study;
mod tasks;
mod times;

use model::{Case, Experiment, record::Record};

// Used by the modules below.
use super::{
    chart::{Axis, Chart, Interval, Kind, Mark, Unit},
    part::{Part, Run, Side},
};
use crate::{
    Figures,
    table::{Cell, Column, Table, Value},
};

/// Charts that belong together.
pub(super) struct Family {
    pub(super) title: &'static str,
    pub(super) charts: Vec<Chart>,
}

type Make = fn(&Part<'_>) -> Vec<Chart>;
type Families = &'static [(&'static str, Make)];

const STUDY: (&str, Make) = ("Published and here", study::charts);
const LOAD: (&str, Make) = ("Latency against load", load::charts);

const BLOBS: Families = &[
    ("Time against the baseline’s", ratios::of_cases),
    LOAD,
    ("Time of an operation", times::charts),
    ("Latencies", latencies::charts),
    ("Throughput over time", over_time::charts),
    ("Space", space::by_state),
];
const SWEEP: Families = &[
    ("Time against the baseline’s", ratios::of_runs),
    ("Break-even over size", break_evens::charts),
    ("Page size by size of blobs", page_sizes::charts),
    LOAD,
    ("Space", space::by_run),
];
const AGEING: Families =
    &[("Time against the baseline’s", ratios::of_cases), ("Ageing", ages::charts)];
const ROWS: Families = &[("Rows", rows::charts)];
const TASKS: Families = &[("Queues of tasks", tasks::charts)];

/// Those of a part that have something to show; `prefix` makes their ids unique.
pub(super) fn families(part: &Part<'_>, prefix: &str) -> Vec<Family> {
    let measured = match part.plan().experiment {
        Experiment::Blobs { .. } if part.is_sweep() => SWEEP,
        Experiment::Blobs { .. } => BLOBS,
        Experiment::Rows { .. } => ROWS,
        Experiment::Tasks { .. } => TASKS,
        Experiment::Ageing { .. } => AGEING,
    };
    let all = [STUDY].iter().chain(measured).map(|(title, make)| {
        let mut charts = make(part);
        charts.retain(|chart| !chart.series.is_empty());
        for (number, chart) in (1..).zip(&mut charts) {
            chart.id = format!("{prefix}{}-{number}", chart.id);
            chart.sort();
        }
        Family { title, charts }
    });
    all.filter(|family| !family.charts.is_empty()).collect()
}

/// The figures of one case in one run.
struct Group<'a> {
    name: String,
    run: Run<'a>,
    rows: &'a [Figures],
}

/// A group for each case in each run.
fn groups<'a>(
    part: &'a Part<'_>,
    cases: &[Case],
    name: fn(Run<'a>, Case) -> String,
) -> Vec<Group<'a>> {
    let of_run = |run: Run<'a>| {
        let of =
            move |case: &Case| Group { name: run.on(name(run, *case)), run, rows: run.rows(*case) };
        cases.iter().map(of).filter(|group| !group.rows.is_empty())
    };
    part.runs().flat_map(of_run).collect()
}

/// What was measured in all groups, each figure with its group's name and run.
fn measured<'a>(groups: &'a [Group<'a>]) -> impl Iterator<Item = (&'a str, Run<'a>, &'a Figures)> {
    groups.iter().flat_map(|group| {
        let rows = group.rows.iter().filter(|row| row.rounds > 0);
        rows.map(|row| (group.name.as_str(), group.run, row))
    })
}

/// The tables of all groups in one.
fn table_of(groups: &[Group<'_>], table: fn(&Record, &[Figures]) -> Table) -> Option<Table> {
    join(groups.iter().map(|group| (group.name.clone(), table(group.run.record, group.rows))))
}

impl Chart {
    /// Adds a point to the line of a target in a run.
    fn on_line(
        &mut self,
        run: Run<'_>,
        target: usize,
        at: f64,
        value: Option<impl Into<Interval>>,
    ) {
        self.point(Some(run.label(target)), &run.label_on(target), at, value);
    }
}

/// The tables of all runs in one; `all` are runs with their figures.
fn joined<F, T: Into<Option<Table>>>(
    all: &[(Run<'_>, F)],
    table: impl Fn(&Record, &F) -> T,
) -> Option<Table> {
    join(all.iter().map(|(run, figures)| (run.on(""), table(run.record, figures))))
}

/// One table with the rows of all, and where each is from if there are several.
fn join<T: Into<Option<Table>>>(tables: impl IntoIterator<Item = (String, T)>) -> Option<Table> {
    let tables = tables.into_iter().filter_map(|(place, table)| Some((place, table.into()?)));
    let mut tables: Vec<_> = tables.collect();
    match tables.as_slice() {
        [] => None,
        [(place, _)] if place.is_empty() => tables.pop().map(|(_, table)| table),
        _ => {
            let notes = tables.iter().flat_map(|(place, table)| {
                table.notes.iter().map(move |note| format!("{place}: {note}"))
            });
            let notes: Vec<_> = notes.collect();
            Some(Table::joined("", "in", tables).with_notes(notes))
        }
    }
}

/// What a group of published figures is called.
fn published(group: &str) -> String {
    format!("{group} (published)")
}
