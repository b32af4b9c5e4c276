//! The time of an operation; where there are several cache states, cold beside warm.

use crate::html::{
    chart::{Axis, Interval, Unit},
    figure::Figure,
    groups::Groups,
    machine::{Job, Part},
    table::{Column, Table},
    targets::Targets,
};
use crate::terminal::{
    number::{NONE, figure_or_none, with_interval},
    times,
};

const READ: &str = "Further left is faster; whiskers are 95 % intervals. The scale is logarithmic.";

pub(super) fn figures(part: &Part<'_>, targets: &Targets<'_>) -> Vec<Figure> {
    let plan = &part.first().header.plan;
    match part.job() {
        Job::Run if plan.caches.len() > 1 => (0..plan.workloads.len())
            .map(|workload| side_by_side(part, targets, workload))
            .collect(),
        Job::Run => vec![all(part, targets)],
        _ => vec![],
    }
}

/// A group for each state.
fn side_by_side(part: &Part<'_>, targets: &Targets<'_>, workload: usize) -> Figure {
    let plan = &part.first().header.plan;
    let title = format!("Cold beside warm: {}", times::name(plan, workload));
    let group = |case: model::Case| case.cache.to_string();
    of(part, targets, title, Some(workload), group)
}

fn all(part: &Part<'_>, targets: &Targets<'_>) -> Figure {
    let plan = &part.first().header.plan;
    let group = |case: model::Case| format!("{}, {}", times::name(plan, case.workload), case.cache);
    of(part, targets, "Time of an operation".to_owned(), None, group)
}

fn of(
    part: &Part<'_>,
    targets: &Targets<'_>,
    title: String,
    workload: Option<usize>,
    group: impl Fn(model::Case) -> String,
) -> Figure {
    let mut groups = Groups::new(Axis::log("time of an operation", Unit::Nanoseconds));
    let mut table = Table::new(title.clone(), columns());
    for run in part.runs() {
        let wanted = |case: model::Case| workload.is_none_or(|workload| workload == case.workload);
        for row in run.figures.iter().filter(|row| wanted(row.case)) {
            let (label, time) = (run.label(row.target), row.us_per_op.as_ref());
            let group = part.on(group(row.case), run.side);
            table.row(vec![
                label.to_owned(),
                group.clone(),
                time.map_or_else(|| times::nothing(row), with_interval),
                row.over_warm.as_ref().map_or_else(|| NONE.to_owned(), with_interval),
                figure_or_none(row.device_read_per_byte),
            ]);
            if let Some((time, target)) = time.zip(targets.place(label)) {
                groups.point(&group, target, Interval::from(time).times(1e3), None);
            }
        }
    }
    groups.figure("time", title, READ, table)
}

fn columns() -> Vec<Column> {
    vec![
        Column::text("target"),
        Column::text("in"),
        Column::number("time", "µs"),
        Column::number("time ÷ warm", ""),
        Column::number("device", "B/B"),
    ]
}
