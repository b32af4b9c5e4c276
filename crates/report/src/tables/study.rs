//! The table of published figures next to measured ones.

use checks::{Against, Here, StudyFigure};
use model::units::{show_count, whole};
use spec::study::Figure;

use super::{break_even, size};
use crate::{
    number::{NONE, figure, with_interval},
    table::{Cell, Column, Table, Tone},
};

pub(crate) fn study(rows: &[StudyFigure]) -> Table {
    // Words of the settings have up to 15 letters: what is not a name gives way before they are cut.
    const PLACE: &[usize] = &[24, 16, 16, 10];
    const WORDS: &[usize] = &[18, 18, 10];
    Table::for_rows("", rows)
        .with(Column::text("in").narrow(PLACE), shown_place)
        .with(Column::text("target").narrow(PLACE), |row| &*row.target)
        .with(Column::text("figure").narrow(WORDS), |row| name(row.figure))
        .with(Column::number("published", ""), |row| {
            let published = row.published.map(|range| published_range(row.figure, range));
            Cell::from(published).tone(Tone::Dim)
        })
        .with(Column::number("here", "").narrow(&[44, 20, 13]), |row| {
            row.here
                .as_ref()
                .map_or_else(|| "not measured".to_owned(), |found| here(row.figure, found))
        })
        .with(Column::text("here is").narrow(WORDS), |row| match row.published {
            Some(_) => study_verdict(row),
            None => NONE,
        })
        .into_table()
}

pub(crate) fn study_verdict(row: &StudyFigure) -> &'static str {
    let why = if row.here.is_none() { "not measured" } else { "not comparable" };
    row.against().map_or(why, against_published)
}

/// Returns where a figure was measured, or would have been.
pub(crate) fn shown_place(row: &StudyFigure) -> &str {
    match row.figure {
        _ if !row.place.is_empty() => &row.place,
        Figure::Bytes | Figure::SpaceRatio => "the stores",
        _ => NONE,
    }
}

fn name(figure: Figure) -> &'static str {
    match figure {
        Figure::TimeRatio => "time ÷",
        Figure::ProcessorRatio => "processor time ÷",
        Figure::Microseconds => "µs/blob",
        Figure::MbPerSecond => "MB/s",
        Figure::ResidentBefore => "% in memory before",
        Figure::ResidentAfter => "% in memory after",
        Figure::Bytes => "bytes",
        Figure::SpaceRatio => "on disk ÷",
        Figure::BreakEven => "break-even",
        Figure::LostCommits => "commits lost",
        Figure::BrokenStates => "states broken",
        Figure::DamagedStates => "states damaged",
    }
}

/// Returns whether a figure is counted.
fn is_count(of: Figure) -> bool {
    use Figure::{BrokenStates, Bytes, DamagedStates, LostCommits};
    matches!(of, Bytes | LostCommits | BrokenStates | DamagedStates)
}

fn published_range(of: Figure, (low, high): (f64, f64)) -> String {
    let figure = |value| match of {
        Figure::BreakEven => size(value),
        of if is_count(of) => show_count(whole(value)),
        _ => figure(value),
    };
    if low.total_cmp(&high).is_eq() {
        figure(low)
    } else if high.is_infinite() {
        format!("{} or more", figure(low))
    } else {
        format!("{}–{}", figure(low), figure(high))
    }
}

fn here(of: Figure, here: &Here) -> String {
    match here {
        Here::Estimate(estimate) => with_interval(estimate),
        Here::Exact(value) if is_count(of) => published_range(of, (*value, *value)),
        Here::Exact(value) => figure(*value),
        Here::Even(even) => break_even(even, "the baseline"),
    }
}

pub(crate) fn against_published(against: Against) -> &'static str {
    match against {
        Against::Agrees => "confirmed",
        Against::Lower => "differs: lower",
        Against::Higher => "differs: higher",
        Against::TooWide => "too wide",
    }
}
