//! Charts of what roles cost each other, and of the sizes of stores during a pass.

use checks::{role_figures, role_growths};

use super::tables;
use crate::charts::{Axis, Chart, Interval, Part, Unit, runs, table_of};

const READ_SLOWDOWN: &str = "Time of an operation next to the other roles divided by that of the same role alone; \
                             whiskers are the 95 % interval.";
const READ_GROWTH: &str =
    "For each target the pass in which its files became largest, read every 100 ms.";

pub(crate) fn slowdowns(part: &Part<'_>) -> Vec<Chart> {
    let groups = runs(part, |run| {
        let mut rows = role_figures(run.record, run.figures);
        rows.retain(|row| row.slowdown.is_some());
        rows
    });
    let mut chart =
        Chart::dots("roles", Axis::log("time together ÷ alone", Unit::Ratio)).around_one();
    for group in &groups {
        for row in &group.figures {
            let roles = group.run.record.header.plan.experiment.roles();
            let name = roles.map_or("", |roles| &roles.roles[row.role].name);
            let label = group.run.label(row.figures.target);
            chart.in_group(&group.run.on(name), label, row.slowdown.map(Interval::from));
        }
    }
    let title = "How much slower is each role next to the others?";
    vec![chart.described(title, READ_SLOWDOWN, table_of(&groups, tables::roles))]
}

pub(crate) fn growths(part: &Part<'_>) -> Vec<Chart> {
    let groups = runs(part, |run| role_growths(run.record));
    let along = Axis::linear("time", Unit::Nanoseconds);
    let mut chart = Chart::lines("growth", along, Axis::linear("bytes on disk", Unit::Bytes));
    for group in &groups {
        for row in &group.figures {
            let label = group.run.label(row.target);
            for size in &row.sizes {
                let name = group.run.on(label);
                chart.point(Some(label), &name, size.at_ns as f64, Some(size.bytes as f64));
            }
            if row.log_peak().log_bytes > 0 {
                let name = group.run.on(format!("{label}, its log"));
                for size in &row.sizes {
                    chart.point(Some(label), &name, size.at_ns as f64, Some(size.log_bytes as f64));
                }
            }
        }
    }
    let title = "How large do the files become during a pass?";
    vec![chart.described(title, READ_GROWTH, table_of(&groups, tables::growths))]
}
