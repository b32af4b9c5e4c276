//! Rows: the times of their operations and the ratios, next to published ones.

use super::{
    Axis, Cell, Chart, Column, Interval, Part, Run, Table, Unit, joined, published, ratios,
};
use crate::{RowFigures, RowGroup, row_groups, tables, words};

const READ: &str = "Further left is faster; whiskers are 95 % intervals. Published figures, if there are any, \
                    are in groups of their own: they are of another machine and have no interval.";
const READ_STYLE: &str = "Both sides pass rows to the store in the same way: the rest of the difference is \
                          the store's.";
const OPERATIONS: [&str; 3] = ["insert", "sum", "update"];
const SECONDS: f64 = 1e9;

pub(super) fn charts(part: &Part<'_>) -> Vec<Chart> {
    let groups: Vec<_> = part.runs().map(|run| (run, row_groups(run.record))).collect();
    let count = groups.iter().map(|(_, groups)| groups.len()).max().unwrap_or(0);
    let at = |place: usize| {
        let all = groups.iter().filter_map(|(run, groups)| Some((*run, groups.get(place)?)));
        let all: Vec<_> = all.collect();
        let by =
            all.first().map_or_else(String::new, |(_, group)| words::processes(&group.workload));
        [seconds(&all, &by), ratio(part.baseline(), &all, &by), style(&all, &by)]
    };
    (0..count).flat_map(at).collect()
}

/// Runs with the figures of the same processes.
type Measured<'a> = [(Run<'a>, &'a RowGroup)];

fn rows<'a>(all: &'a Measured<'a>) -> impl Iterator<Item = (Run<'a>, &'a str, &'a RowFigures)> {
    all.iter().flat_map(|(run, group)| {
        group.targets.iter().map(move |row| (*run, run.label(row.target), row))
    })
}

fn seconds(all: &Measured<'_>, by: &str) -> Chart {
    let mut chart = Chart::dots("rows", Axis::log("time", Unit::Nanoseconds));
    for (run, label, row) in rows(all) {
        for (name, cell) in OPERATIONS.iter().zip(&row.cells) {
            let time = cell.seconds.map(|seconds| Interval::from(seconds).times(SECONDS));
            chart.in_group(&run.on(*name), label, time);
            chart.in_group(&published(name), label, cell.published_seconds.map(|s| s * SECONDS));
        }
    }
    let table = joined(all, |record, group| tables::row_seconds(record, group));
    chart.described(format!("Time of all rows: {by}"), READ, table)
}

fn ratio(baseline: &str, all: &Measured<'_>, by: &str) -> Chart {
    let axis = Axis::log(format!("time ÷ that of {baseline}"), Unit::Ratio);
    let mut chart = Chart::dots("rows-ratio", axis).around_one();
    for (run, label, row) in rows(all) {
        for (name, cell) in OPERATIONS.iter().zip(&row.cells) {
            chart.in_group(&run.on(*name), label, cell.ratio);
            chart.in_group(&published(name), label, cell.published_ratio);
        }
    }
    let table = joined(all, |record, group| tables::row_ratios(record, group));
    chart.described(format!("Time ÷ that of {baseline}: {by}"), ratios::READ, table)
}

fn style(all: &Measured<'_>, by: &str) -> Chart {
    let axis = Axis::log("time of inserting ÷", Unit::Ratio);
    let mut chart = Chart::dots("rows-style", axis).around_one();
    for (run, label, row) in rows(all) {
        chart.in_group(&run.on("insert"), label, row.over_same_style);
    }
    let compared: Vec<_> = rows(all).filter(|(_, _, row)| row.over_same_style.is_some()).collect();
    let table = Table::of("", &compared)
        .with(Column::text("target"), |(run, label, _)| run.on(*label))
        .with(Column::number("time of inserting ÷", ""), |(_, _, row)| {
            Cell::interval(row.over_same_style.as_ref())
        });
    let title = format!("Inserting ÷ that of the baseline’s store in the same style: {by}");
    chart.described(title, READ_STYLE, [table.done()])
}
