//! The life of stores: what each step takes, what the store occupies, and what a backup copies.

use checks::{LifeFigures, LifeSpace};
use model::{life::LifeStep, record::Record};

use crate::tables::{TARGET, time};
use crate::{
    table::{Column, Room, Table, Value},
    words::{counted, label},
};

pub(crate) fn life(record: &Record, rows: &[LifeFigures]) -> Table {
    let plan = &record.header.plan;
    // The state is only said where a step has another one than the others.
    let step = |row: &LifeFigures| match row.step {
        LifeStep::Open => format!("{}, {}", row.step, row.figures.case.cache),
        step => step.to_string(),
    };
    Table::for_rows("", rows)
        .with(Column::text("step"), step)
        .with(TARGET, |row| label(plan, row.figures.target))
        .with(Column::number("operations", "").room(Room::Spare(1)), |row| {
            Value::Count(row.operations)
        })
        .with(Column::number("time", "µs each"), |row| {
            time(plan, &row.figures, row.figures.us_per_op)
        })
        .with(Column::number("CPU", "µs each").room(Room::Spare(0)), |row| {
            row.figures.cpu_us_per_op()
        })
        .into_compared(record, |row| &row.figures)
}

const SPACE: &str = "backup: what a backup copies after 1 % of the values changed, whole files that \
                     changed or changed blocks of 4 KiB; back: share of the store's bytes that deleting \
                     half of the values gave back, then with reclaiming; –: not measured, as the engine has \
                     no way or needs none, or for lack of time";

/// Returns the table of the stores' sizes; `None` if no store has files.
pub(crate) fn life_spaces(record: &Record, spaces: &[LifeSpace]) -> Option<Table> {
    let plan = &record.header.plan;
    let days = plan.experiment.life().map_or(0, |life| life.days);
    let mb = |bytes: Option<f64>| Some(bytes? / 1e6);
    let percent = |share: Option<f64>| Some(share? * 100.0);
    let title =
        format!("space on disk over {}, each with changes of 1 %", counted(days.into(), "day"));
    let table = Table::for_rows(title, spaces)
        .with(TARGET, |row| label(plan, row.target))
        .with(Column::number("filled", "MB"), |row| mb(Some(row.filled)))
        .with(Column::number("backup", "files, MB"), |row| mb(row.backup_files))
        .with(Column::number("backup", "blocks, MB"), |row| mb(row.backup_blocks))
        .with(Column::number("grown", "÷ filled"), |row| row.growth)
        .with(Column::number("back", "%"), |row| percent(row.half_back))
        .with(Column::number("reclaimed", "%"), |row| percent(row.reclaimed))
        .with(Column::number("emptied", "MB").room(Room::Spare(0)), |row| mb(row.emptied))
        .into_table()
        .with_notes([SPACE.to_owned()]);
    (!spaces.is_empty()).then_some(table)
}
