//! Rows: the times of their operations and the ratios, published ones beside.

use crate::{
    RowCell, RowFigures, RowGroup,
    html::{
        chart::{Axis, Interval, Unit},
        figure::Figure,
        groups::Groups,
        machine::{Job, Part, Run},
        table::{Column, Table},
        targets::Targets,
    },
    row_groups,
    terminal::{
        number::{NONE, figure_or_none, with_interval},
        rows::processes,
    },
};

use super::ratios;

const READ: &str = "Further left is faster; whiskers are 95 % intervals. Published figures, where there \
                    are any, stand in groups of their own: they are of another machine and have no interval.";
const READ_STYLE: &str = "How rows are handed over is the same on both sides here: what is left of the \
                          difference is the store's.";

const OPERATIONS: [&str; 3] = ["insert", "sum", "update"];
const SECONDS: f64 = 1e9;

pub(super) fn figures(part: &Part<'_>, targets: &Targets<'_>) -> Vec<Figure> {
    if part.job() != Job::Rows {
        return vec![];
    }
    let groups: Vec<(Run<'_>, Vec<RowGroup>)> =
        part.runs().map(|run| (run, row_groups(run.record))).collect();
    let count = groups.iter().map(|(_, groups)| groups.len()).max().unwrap_or(0);
    let at = |place: usize| {
        let here = groups.iter().filter_map(move |(run, all)| Some((*run, all.get(place)?)));
        let here: Vec<_> = here.collect();
        [seconds(part, targets, &here), ratio(part, targets, &here), style(part, targets, &here)]
    };
    (0..count).flat_map(at).collect()
}

type Here<'a> = [(Run<'a>, &'a RowGroup)];

fn group(here: &Here<'_>) -> String {
    here.first().map_or_else(String::new, |(_, group)| processes(&group.workload))
}

fn seconds(part: &Part<'_>, targets: &Targets<'_>, here: &Here<'_>) -> Figure {
    let title = format!("Time of all rows: {}", group(here));
    let mut groups = Groups::new(Axis::log("time", Unit::Nanoseconds));
    let mut table = Table::new(title.clone(), columns());
    for (run, row) in rows(here) {
        let label = run.label(row.target);
        table.row(cells(&part.on(label, run.side), row));
        let Some(target) = targets.place(label) else { continue };
        for (index, cell) in row.cells.iter().enumerate() {
            let name = part.on(OPERATIONS[index], run.side);
            if let Some(seconds) = &cell.seconds {
                groups.point(&name, target, Interval::from(seconds).times(SECONDS), None);
            }
            let published = row.published.as_ref().and_then(|all| all.seconds[index]);
            if let Some(published) = published {
                let value = Interval::exact(published).times(SECONDS);
                groups.point(&super::published(OPERATIONS[index]), target, value, None);
            }
        }
    }
    groups.figure("rows", title, READ, table)
}

fn rows<'a>(here: &'a Here<'a>) -> impl Iterator<Item = (Run<'a>, &'a RowFigures)> {
    here.iter().flat_map(|(run, group)| group.targets.iter().map(move |row| (*run, row)))
}

fn ratio(part: &Part<'_>, targets: &Targets<'_>, here: &Here<'_>) -> Figure {
    let baseline = part.runs().next().map_or("", Run::baseline);
    let title = format!("Time ÷ that of {baseline}: {}", group(here));
    let axis = Axis::log(format!("time ÷ that of {baseline}"), Unit::Ratio);
    let mut groups = Groups::around_one(axis);
    let mut table = Table::new(title.clone(), ratio_columns());
    for (run, row) in rows(here) {
        let label = run.label(row.target);
        table.row(ratio_cells(&part.on(label, run.side), row));
        let Some(target) = targets.place(label) else { continue };
        for (index, cell) in row.cells.iter().enumerate() {
            if let Some(ratio) = &cell.ratio {
                let name = part.on(OPERATIONS[index], run.side);
                groups.point(&name, target, Interval::from(ratio), None);
            }
            if let Some(published) = cell.published_ratio {
                let name = super::published(OPERATIONS[index]);
                groups.point(&name, target, Interval::exact(published), None);
            }
        }
    }
    groups.figure("rows-ratio", title, ratios::READ, table)
}

fn style(part: &Part<'_>, targets: &Targets<'_>, here: &Here<'_>) -> Figure {
    let title =
        format!("Inserting ÷ that of the baseline’s store in the same style: {}", group(here));
    let mut groups = Groups::around_one(Axis::log("time of inserting ÷", Unit::Ratio));
    let heads = vec![Column::text("target"), Column::number("time of inserting ÷", "")];
    let mut table = Table::new(title.clone(), heads);
    for (run, row) in rows(here) {
        let label = run.label(row.target);
        if let Some((ratio, target)) = row.over_same_style.as_ref().zip(targets.place(label)) {
            table.row(vec![part.on(label, run.side), with_interval(ratio)]);
            groups.point(&part.on("insert", run.side), target, Interval::from(ratio), None);
        }
    }
    groups.figure("rows-style", title, READ_STYLE, table)
}

/// 1,048,576 bytes, of which the published sizes are multiples, in millions of bytes.
const MIB_IN_MB: f64 = 1.048_576;

fn columns() -> Vec<Column> {
    let mut columns = vec![Column::text("target")];
    for (name, unit) in OPERATIONS.map(|name| (name, "s")).into_iter().chain([("size", "MB")]) {
        columns.push(Column::number(name, unit));
        columns.push(Column::number(super::published(name), unit));
    }
    columns
}

fn cells(name: &str, row: &RowFigures) -> Vec<String> {
    let mut cells = vec![name.to_owned()];
    for (index, cell) in row.cells.iter().enumerate() {
        cells.push(cell.seconds.as_ref().map_or_else(|| NONE.to_owned(), with_interval));
        cells.push(figure_or_none(row.published.as_ref().and_then(|all| all.seconds[index])));
    }
    cells.push(figure_or_none(row.size_mb));
    let mib = row.published.as_ref().and_then(|all| all.mib);
    cells.push(figure_or_none(mib.map(|mib| mib * MIB_IN_MB)));
    cells
}

fn ratio_columns() -> Vec<Column> {
    let mut columns = vec![Column::text("target")];
    for name in OPERATIONS {
        columns.push(Column::number(format!("{name} ÷"), ""));
        columns.push(Column::number(super::published(name), ""));
    }
    columns
}

fn ratio_cells(name: &str, row: &RowFigures) -> Vec<String> {
    let of = |cell: &RowCell| [told(cell), figure_or_none(cell.published_ratio)];
    [name.to_owned()].into_iter().chain(row.cells.iter().flat_map(of)).collect()
}

fn told(cell: &RowCell) -> String {
    cell.ratio.as_ref().map_or_else(|| NONE.to_owned(), with_interval)
}
