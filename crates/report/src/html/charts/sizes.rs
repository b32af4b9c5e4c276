//! Ratios over the size of blobs, and where they cross 1.

use std::collections::{BTreeMap, BTreeSet};

use model::{Case, units::show_size};

use crate::{
    break_evens,
    html::{
        chart::{Axis, Interval, Mark, Unit},
        figure::Figure,
        lines::Lines,
        machine::{Job, Part},
        table::{Column, Table},
        targets::Targets,
    },
    sweep::{beside, size},
    terminal::{
        number::{figure_or_none, with_interval},
        sweep::{about, told},
        times::{judged, ratio},
    },
};

const READ: &str = "Below 1 a target takes less time than the baseline. Where its line crosses 1, the \
                    baseline overtakes: that place has an interval of its own.";

pub(super) fn figures(part: &Part<'_>, targets: &Targets<'_>) -> Vec<Figure> {
    let sizes: BTreeSet<_> = part.runs().filter_map(|run| size(run.record)).collect();
    if part.job() != Job::Sweep || sizes.len() < 2 {
        return vec![];
    }
    let besides: BTreeSet<_> = part.runs().map(|run| beside(run.record)).collect();
    let cases = || part.first().header.plan.cases();
    let places = besides.iter().flat_map(|beside| cases().map(move |case| (case, beside)));
    places.map(|(case, beside)| of(part, targets, case, beside)).collect()
}

fn of(
    part: &Part<'_>,
    targets: &Targets<'_>,
    case: Case,
    beside: &BTreeMap<String, String>,
) -> Figure {
    let plan = &part.first().header.plan;
    let baseline = plan.targets.get(plan.baseline).map_or("", |target| &target.label);
    let place = about(plan, case.workload, case.cache.as_str(), beside);
    let title = format!("Time ÷ that of {baseline}, by size of blobs: {place}");
    let mut lines = Lines::around_one(
        Axis::log("size of blobs", Unit::Bytes),
        Axis::log(format!("time ÷ that of {baseline}"), Unit::Ratio),
    );
    let mut table = Table::new(title.clone(), columns());
    for run in part.runs().filter(|run| self::beside(run.record) == *beside) {
        let Some(size) = size(run.record) else { continue };
        for row in run.figures.iter().filter(|row| row.case == case && row.rounds > 0) {
            let label = run.label(row.target);
            let name = part.on(label, run.side);
            table.row(vec![
                name.clone(),
                show_size(size),
                row.us_per_op.as_ref().map_or_else(String::new, with_interval),
                figure_or_none(row.latency.map(|latency| latency.p99_us)),
                figure_or_none(row.mb_per_s.map(|rate| rate.point)),
                ratio(row),
                judged(row),
            ]);
            if let Some((ratio, target)) = row.ratio.as_ref().zip(targets.place(label)) {
                lines.point(target, &name, size as f64, Interval::from(ratio));
            }
        }
    }
    let mut said = Vec::new();
    for side in &part.sides {
        let evens = break_evens(side.records()).into_iter();
        for even in evens.filter(|even| even.case == case && even.beside == *beside) {
            let sentence = format!("{}: {}", part.on(&even.target, side), told(&even, baseline));
            let target = targets.place(&even.target);
            lines.marks.extend(even.found.crossings.iter().filter_map(|crossing| {
                let (x, low, high) = (crossing.size, crossing.low, crossing.high);
                Some(Mark { target: target?, label: sentence.clone(), x, low, high })
            }));
            said.push(sentence);
        }
    }
    Figure { said, ..lines.figure("break-even", title, READ, table) }
}

fn columns() -> Vec<Column> {
    vec![
        Column::text("target"),
        Column::number("size", ""),
        Column::number("time", "µs"),
        Column::number("p99", "µs"),
        Column::number("rate", "MB/s"),
        Column::number("time ÷ baseline’s", ""),
        Column::text("verdict"),
    ]
}
