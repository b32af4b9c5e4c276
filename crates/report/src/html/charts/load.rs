//! Latency against load: what operations on a schedule took, over the rate asked for.

use std::collections::BTreeSet;

use model::{Case, units::show_rate};

use crate::{
    Figures, Percentiles,
    html::{
        chart::{Axis, Interval, Mark, Unit},
        figure::Figure,
        lines::Lines,
        machine::{Job, Part, Run},
        table::{Column, Table},
        targets::Targets,
    },
    terminal::number::figure_or_none,
};

const READ: &str = "Operations begin on schedule, and latency counts from when each was to begin. A line \
                    turns up where its target cannot keep up; from there on it is saturated.";

type Of = fn(&Percentiles) -> f64;
const SHOWN: [(&str, Of); 2] =
    [("median latency", |p| p.p50_us), ("99th percentile of the latency", |p| p.p99_us)];

pub(super) fn figures(part: &Part<'_>, targets: &Targets<'_>) -> Vec<Figure> {
    let rates: BTreeSet<_> =
        part.runs().flat_map(|run| rates(run).map(f64::to_bits).collect::<Vec<_>>()).collect();
    if part.job() != Job::Sweep || rates.len() < 2 {
        return vec![];
    }
    let cases: Vec<_> = part.first().header.plan.cases().collect();
    let of = |case: &Case| SHOWN.map(|(name, of)| figure(part, targets, *case, name, of));
    cases.iter().flat_map(of).collect()
}

fn rates(run: Run<'_>) -> impl Iterator<Item = f64> {
    run.record.header.plan.workloads.iter().filter_map(|workload| workload.rate)
}

fn figure(part: &Part<'_>, targets: &Targets<'_>, case: Case, name: &str, of: Of) -> Figure {
    let operation = part.first().header.plan.workloads[case.workload].operation;
    let title = format!("{operation}, {}: {name} against load", case.cache);
    let mut lines = Lines::new(
        Axis::log("operations asked for", Unit::PerSecond),
        Axis::log(name, Unit::Nanoseconds),
    );
    let mut table = Table::new(title.clone(), columns());
    for run in part.runs() {
        let Some(asked) = run.record.header.plan.workloads[case.workload].rate else { continue };
        for row in run.figures.iter().filter(|row| row.case == case && row.rounds > 0) {
            let name = part.on(format!("{}{}", run.label(row.target), beside(run)), run.side);
            table.row(cells(&name, asked, row));
            let shown = targets.place(run.label(row.target)).zip(row.latency);
            let Some((target, latency)) = shown else { continue };
            lines.point(target, &name, asked, Interval::exact(of(&latency) * 1e3));
            lines.marks.extend(saturated(target, &name, asked, row));
        }
    }
    // The lowest rate at which it is.
    lines.marks.sort_by(|one, other| {
        (one.target, one.x)
            .partial_cmp(&(other.target, other.x))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    lines.marks.dedup_by_key(|mark| mark.target);
    lines.figure("load", title, READ, table)
}

/// What varies beside the rate.
fn beside(run: Run<'_>) -> String {
    let varied = run.record.header.point().into_iter().flat_map(|point| &point.varied);
    let varied = varied.filter(|(name, _)| *name != "rate");
    varied.map(|(name, value)| format!(" {name}={value}")).collect()
}

fn saturated(target: usize, name: &str, asked: f64, row: &Figures) -> Option<Mark> {
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
