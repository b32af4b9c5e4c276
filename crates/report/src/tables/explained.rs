//! What explains the differences between targets in a case.

use model::record::Record;

use super::TARGET;
use crate::{
    Explained, Figures, differences,
    number::{faster_or_slower, figure},
    table::{Column, Line, Lines, Table},
    words::{self, joined, label},
};

/// Where the time of a case goes, and what was moved; `rows` are its figures.
pub(crate) fn explained(record: &Record, rows: &[Figures]) -> [Table; 2] {
    let plan = &record.header.plan;
    let case =
        format!("{}, {}", words::workload_name(plan, rows[0].case.workload), rows[0].case.cache);
    let explained = crate::explained(record, rows);
    let table = |title: &str| {
        let table = Table::of(format!("{case}: {title}"), &explained);
        table.with(TARGET, |row| label(plan, row.target))
    };
    let time = table("where the time goes, per blob")
        .with(Column::number("user", "µs"), |row| row.user)
        .with(Column::number("kernel", "µs"), |row| row.kernel)
        .with(Column::number("off CPU", "µs"), |row| row.off_cpu)
        .with(Column::number("waited", "µs"), |row| row.waited)
        .with(Column::number("wall", "µs"), |row| row.wall)
        .with(Column::number("faults", "minor"), |row| row.minor_faults)
        .with(Column::number("faults", "major"), |row| row.major_faults)
        .with(Column::number("switches", ""), |row| row.switches)
        .with(Column::number("to open", "ms"), |row| row.opening_ms)
        .with(Column::number("first", "÷ steady"), |row| row.first_over_steady);
    let moved = table("what was moved: calls per blob, bytes per byte of data")
        .with(Column::number("calls", "read"), |row| row.read_calls)
        .with(Column::number("calls", "write"), |row| row.write_calls)
        .with(Column::number("bytes", "read"), |row| row.read_bytes)
        .with(Column::number("bytes", "written"), |row| row.written_bytes)
        .with(Column::number("device", "read"), |row| row.device_read)
        .with(Column::number("device", "written"), |row| row.device_written)
        .with(Column::number("cached", "before %"), |row| row.cached_before)
        .with(Column::number("cached", "after %"), |row| row.cached_after);
    // All of it, the tool's own too: how targets differ says more than what one takes.
    let memory = |row: &Explained| {
        Some(format!("{} {} MB", label(plan, row.target), figure(row.memory_mb?)))
    };
    let memory = joined(explained.iter().filter_map(memory), ", ").map(|all| {
        format!("memory of storemark, its workers and servers, without the page cache: {all}")
    });
    [time.done(), moved.done().with_notes(memory)]
}

/// A sentence for each verdict that something coincides with.
pub(crate) fn explained_sentences(record: &Record, rows: &[Figures]) -> Option<Lines> {
    let plan = &record.header.plan;
    let explained = crate::explained(record, rows);
    let baseline = explained.iter().find(|row| row.target == plan.baseline)?;
    let sentences = rows.iter().zip(&explained).filter_map(|(row, target)| {
        let differences = differences(baseline, row, target);
        let along = joined(differences.iter().map(ToString::to_string), " and ")?;
        let (label, verdict) = (label(plan, row.target), faster_or_slower(row.ratio?.point));
        Some(Line::new("· ", format!("{label}, {verdict}: this coincides with {along}")))
    });
    Lines::new("", sentences).unless_empty()
}
