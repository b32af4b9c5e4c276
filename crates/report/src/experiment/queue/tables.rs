//! Tasks: the time of a task and its ratio next to the published ones, the latency of each step, and
//! what else a task took.

use std::collections::BTreeSet;

use checks::{Percentiles, TaskFigures};
use model::{record::Record, tasks::TaskStep};

use crate::tables::{LONG_TARGET, clock, fastest, published, shared_settings, time};
use crate::{
    table::{Cell, Column, Line, Lines, Room, Table},
    words::label,
};

pub(crate) fn tasks(record: &Record, rows: &[TaskFigures]) -> Table {
    let plan = &record.header.plan;
    let has_published = rows.iter().any(|row| row.published_ms.is_some());
    let ms = |row: &TaskFigures| row.figures.us_per_op.map(|us| us.map(|us| us / 1e3));
    let all = rows.iter().map(|row| &row.figures);
    let fastest = fastest(plan, all.map(|row| (row.target, row.ratio, row.verdict)));
    let title =
        fastest.map_or_else(String::new, |first| format!("time of a task; fastest: {first}"));
    let table = Table::for_rows(title, rows)
        .with(LONG_TARGET, |row| label(plan, row.figures.target))
        .with(Column::number("time", "ms/task"), |row| time(plan, &row.figures, ms(row)))
        .with_if(has_published, Column::number("publ.", ""), |row| published(row.published_ms))
        .with(Column::number("tasks", "/s").room(Room::Spare(1)), |row| Some(1e3 / ms(row)?.point));
    let clock = clock(record, rows.iter().map(|row| &row.figures));
    if plan.targets.len() == 1 {
        return table.into_table().with_notes(clock);
    }
    let published_column = Column::number("publ.", "÷");
    table
        .ratios(|row| &row.figures)
        .with_if(has_published, published_column, |row| published(row.published_ratio))
        .verdicts(|row| &row.figures)
        .into_table()
        .with_notes(clock)
}

/// Returns the table of ratios within each file system; `None` if there is only one.
pub(crate) fn task_sites(record: &Record, rows: &[TaskFigures]) -> Option<Table> {
    let plan = &record.header.plan;
    let filesystems: BTreeSet<_> = plan.targets.iter().map(|target| &target.on).collect();
    let compared: Vec<_> =
        rows.iter().filter_map(|row| Some((row, row.over_same_filesystem.as_ref()?))).collect();
    let baseline = plan.targets.get(plan.baseline)?;
    if filesystems.len() < 2 || compared.is_empty() {
        return None;
    }
    let on = baseline.on.as_ref().map_or_else(String::new, |on| format!(" on {on}"));
    let name = baseline.label.strip_suffix(&on).unwrap_or(&baseline.label);
    let has_published = compared.iter().any(|(_, (_, published))| published.is_some());
    let table =
        Table::for_rows(format!("time ÷ that of {name} on the same file system"), &compared)
            .with(LONG_TARGET, |(row, _)| label(plan, row.figures.target))
            .with(Column::number("time ÷", ""), |(_, (ratio, _))| Cell::interval(Some(ratio)))
            .with_if(has_published, Column::number("publ.", ""), |(_, (_, of))| published(*of));
    Some(table.into_table())
}

pub(crate) fn task_steps(record: &Record, rows: &[TaskFigures]) -> Option<Table> {
    if rows.iter().all(|row| row.steps.is_empty()) {
        return None;
    }
    let mut table = Table::for_rows("how long each step takes in its worker, ms", rows)
        .with(LONG_TARGET, |row| label(&record.header.plan, row.figures.target));
    for (step, name) in TaskStep::ALL.into_iter().zip(["create", "status", "rewrite", "delete"]) {
        let ms = |row: &TaskFigures, of: fn(&Percentiles) -> f64| {
            row.steps.get(&step).map(|percentiles| of(percentiles) / 1e3)
        };
        table = table
            .with(Column::number(name, "p50"), |row| ms(row, |p| p.p50))
            .with(Column::number("", "p90").room(Room::Scroll), |row| ms(row, |p| p.p90))
            .with(Column::number("", "p99"), |row| ms(row, |p| p.p99))
            .with(Column::number("", "p99.9").room(Room::Scroll), |row| ms(row, |p| p.p999))
            .with(Column::number("", "max").room(Room::Scroll), |row| ms(row, |p| p.max));
    }
    let max = |row: &TaskFigures| row.steps.values().map(|p| p.max / 1e3).reduce(f64::max);
    Some(table.with(Column::number("any", "max"), max).into_table())
}

/// Returns the table of what else a task takes: the first tasks, processors, waiting, the disk.
pub(crate) fn task_costs(record: &Record, rows: &[TaskFigures]) -> Table {
    let title = "what else a task takes: the first ones, processors, waiting, bytes to the device";
    Table::for_rows(title, rows)
        .with(LONG_TARGET, |row| label(&record.header.plan, row.figures.target))
        .with(Column::number("first", "ms"), |row| Some(row.figures.first_us_per_op?.point / 1e3))
        .with(Column::number("CPU", "ms"), |row| Some(row.figures.cpu_us_per_op()? / 1e3))
        .with(Column::number("lock", "waits"), |row| Some(row.waits?.locks))
        .with(Column::number("busy", "retries"), |row| Some(row.waits?.retries))
        .with(Column::number("written", "kB"), |row| Some(row.written_per_task? / 1e3))
        .with(Column::number("flush", "% of time"), |row| row.settled * 100.0)
        .with(Column::number("on disk", "kB in all"), |row| row.disk_bytes as f64 / 1e3)
        .into_table()
}

const TIME: &str = "time: from the common start to the last worker's last task, with flushing the \
                    remaining writes (a checkpoint), over all tasks; on disk: what files took before \
                    that, when no task was left";

/// A note on how the published set-up differs from this one.
const PUBLISHED: &str = "published figures are of the machines above, in Go: a pool of connections of which two \
                         stay open while idle, a statement parsed for each step (connection=pool); \
                         no file was flushed, a WAL with NORMAL is when it is merged";

/// Returns what to know when reading the tables.
pub(crate) fn task_notes(record: &Record, published: bool) -> Lines {
    let notes = [TIME].into_iter().chain(published.then_some(PUBLISHED));
    Lines::new("", notes.map(Line::dim).chain(shared_settings(record)))
}
