//! The table of times and sizes, published ones beside.

use model::record::Record;

use super::{TARGET, from_elsewhere, label};
use crate::{
    RowFigures, RowGroup,
    terminal::{
        number::{NONE, figure, figure_or_none, with_interval},
        page::Page,
        table::{Cell, Column, Table},
    },
};

/// 1,048,576 bytes, of which the published sizes are multiples, in millions of bytes.
const MIB_IN_MB: f64 = 1.048_576;

/// Three significant digits, as far as that takes tenths of a millisecond.
fn three_figures(seconds: f64) -> String {
    if seconds < 0.0995 { format!("{seconds:.4}") } else { figure(seconds) }
}

pub(super) fn print(page: &mut Page, record: &Record, group: &RowGroup) {
    let published = group.has_published();
    let mut columns = vec![TARGET];
    for (name, unit) in [("insert", "s"), ("sum", "s"), ("update", "s"), ("size", "MB")] {
        columns.push(Column::number(name, unit));
        columns.extend(published.then(|| Column::number("publ.", unit)));
    }
    let mut table = Table::new(columns);
    let alone = record.header.plan.targets.len() == 1;
    for row in &group.targets {
        table.row(cells(record, row, published, alone));
    }
    table.print(page);
}

/// With one target there is no ratio: its times have the interval then.
fn cells(record: &Record, row: &RowFigures, published: bool, alone: bool) -> Vec<Cell> {
    let mut cells = vec![label(record, row.target)];
    for (index, cell) in row.cells.iter().enumerate() {
        let seconds = cell.seconds.as_ref().map(|seconds| {
            if alone { with_interval(seconds) } else { three_figures(seconds.point) }
        });
        cells.push(Cell::new(seconds.unwrap_or_else(|| NONE.to_owned())));
        let of = row.published.as_ref().and_then(|published| published.seconds[index]);
        cells.extend(published.then(|| from_elsewhere(of)));
    }
    cells.push(Cell::new(figure_or_none(row.size_mb)));
    let size = row.published.as_ref().and_then(|published| published.mib);
    cells.extend(published.then(|| from_elsewhere(size.map(|mib| mib * MIB_IN_MB))));
    cells
}
