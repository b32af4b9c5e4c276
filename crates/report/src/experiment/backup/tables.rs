//! Backups: what each step takes with each catalogue, and the catalogue's share of it.

use checks::BackupFigures;
use model::record::Record;

use crate::tables::{TARGET, time};
use crate::{
    table::{Column, Room, Table},
    words::label,
};

pub(crate) fn backup(record: &Record, rows: &[BackupFigures]) -> Table {
    let plan = &record.header.plan;
    let ms = |row: &BackupFigures, us: f64| us * row.files as f64 / 1e3;
    let mb = |bytes: Option<f64>| Some(bytes? / 1e6);
    Table::for_rows("", rows)
        .with(Column::text("step"), |row| row.step.as_str())
        .with(TARGET, |row| label(plan, row.figures.target))
        .with(Column::number("time", "ms"), |row| {
            time(plan, &row.figures, row.figures.us_per_op.map(|us| us.map(|us| ms(row, us))))
        })
        .with(Column::number("CPU", "ms"), |row| Some(ms(row, row.figures.cpu_us_per_op()?)))
        .with(Column::number("catalogue", "% of time"), |row| Some(row.catalogue? * 100.0))
        .with(Column::number("written", "MB").room(Room::Spare(0)), |row| mb(row.written_bytes))
        .with(Column::number("device", "MB").room(Room::Scroll), |row| mb(row.read_bytes))
        .with(Column::number("packs", "+ MB").room(Room::Scroll), |row| mb(row.added_bytes))
        .with(Column::number("catalogue", "MB").room(Room::Scroll), |row| mb(row.catalogue_bytes))
        .into_compared(record, |row| &row.figures)
}
