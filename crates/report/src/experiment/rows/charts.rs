//! Charts of the ratios of operations on rows next to the published ones.

use checks::{RowCell, RowFigures, RowGroup, row_groups};

use super::tables;
use crate::{
    charts::{
        Axis, Chart, Group, Interval, Part, Run, Unit, compared_dots, how_much, ratio_of, runs,
        table_of, transposed,
    },
    table::{Cell, Column, Table},
};

const READ_ROWS: &str = "Left of the line a store is faster. Whiskers are the 95 % interval, small dots the rounds. \
                         Published figures, if there are any, are in groups of their own: they are of another \
                         machine and have no interval.";
const READ_STYLE: &str = "Both sides pass rows to the store in the same way: the rest of the difference is \
                          the store's.";
const OPERATIONS: [&str; 3] = ["insert", "sum", "update"];
const SECONDS: f64 = 1e9;

/// The runs with the figures of the same processes.
type RowGroups<'a> = [Group<'a, &'a RowGroup>];

/// Returns the charts of ratios of the operations on rows, or of times if there is one target.
pub(crate) fn rows(part: &Part<'_>) -> Vec<Chart> {
    let groups = runs(part, |run| row_groups(run.record));
    let of = |groups: &RowGroups<'_>| {
        let by = groups[0].figures.workload.processes_name();
        [operations(part, groups).with_place(&by), style(groups).with_place(by)]
    };
    transposed(&groups).iter().flat_map(|groups| of(groups)).collect()
}

fn operations(part: &Part<'_>, groups: &RowGroups<'_>) -> Chart {
    let alone = part.is_alone();
    let mut chart = compared_dots(part, "rows", "time");
    for (run, label, row) in each_row(groups) {
        for (name, cell) in OPERATIONS.iter().zip(&row.cells) {
            let of = if alone { seconds(cell) } else { ratios(run, row.target, cell) };
            chart.next_to_published(run, name, label, of);
        }
    }
    let seconds = table_of(groups, tables::row_seconds);
    if alone {
        return chart.described("How long does each operation take?", READ_ROWS, seconds);
    }
    let ratios = table_of(groups, tables::row_ratios);
    chart.described(how_much(part), READ_ROWS, ratios.into_iter().chain(seconds))
}

fn seconds(cell: &RowCell) -> [Option<Interval>; 2] {
    let here = cell.seconds.map(|seconds| Interval::from(seconds).times(SECONDS));
    [here, cell.published_seconds.map(|seconds| (seconds * SECONDS).into())]
}

fn ratios(run: Run<'_>, target: usize, cell: &RowCell) -> [Option<Interval>; 2] {
    let here = ratio_of(run, (cell.case, target), cell.ratio);
    [here, cell.published_ratio.map(Interval::from)]
}

fn each_row<'a>(
    groups: &'a RowGroups<'a>,
) -> impl Iterator<Item = (Run<'a>, &'a str, &'a RowFigures)> {
    groups.iter().flat_map(|Group { run, figures, .. }| {
        figures.targets.iter().map(|row| (*run, run.label(row.target), row))
    })
}

fn style(groups: &RowGroups<'_>) -> Chart {
    const HEAD: &str = "time of inserting ÷";
    let mut chart = Chart::dots("rows-style", Axis::log(HEAD, Unit::Ratio)).around_one();
    let mut compared = Vec::new();
    for (run, label, row) in each_row(groups).filter(|(.., row)| row.over_same_style.is_some()) {
        chart.in_group(&run.on("insert"), label, row.over_same_style);
        compared.push((run.on(label), row.over_same_style));
    }
    // The baseline's own style is in the chart of ratios.
    if compared.len() < 2 {
        chart.series.clear();
    }
    let table = Table::for_rows("", &compared)
        .with(Column::text("target"), |(label, _)| label.clone())
        .with(Column::number(HEAD, ""), |(_, ratio)| Cell::interval(ratio.as_ref()));
    let title = "What is left of the difference in the same style?";
    chart.described(title, READ_STYLE, [table.into_table()])
}
