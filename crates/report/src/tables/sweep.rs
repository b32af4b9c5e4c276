//! A sweep: its runs together, and what only all of them show.

use std::collections::BTreeMap;

use checks::{Figures, PageMatrix, TargetBreakEven};
use itertools::Itertools;
use model::{
    Case,
    record::Record,
    units::{show_size, whole},
};
use stats::Crossing;

use super::{TARGET, above_p99, time, times::unit};
use crate::{
    table::{Cell, Column, Room, Table, Tone},
    words::{self, label},
};

/// Returns the title of a sweep: `a sweep of 6 runs: size 1k, 4k, …`.
pub(crate) fn sweep_title(runs: &[Record]) -> String {
    let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, value) in runs.iter().flat_map(|run| run.header.varied()) {
        values.entry(name).or_default().push(value);
    }
    let values =
        values.iter().map(|(name, all)| format!("{name} {}", all.iter().unique().join(", ")));
    let all =
        runs.first().and_then(|run| run.header.point.as_ref()).map_or(runs.len(), |point| point.of);
    let part = if all == runs.len() { String::new() } else { format!("{} of ", runs.len()) };
    format!("a sweep of {part}{all} runs: {}", values.into_iter().join("; "))
}

pub(crate) fn sweep<'a>(
    title: String,
    case: Case,
    runs: impl IntoIterator<Item = (&'a Record, &'a [Figures])>,
) -> Table {
    let rows_of_run = |(run, figures): (&'a Record, &'a [Figures])| {
        figures.iter().filter(move |row| row.case == case).map(move |row| (run, row))
    };
    let rows: Vec<_> = runs.into_iter().flat_map(rows_of_run).collect();
    let Some((first, _)) = rows.first() else { return Table { title, ..Table::default() } };
    let plan = &first.header.plan;
    let paced = rows.iter().any(|(_, row)| row.paced.is_some());
    let (head, unit) = if paced { ("latency", "µs") } else { ("time", unit(plan, case)) };
    let slow = rows.iter().filter_map(|(run, row)| {
        let (varied, target) = (words::varied(run), label(&run.header.plan, row.target));
        Some(format!("{varied} {target} {}", above_p99(run, row)?))
    });
    Table::for_rows(title, &rows)
        .with(Column::text("run").narrow(&[20, 12]), |(run, _)| words::varied(run))
        .with(TARGET, |(run, row)| label(&run.header.plan, row.target))
        .with(Column::number(head, unit), |(_, row)| time(plan, row, row.us_per_op))
        .with(Column::number("p99", "µs").room(Room::Spare(2)), |(_, row)| Some(row.latency?.p99))
        .with_if(!paced, Column::number("rate", "MB/s").room(Room::Spare(1)), |(_, r)| r.mb_per_s)
        .compared(plan, |(_, row)| row)
        .into_table()
        .with_notes(words::joined(slow, "; ").map(|all| format!("time above p99: {all}")))
}

/// Returns a table for each case with the sizes at which the baseline overtakes each target.
pub(crate) fn break_evens(first: &Record, rows: &[TargetBreakEven]) -> Vec<Table> {
    let plan = &first.header.plan;
    let baseline = label(plan, plan.baseline);
    let table = |rows: &[TargetBreakEven]| {
        let about = words::about(plan, rows[0].case, &rows[0].others);
        let title = format!("break-even, {about}: the size of blobs at which {baseline} overtakes");
        Table::for_rows(title, rows)
            .with(Column { head: "".into(), ..TARGET }, |row| &*row.target)
            .with(Column::text("").narrow(&[20]), |row| break_even(row, baseline))
            .into_table()
    };
    let cases = rows.chunk_by(|one, next| (one.case, &one.others) == (next.case, &next.others));
    cases.map(table).collect()
}

pub(crate) fn break_even(row: &TargetBreakEven, baseline: &str) -> String {
    let [least, most] = row.sizes.map(show_size);
    if row.found.crossings.is_empty() {
        let unsure = if row.found.refuted { "" } else { "; no difference is shown at some sizes" };
        return if row.found.begins_below {
            format!("never from {least} up to {most}{unsure}")
        } else {
            format!("{baseline} is ahead at all sizes from {least} to {most}{unsure}")
        };
    }
    let crossing = |crossing: &Crossing| {
        let low = crossing.low.map_or_else(|| format!("below {least}"), size);
        let high = crossing.high.map_or_else(|| format!("above {most}"), size);
        let way = if crossing.upwards { "at" } else { "falls back at" };
        format!("{way} {} ({low} – {high})", size(crossing.size))
    };
    row.found.crossings.iter().map(crossing).join(", ")
}

pub(crate) fn size(size: f64) -> String {
    show_size(whole(size.round()))
}

pub(crate) fn page_sizes(first: &Record, matrix: &PageMatrix) -> Table {
    let plan = &first.header.plan;
    let (baseline, family) = (label(plan, plan.baseline), &matrix.family);
    let about = words::about(plan, matrix.case, &matrix.others);
    let title = format!(
        "{baseline}, time ÷ {family}'s, {about}, by page size (down) and size of blobs (across): above \
         1 {family} is faster; * its best page size"
    );
    let rows: Vec<_> = matrix.rows.iter().enumerate().collect();
    let mut table = Table::for_rows(title, &rows)
        .with(Column::number("", ""), |(_, (pages, _))| pages.to_string());
    for (place, size) in matrix.sizes.iter().enumerate() {
        // Two lines a cell, if they do not fit on one.
        let column = Column::number("", "").narrow(&[12]);
        let column = Column { head: show_size(*size).into(), ..column };
        table = table.with(column, |(row, (_, ratios))| {
            let cell = Cell::interval(ratios[place].as_ref());
            let best = matrix.best(place) == Some(*row);
            if best { cell.mark("*").tone(Tone::Good) } else { cell }
        });
    }
    table.into_table()
}
