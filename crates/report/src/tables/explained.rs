//! The tables that explain the differences between targets in a case.

use checks::{Aspect, Difference, Explained, Figures, Series, differences};
use model::record::Record;

use super::TARGET;
use crate::{
    number::{faster_or_slower, figure},
    sentences,
    table::{Column, Line, Lines, Room, Table},
    words::{joined, label},
};

/// Returns two tables of a case: where its time goes, and what was moved. `rows` are its figures.
pub(crate) fn explained(record: &Record, rows: &[Figures]) -> [Table; 2] {
    [explained_time(record, rows), explained_moves(record, rows)]
}

fn title(record: &Record, rows: &[Figures], what: &str) -> String {
    let case = rows[0].case;
    let name = record.header.plan.workload_name(case.workload);
    format!("{name}, {}: {what}", case.cache)
}

pub(crate) fn explained_time(record: &Record, rows: &[Figures]) -> Table {
    let explained = checks::explained(record, rows);
    Table::for_rows(title(record, rows, "where the time goes, per blob"), &explained)
        .with(TARGET, |row| label(&record.header.plan, row.target))
        .with(Column::number("user", "µs"), |row| row.user)
        .with(Column::number("kernel", "µs"), |row| row.kernel)
        .with(Column::number("off CPU", "µs"), |row| row.off_cpu)
        .with(Column::number("time", "µs").room(Room::Scroll), |row| {
            Some(row.wall? - row.waited.unwrap_or_default())
        })
        .with(Column::number("waited", "µs"), |row| row.waited)
        .with(Column::number("wall", "µs"), |row| row.wall)
        .with(Column::number("faults", "minor"), |row| row.minor_faults)
        .with(Column::number("faults", "major"), |row| row.major_faults)
        .with(Column::number("switches", ""), |row| row.switches)
        .with(Column::number("to open", "ms"), |row| row.opening_ms)
        .with(Column::number("first", "÷ steady"), |row| row.first_over_steady)
        .into_table()
}

pub(crate) fn explained_moves(record: &Record, rows: &[Figures]) -> Table {
    let plan = &record.header.plan;
    let explained = checks::explained(record, rows);
    let what = "what was moved: calls per blob, bytes per byte of data";
    let table = Table::for_rows(title(record, rows, what), &explained)
        .with(TARGET, |row| label(plan, row.target))
        .with(Column::number("calls", "read"), |row| row.read_calls)
        .with(Column::number("calls", "write"), |row| row.write_calls)
        .with(Column::number("calls", "flush"), |row| row.flushes)
        .with(Column::number("bytes", "read"), |row| row.read_bytes)
        .with(Column::number("bytes", "written"), |row| row.written_bytes)
        .with(Column::number("device", "read"), |row| row.device_read)
        .with(Column::number("device", "written"), |row| row.device_written)
        .with(Column::number("cached", "before %"), |row| row.cached_before)
        .with(Column::number("cached", "after %"), |row| row.cached_after)
        .into_table();
    // All of it, the tool's own too: how targets differ says more than what one takes.
    let memory = |row: &Explained| {
        Some(format!("{} {} MB", label(plan, row.target), figure(row.memory_mb?)))
    };
    let memory = joined(explained.iter().filter_map(memory), ", ").map(|all| {
        format!("memory of storemark, its workers and servers, without the page cache: {all}")
    });
    table.with_notes(memory)
}

/// Lists the counters that are the same in all rounds of each target; `None` if there are none.
fn repeated(record: &Record, rows: &[Figures]) -> Option<String> {
    let of_target = |row: &Figures| {
        let counters = checks::repeated_counters(Series::new(record, row.case, row.target));
        let counters = joined(counters.iter().map(ToString::to_string), ", ")?;
        Some(format!("{} {counters}", label(&record.header.plan, row.target)))
    };
    joined(rows.iter().filter_map(of_target), "; ").map(sentences::repeated_counters)
}

/// Describes a difference: `time in the kernel per blob 3.00 → 0.900 µs (-2.10)`.
fn describe(difference: &Difference) -> String {
    let Difference { aspect: Aspect { is_time, name, .. }, baseline, target } = *difference;
    let sign = if difference.change() > 0.0 { "+" } else { "" };
    let change = format!("{sign}{}", figure(difference.change()));
    let [from, to] = [baseline, target].map(figure);
    if is_time {
        sentences::time_differs(name, from, to, change)
    } else {
        sentences::count_differs(name, from, to, change)
    }
}

/// Returns a sentence for each verdict that something coincides with, and one on the counters that repeat
/// themselves; `None` if there are none.
pub(crate) fn explained_sentences(record: &Record, rows: &[Figures]) -> Option<Lines> {
    let plan = &record.header.plan;
    let explained = checks::explained(record, rows);
    let baseline = explained.iter().find(|row| row.target == plan.baseline);
    let coincides = |(row, target): (&Figures, &Explained)| {
        let differences = differences(baseline?, row, target);
        let along = joined(differences.iter().map(describe), ", ")?;
        let (label, verdict) = (label(plan, row.target), faster_or_slower(row.ratio?.point));
        Some(sentences::coincides(label, verdict, along))
    };
    let coincide = rows.iter().zip(&explained).filter_map(coincides);
    let sentences = coincide.chain(repeated(record, rows)).map(|text| Line::new("· ", text));
    Lines::new("", sentences).unless_empty()
}
