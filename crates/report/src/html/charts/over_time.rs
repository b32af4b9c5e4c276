//! Throughput over time: how the latency pass of one round went, slice by slice.

use model::{Case, units::show_rate};

use crate::{
    Timeline,
    html::{
        chart::{Axis, Interval, Mark, Unit},
        figure::Figure,
        lines::Lines,
        machine::{Job, Part},
        table::{Column, Table},
        targets::Targets,
    },
    terminal::number::{NONE, figure},
    timelines,
};

const READ: &str = "Of each target the round that stood still longest, to see the worst of it; stalls, \
                    in which one operation took far longer than usual, are marked below.";

/// Slices of a line; a page of more is slow.
const MOST_SLICES: usize = 240;
/// Stalls that are marked; the table has all.
const MOST_STALLS: usize = 6;
const MS: f64 = 1e6;

pub(super) fn figures(part: &Part<'_>, targets: &Targets<'_>) -> Vec<Figure> {
    match part.job() {
        Job::Run => part.first().header.plan.cases().map(|case| of(part, targets, case)).collect(),
        _ => vec![],
    }
}

fn of(part: &Part<'_>, targets: &Targets<'_>, case: Case) -> Figure {
    let mut lines = Lines::new(
        Axis::linear("time", Unit::Nanoseconds),
        Axis::linear("throughput", Unit::PerSecond),
    );
    let mut title = String::new();
    let mut table = Table::new(String::new(), columns());
    for run in part.runs() {
        title = format!("Throughput over time: {}", run.case(case));
        for index in 0..run.record.header.plan.targets.len() {
            let label = run.label(index);
            let name = part.on(label, run.side);
            let all = timelines(run.record, case, index);
            let Some((line, target)) = worst(&all).zip(targets.place(label)) else { continue };
            rows(&mut table, &name, line);
            for point in line.points.iter().filter(|point| point.whole).take(MOST_SLICES) {
                let value = Interval::exact(point.per_second);
                lines.point(target, &name, point.start_ms * MS, value);
            }
            lines.marks.extend(marks(target, &name, line));
        }
    }
    let table = table.called(&title);
    lines.figure("over-time", title, READ, table)
}

/// The first of those that stood still for the greatest share.
fn worst(all: &[Timeline]) -> Option<&Timeline> {
    all.iter().rev().max_by(|one, other| one.stalled().total_cmp(&other.stalled()))
}

fn marks(target: usize, name: &str, line: &Timeline) -> Vec<Mark> {
    let mut stalls: Vec<_> = line.stalls.iter().collect();
    stalls.sort_by(|one, other| other.length_ms.total_cmp(&one.length_ms));
    let mark = |stall: &&crate::Stall| Mark {
        target,
        label: format!("{name}: {}", stall.cause.as_deref().unwrap_or("cause not told")),
        x: stall.start_ms * MS,
        low: Some(stall.start_ms * MS),
        high: Some((stall.start_ms + stall.length_ms) * MS),
    };
    stalls.iter().take(MOST_STALLS).map(mark).collect()
}

fn columns() -> Vec<Column> {
    vec![
        Column::text("target"),
        Column::number("round", ""),
        Column::text("what"),
        Column::number("from", "ms"),
        Column::number("for", "ms"),
        Column::number("throughput", "/s"),
        Column::number("p99", "µs"),
        Column::text("cause"),
    ]
}

/// Its slices, then its stalls.
fn rows(table: &mut Table, name: &str, line: &Timeline) {
    let round = (u64::from(line.round) + 1).to_string();
    let head = |what: &str| vec![name.to_owned(), round.clone(), what.to_owned()];
    for point in line.points.iter().take(MOST_SLICES) {
        let p99 = point.p99_us.map_or_else(|| NONE.to_owned(), figure);
        let length = if point.whole { "" } else { "the rest" };
        let (from, rate) = (figure(point.start_ms), show_rate(point.per_second));
        let cells = [from, length.to_owned(), rate, p99, String::new()];
        table.row(head("slice").into_iter().chain(cells).collect());
    }
    for stall in &line.stalls {
        let cause = stall.cause.clone().unwrap_or_else(|| NONE.to_owned());
        let (from, length) = (figure(stall.start_ms), figure(stall.length_ms));
        let cells = [from, length, String::new(), String::new(), cause];
        table.row(head("stall").into_iter().chain(cells).collect());
    }
}
