//! Latency against load: what operations on a schedule took, over the rate asked for.

use std::collections::BTreeMap;

use model::{Case, Plan, Work, Workload, units::show_rate};

use crate::{
    Figures, Percentiles,
    html::{
        chart::{Axis, Interval, Mark, Unit},
        figure::Figure,
        lines::Lines,
        machine::{Part, Run},
        table::{Column, Table},
        targets::Targets,
    },
    terminal::number::figure_or_none,
};

const READ: &str = "Operations begin on schedule, and latency counts from when each was to begin. A line \
                    turns up where its target cannot keep up; from there on it is saturated.";

type Of = fn(&Percentiles) -> f64;
const SHOWN: [(&str, Of); 2] =
    [("Median latency", |p| p.p50_us), ("99th percentile", |p| p.p99_us)];

pub(super) fn figures(part: &Part<'_>, targets: &Targets<'_>) -> Vec<Figure> {
    let plan = &part.first().header.plan;
    let mut loads: Vec<(Case, Vec<usize>)> = Vec::new();
    for case in plan.cases().filter(|case| plan.workloads[case.workload].work.rate().is_some()) {
        let same = |(other, _): &&mut (Case, Vec<usize>)| {
            other.cache == case.cache && at_any_rate(plan, *other) == at_any_rate(plan, case)
        };
        match loads.iter_mut().find(same) {
            Some((_, workloads)) => workloads.push(case.workload),
            None => loads.push((case, vec![case.workload])),
        }
    }
    loads.retain(|(_, workloads)| workloads.len() > 1);
    let of = |(case, workloads): &(Case, Vec<usize>)| {
        SHOWN.map(|(name, of)| figure(part, targets, *case, workloads, name, of))
    };
    loads.iter().flat_map(of).collect()
}

/// What is done, whatever the rate.
fn at_any_rate(plan: &Plan, case: Case) -> Workload {
    let mut workload = plan.workloads[case.workload];
    workload.count = 0;
    if let Work::Blobs { rate, .. } = &mut workload.work {
        *rate = None;
    }
    workload
}

fn figure(
    part: &Part<'_>,
    targets: &Targets<'_>,
    case: Case,
    workloads: &[usize],
    name: &str,
    of: Of,
) -> Figure {
    let operation = part.first().header.plan.workloads[case.workload].work;
    let title = format!("{name} against load: {operation}, {}", case.cache);
    let mut lines = Lines::new(
        Axis::log("operations asked for", Unit::PerSecond),
        Axis::log(name, Unit::Nanoseconds),
    );
    let mut table = Table::new(title.clone(), columns());
    let mut saturated: BTreeMap<(usize, String), Mark> = BTreeMap::new();
    for run in part.runs() {
        let here = |row: &&Figures| {
            row.case.cache == case.cache && workloads.contains(&row.case.workload) && row.rounds > 0
        };
        for row in run.figures.iter().filter(here) {
            let Some(asked) = run.record.header.plan.workloads[row.case.workload].work.rate()
            else {
                continue;
            };
            let name = part.on(format!("{}{}", run.label(row.target), beside(run)), run.side);
            table.row(cells(&name, asked, row));
            let shown = targets.place(run.label(row.target)).zip(row.latency);
            let Some((target, latency)) = shown else { continue };
            lines.point(target, &name, asked, Interval::exact(of(&latency) * 1e3));
            if let Some(mark) = mark(target, &name, asked, row) {
                // From the lowest rate on it stays so.
                let known = saturated.get(&(target, name.clone()));
                if known.is_none_or(|known| mark.x < known.x) {
                    saturated.insert((target, name.clone()), mark);
                }
            }
        }
    }
    lines.marks = saturated.into_values().collect();
    lines.figure("load", title, READ, table)
}

/// What else varies.
fn beside(run: Run<'_>) -> String {
    let varied = run.record.header.point().into_iter().flat_map(|point| &point.varied);
    varied.fold(String::new(), |told, (name, value)| format!("{told} {name}={value}"))
}

fn mark(target: usize, name: &str, asked: f64, row: &Figures) -> Option<Mark> {
    let kept = row.paced.filter(|kept| kept.saturated)?;
    let label = format!("{name} is saturated: {} a second are done", show_rate(kept.reached));
    Some(Mark { target, label, x: asked, low: None, high: None })
}

fn columns() -> Vec<Column> {
    let mut columns = vec![
        Column::text("target"),
        Column::number("asked for", "/s"),
        Column::number("done", "/s"),
        Column::text("keeps up"),
    ];
    let us = ["p50", "p90", "p99", "p99.9", "max", "begun late, p50", "p99"];
    columns.extend(us.map(|name| Column::number(name, "µs")));
    columns
}

fn cells(name: &str, asked: f64, row: &Figures) -> Vec<String> {
    let kept = row.paced;
    let latency = |of: Of| figure_or_none(row.latency.as_ref().map(of));
    vec![
        name.to_owned(),
        show_rate(asked),
        kept.map_or_else(String::new, |kept| show_rate(kept.reached)),
        kept.map_or("", |kept| if kept.saturated { "no, saturated" } else { "yes" }).to_owned(),
        latency(|p| p.p50_us),
        latency(|p| p.p90_us),
        latency(|p| p.p99_us),
        latency(|p| p.p999_us),
        latency(|p| p.max_us),
        figure_or_none(kept.map(|kept| kept.lag_p50_us)),
        figure_or_none(kept.map(|kept| kept.lag_p99_us)),
    ]
}
