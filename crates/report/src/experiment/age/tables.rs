//! Ageing: what reads and writes take at each age, and how fragmented the stores are then.

use checks::{AgeGroup, AgeSpace};
use model::{Cache, Plan, record::Record};

use crate::tables::{TARGET, ratio_column, time};
use crate::{
    number::factor,
    table::{Cell, Column, Room, Table, Value},
    words::{label, listed},
};

/// The largest number of targets in a title.
const MOST: usize = 3;

/// Returns the title: what was done, and its time at the highest age: `reading all objects in
/// random order, warm: at age 4 files take 1.02×, sqlite 1.9× the time of age 0`.
fn title(plan: &Plan, group: &AgeGroup) -> String {
    let cache = group.rows.first().map_or(Cache::Warm, |row| row.figures.case.cache);
    let (what, least) = if group.writes {
        let what = "writing: filling the store (age 0), then replacing, from one age to the next";
        (what.to_owned(), "the first replacing")
    } else {
        (format!("reading all objects in random order, {cache}"), "the least age")
    };
    let greatest = group.rows.iter().map(|row| row.age).max();
    let aged = group.rows.iter().filter(|row| Some(row.age) == greatest);
    let times = aged.filter_map(|row| {
        let by = factor(row.over_least?.point);
        Some(format!("{} {by}×", label(plan, row.figures.target)))
    });
    let times: Vec<_> = times.collect();
    match greatest.filter(|_| !times.is_empty()) {
        Some(age) => format!("{what}: at age {age} {} the time of {least}", listed(&times, MOST)),
        None => what,
    }
}

pub(crate) fn ages(record: &Record, group: &AgeGroup) -> Table {
    let plan = &record.header.plan;
    let aged = group.rows.iter().any(|row| row.over_least.is_some());
    // Filling is other work than replacing.
    let least = if group.writes { "first replacing" } else { "least age" };
    Table::for_rows(title(plan, group), &group.rows)
        .with(TARGET, |row| label(plan, row.figures.target))
        .with(Column::number("age", ""), |row| u64::from(row.age))
        .with(Column::number("time", "µs/object"), |row| {
            time(plan, &row.figures, row.figures.us_per_op)
        })
        .with(Column::number("rate", "MB/s").room(Room::Spare(1)), |row| row.figures.mb_per_s)
        .with_if(aged, ratio_column("time ÷", least).narrow(&[usize::MAX, usize::MAX, 15]), |row| {
            Cell::interval(row.over_least.as_ref())
        })
        .into_compared(record, |row| &row.figures)
}

const PIECES: &str = "pieces: neighbouring blocks on the device count as one; an object's are those of its \
                      own file, in a database its runs of neighbouring pages; –: not known";

/// Returns the table of the stores' files at each age; `None` if no store has files.
pub(crate) fn age_spaces(record: &Record, spaces: &[AgeSpace]) -> Option<Table> {
    let title = "space: bytes of the store's files per live byte, and how fragmented they are";
    let table = Table::for_rows(title, spaces)
        .with(TARGET, |space| label(&record.header.plan, space.target))
        .with(Column::number("age", ""), |space| u64::from(space.age))
        .with(Column::number("length", "B/B"), |space| space.length_per_byte)
        .with(Column::number("on disk", "B/B"), |space| space.allocated_per_byte)
        .with(Column::number("files", ""), |space| Value::Figure(space.files))
        .with(Column::number("pieces", "of all files"), |space| space.extents)
        .with(Column::number("pieces", "of an object"), |space| space.per_object)
        .with(Column::number("free pages", "%"), |space| Some(space.free? * 100.0))
        .into_table()
        .with_notes([PIECES.to_owned()]);
    (!spaces.is_empty()).then_some(table)
}
