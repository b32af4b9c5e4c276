//! What the settings buy that decide how readers and writers share a store.

use checks::{
    Advice, Decision, RoleFigures, SharingFigures, SharingSetting, SharingWay, WayFigures,
    sharing_figures,
};
use itertools::Itertools;
use model::units::show_count;

use crate::{
    answer::display::duration,
    number::factor,
    sentences,
    table::{Cell, Column, Line, Lines, Table, Value},
};

/// Returns the sentences on the settings of each store.
pub(super) fn says(decision: &Decision<'_>) -> Vec<Lines> {
    let advice = decision.advice;
    let rows = advice.sharing.iter().flat_map(|sharing| sharing_figures(sharing, advice.reads));
    let rows: Vec<_> = rows.collect();
    rows.chunk_by(|one, next| one.setting.store == next.setting.store).map(of_store).collect()
}

/// Returns a sentence for each setting that is shown to matter, the better way first, and one that
/// lists the others.
fn of_store(rows: &[SharingFigures<'_>]) -> Lines {
    let mut lines: Vec<_> = rows.iter().filter_map(sentence).collect();
    let same = rows.iter().filter(|row| row.better.is_none());
    let names = same.map(|row| row.setting.ways.each_ref().map(|way| &*way.name).join(" or "));
    lines.extend(sentences::list(&names.collect::<Vec<_>>()).map(sentences::sharing_same));
    let lines = lines.into_iter().map(|text| Line::new("  ", text));
    let title = sentences::sharing_of(&rows[0].setting.store);
    Lines::new(title, lines)
}

fn sentence(row: &SharingFigures<'_>) -> Option<String> {
    let better = row.better?;
    let (to, from) = (&row.ways[better], &row.ways[1 - better]);
    let [better_name, worse_name] =
        [better, 1 - better].map(|way| row.setting.ways[way].name.as_str());
    let reads = change("a read", &from.readers, &to.readers);
    let updates = change("an update", &from.writers, &to.writers);
    let trades = &row.setting.trades;
    Some(if better == 1 && !trades.is_empty() {
        sentences::sharing_for(better_name, worse_name, reads, updates, trades)
    } else {
        sentences::sharing(better_name, worse_name, reads, updates)
    })
}

/// Describes the time of an operation in both ways, and how many were refused.
fn change(operation: &str, from: &RoleFigures, to: &RoleFigures) -> String {
    let time = |row: &RoleFigures| {
        row.figures.us_per_op.map_or_else(|| "unknown".to_owned(), |us| duration(us.point))
    };
    let slowdown = |row: &RoleFigures| Some(format!("{}×", factor(row.slowdown?.point)));
    let text = match slowdown(from).zip(slowdown(to)) {
        Some((slow_from, slow_to)) => sentences::sharing_time_and_slowdown(
            operation,
            time(from),
            time(to),
            slow_from,
            slow_to,
        ),
        None => sentences::sharing_time(operation, time(from), time(to)),
    };
    match (from.waits.errors, to.waits.errors) {
        (0, 0) => text,
        (before, after) => {
            let [before, after] = [before, after].map(|count| show_count(count.unsigned_abs()));
            sentences::sharing_refused(text, before, after)
        }
    }
}

/// A row of the table: a way of a store.
struct Row {
    store: String,
    name: String,
    figures: WayFigures,
}

/// Returns the rows of the ways, each place in the records once.
fn rows(all: Vec<SharingFigures<'_>>) -> Vec<Row> {
    let place = |way: &SharingWay| (way.record, way.target);
    let ways = all.iter().flat_map(|row| &row.setting.ways);
    let counts = ways.map(place).counts();
    let pairs = all.into_iter().flat_map(|SharingFigures { setting, ways, .. }| {
        setting.ways.iter().zip(ways).map(move |(way, figures)| (setting, way, figures))
    });
    let row = |(setting, way, figures): (&SharingSetting, &SharingWay, WayFigures)| {
        let several = counts[&place(way)] > 1;
        let name = if several { "as it is" } else { &way.name };
        Row { store: setting.store.clone(), name: name.to_owned(), figures }
    };
    pairs.unique_by(|(_, way, _)| place(way)).map(row).collect()
}

/// Returns the table of all ways; `None` if none was measured.
pub(super) fn table(advice: &Advice) -> Option<Table> {
    let rows = rows(sharing_figures(advice.sharing.as_ref()?, advice.reads));
    let several = rows.iter().any(|row| row.store != rows[0].store);
    let table = Table::for_rows("readers and writers at the same time, by setting", &rows)
        .with_if(several, Column::text("store").narrow(&[26, 16]), |row| row.store.clone())
        .with(Column::text("setting").narrow(&[40, 26, 16]), |row| row.name.clone())
        .with(Column::number("read", "µs"), |row| row.figures.readers.figures.us_per_op)
        .with(Column::number("÷ alone", "").narrow(&[13]), |row| {
            Cell::interval(row.figures.readers.slowdown.as_ref())
        })
        .with(Column::number("p99", "µs"), |row| Some(row.figures.readers.latency?.p99))
        .with(Column::number("update", "µs"), |row| row.figures.writers.figures.us_per_op)
        .with(Column::number("÷ alone", "").narrow(&[13]), |row| {
            Cell::interval(row.figures.writers.slowdown.as_ref())
        })
        .with(Column::number("p99", "µs"), |row| Some(row.figures.writers.latency?.p99))
        .with(Column::number("refused", ""), |row| Value::Count(row.figures.refused()))
        .into_table();
    (!rows.is_empty()).then_some(table)
}
