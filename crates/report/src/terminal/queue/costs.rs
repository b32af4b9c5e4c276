//! The table of what a task took beside time: the first ones, processors, waiting, the disk.

use model::record::Record;

use super::{TARGET, label};
use crate::{
    QueueFigures,
    terminal::{
        number::figure_or_none,
        page::{Page, Paint},
        table::{Cell, Column, Table},
    },
};

/// A column and what stands in it.
type Shown = (Column, fn(&QueueFigures) -> Option<f64>);

const COLUMNS: [Shown; 7] = [
    (Column::number("first", "ms"), |row| row.figures.first_us_per_op.map(|e| e.point / 1e3)),
    (Column::number("CPU", "ms"), |row| {
        row.figures.cpu.map(|cpu| (cpu.user_us_per_op + cpu.system_us_per_op) / 1e3)
    }),
    (Column::number("lock", "waits"), |row| Some(row.waits?.locks)),
    (Column::number("busy", "retries"), |row| Some(row.waits?.retries)),
    (Column::number("written", "kB"), |row| row.written_per_task.map(|bytes| bytes / 1e3)),
    (Column::number("owed", "% of time"), |row| Some(row.owed * 100.0)),
    (Column::number("on disk", "kB in all"), |row| Some(row.disk_bytes as f64 / 1e3)),
];

pub(super) fn print(page: &mut Page, record: &Record, rows: &[QueueFigures]) {
    let columns = COLUMNS.into_iter().map(|(column, _)| column);
    let mut table = Table::new([TARGET].into_iter().chain(columns).collect());
    for row in rows {
        let shown = COLUMNS.iter().map(|(_, of)| Cell::new(figure_or_none(of(row))));
        table.row([label(record, row)].into_iter().chain(shown).collect());
    }
    page.gap();
    let title =
        "what a task takes beside: the first ones, processors, waiting, bytes to the device";
    page.paragraph("", title, Paint::Plain);
    table.print(page);
}
