//! The charts of a history: a line for each target, with its steps marked.

use itertools::Itertools;

use super::{HistoryGroup, HistoryLine, HistoryPoint, HistoryRecord};
use crate::{
    charts::{Axis, Chart, Mark, Unit},
    number::{date, faster_or_slower},
    table::{Column, Table},
};

const READ: &str = "Records are in the order of time. A time is divided by that of the control in the same rounds, so \
                    that what the machine does to both cancels. A change for good is marked below the axis; bands are \
                    the 95 % intervals of the rounds of each record.";

/// Returns a chart for each case and control of a group.
pub(crate) fn charts(group: &HistoryGroup) -> Vec<Chart> {
    let place = |line: &HistoryLine| (line.case(), line.control.clone());
    let places: Vec<_> = group.lines.iter().map(place).unique().collect();
    let lines = |wanted: &(String, Option<String>)| {
        group.lines.iter().filter(|line| place(line) == *wanted).collect::<Vec<_>>()
    };
    places
        .iter()
        .map(|(case, control)| {
            chart(group, control.as_deref(), case, &lines(&(case.clone(), control.clone())))
        })
        .collect()
}

fn chart(group: &HistoryGroup, control: Option<&str>, case: &str, lines: &[&HistoryLine]) -> Chart {
    let (axis, factor) = match control {
        Some(control) => (Axis::log(format!("time ÷ that of {control}"), Unit::Ratio), 1.0),
        None => (Axis::log("time of an operation", Unit::Nanoseconds), 1e3),
    };
    let mut chart = Chart::lines("history", Axis::linear("record", Unit::Count), axis);
    for line in lines {
        for point in &line.points {
            let figure = point.figure.map(|figure| figure * factor);
            chart.point(Some(&line.target), &line.target, number(point), Some(figure));
        }
        chart.marks.extend(marks(group, line));
    }
    let place =
        control.map_or_else(|| case.to_owned(), |of| format!("{case}, time ÷ that of {of}"));
    chart.described("Where does the time change?", READ, [table(group, lines)]).with_place(place)
}

/// Returns the place of a record on the axis: they are counted from 1.
fn number(point: &HistoryPoint) -> f64 {
    point.record as f64 + 1.0
}

fn marks(group: &HistoryGroup, line: &HistoryLine) -> Vec<Mark> {
    let mark = |step: &super::HistoryStep| Mark {
        target: line.target.clone(),
        label: format!(
            "{}: {} since {}",
            line.target,
            faster_or_slower(step.ratio.point),
            group.records[step.record].file
        ),
        at: step.record as f64 + 1.0,
        low: None,
        high: None,
    };
    line.steps.iter().map(mark).collect()
}

fn table(group: &HistoryGroup, lines: &[&HistoryLine]) -> Table {
    let rows: Vec<_> =
        lines.iter().flat_map(|line| line.points.iter().map(move |point| (*line, point))).collect();
    let record = |point: &HistoryPoint| -> &HistoryRecord { &group.records[point.record] };
    Table::for_rows("", &rows)
        .with(Column::text("target"), |(line, _)| &*line.target)
        .with(Column::number("record", ""), |(_, point)| point.record as u64 + 1)
        .with(Column::text("file"), move |(_, point)| &*record(point).file)
        .with(Column::text("date"), move |(_, point)| date(record(point).started))
        .with(Column::number("figure", ""), |(_, point)| Some(point.figure))
        .with(Column::number("step", ""), |(line, point)| {
            line.steps.iter().find(|step| step.record == point.record).map(|step| step.ratio)
        })
        .into_table()
}
