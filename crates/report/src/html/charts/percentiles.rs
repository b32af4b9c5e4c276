//! How latencies are spread: which share of the operations took how long at most.

use model::Case;

use crate::{
    Latencies,
    html::{
        chart::{Axis, Interval, Unit},
        figure::Figure,
        lines::Lines,
        machine::{Job, Part},
        table::{Column, Table},
        targets::Targets,
    },
    latencies,
    terminal::number::figure,
};

const READ: &str = "Each point: so many percent of the operations took at most so long. To the right \
                    stand the rare slow ones.";

/// In percent; further ones follow as far as an operation stands for so small a share, and the
/// greatest latency stands at 100.
const COMMON: [f64; 8] = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 98.0, 99.0];

pub(super) fn figures(part: &Part<'_>, targets: &Targets<'_>) -> Vec<Figure> {
    match part.job() {
        Job::Run => part.first().header.plan.cases().map(|case| of(part, targets, case)).collect(),
        _ => vec![],
    }
}

fn of(part: &Part<'_>, targets: &Targets<'_>, case: Case) -> Figure {
    let x = Axis::log("share of the operations", Unit::Percentile);
    let mut lines = Lines::new(x, Axis::log("latency", Unit::Nanoseconds));
    let mut table = Table::new(String::new(), columns());
    let mut title = String::new();
    for run in part.runs() {
        title = format!("Latencies: {}", run.case(case));
        for target in 0..run.record.header.plan.targets.len() {
            let label = run.label(target);
            for of in latencies(run.record, case, target) {
                table.row(cells(&part.on(label, run.side), &of));
                let Some(place) = targets.place(label).filter(|_| of.action.is_none()) else {
                    continue;
                };
                for (percent, ns) in points(&of) {
                    lines.point(place, &part.on(label, run.side), percent, Interval::exact(ns));
                }
            }
        }
    }
    let table = table.called(&title);
    lines.figure("latency", title, READ, table)
}

/// Percentages and latencies.
fn points(of: &Latencies) -> Vec<(f64, f64)> {
    let count = of.histogram.len() as f64;
    let nines = (1..).flat_map(|nines| [2.0, 1.0].map(|rest| rest * 10_f64.powi(-nines)));
    let rare = nines.take_while(|rest| rest * count >= 100.0).map(|rest| 100.0 - rest);
    let shown = COMMON.into_iter().chain(rare);
    let at = |percent: f64| (percent, of.histogram.value_at_percentile(percent) as f64);
    shown.map(at).chain([(100.0, of.histogram.max() as f64)]).collect()
}

fn columns() -> Vec<Column> {
    let mut columns =
        vec![Column::text("target"), Column::text("latency of"), Column::number("timed", "")];
    let names = ["p50", "p90", "p99", "p99.9", "p99.99", "max"];
    columns.extend(names.map(|name| Column::number(name, "µs")));
    columns
}

fn cells(name: &str, of: &Latencies) -> Vec<String> {
    let p = of.percentiles();
    let action = of.action.map_or("all", |action| action.as_str());
    let mut cells =
        vec![name.to_owned(), action.to_owned(), model::units::show_count(of.histogram.len())];
    cells.extend([p.p50_us, p.p90_us, p.p99_us, p.p999_us, p.p9999_us, p.max_us].map(figure));
    cells
}
