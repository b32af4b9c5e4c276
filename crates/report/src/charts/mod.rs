//! The charts of a part, a module for each question. A chart without data is left out.

pub(crate) mod cases;
mod chart;
pub(crate) mod over_time;
mod part;
pub(crate) mod parts;
pub(crate) mod power_cuts;
pub(crate) mod space;
pub(crate) mod study;
pub(crate) mod sweep;

use std::ops::Deref;

use checks::{Figures, Series};
use model::{Case, record::Record};
use stats::Estimate;

pub use self::part::{Machine, StudyStep};
pub(crate) use self::{
    chart::{Axis, Chart, Interval, Kind, Mark, Unit},
    part::{Part, Run, Side},
};
use crate::table::{Cell, Column, Table, Value};

/// A function that returns charts of a part.
pub(crate) type Make = fn(&Part<'_>) -> Vec<Chart>;

/// The figures of one run, and its name next to other runs.
pub(crate) struct Group<'a, F> {
    pub(crate) name: String,
    pub(crate) run: Run<'a>,
    pub(crate) figures: F,
}

pub(crate) type CaseGroup<'a> = Group<'a, &'a [Figures]>;

/// Returns a group for each case in each run, with machines next to each other.
pub(crate) fn groups<'a>(
    part: &'a Part<'_>,
    cases: &[Case],
    name: fn(Run<'a>, Case) -> String,
) -> Vec<CaseGroup<'a>> {
    let of_case = |case: &Case| {
        let case = *case;
        part.runs().map(move |run| Group {
            name: run.on(name(run, case)),
            run,
            figures: run.rows(case),
        })
    };
    cases.iter().flat_map(of_case).filter(|group| !group.figures.is_empty()).collect()
}

pub(crate) fn runs<'a, F>(part: &'a Part<'_>, figures: impl Fn(Run<'a>) -> F) -> Vec<Group<'a, F>> {
    part.runs().map(|run| Group { name: run.on(""), run, figures: figures(run) }).collect()
}

/// Returns the first figures of all runs, then the second of all, and so on.
pub(crate) fn transposed<'a, F>(all: &'a [Group<'a, Vec<F>>]) -> Vec<Vec<Group<'a, &'a F>>> {
    let at = |place: usize| {
        let of = |group: &'a Group<'a, Vec<F>>| {
            let figures = group.figures.get(place)?;
            Some(Group { name: group.name.clone(), run: group.run, figures })
        };
        all.iter().filter_map(of).collect()
    };
    (0..all.iter().map(|group| group.figures.len()).max().unwrap_or(0)).map(at).collect()
}

/// Returns all measured figures, each with its group's name and its run.
pub(crate) fn measured<'a>(
    groups: &'a [CaseGroup<'a>],
) -> impl Iterator<Item = (&'a str, Run<'a>, &'a Figures)> {
    groups.iter().flat_map(|group| {
        let rows = group.figures.iter().filter(|row| row.rounds > 0);
        rows.map(|row| (group.name.as_str(), group.run, row))
    })
}

/// Returns the `ratio` of a target to the baseline, with the ratio of each round.
pub(crate) fn ratio_of(
    run: Run<'_>,
    (case, target): (Case, usize),
    ratio: Option<Estimate>,
) -> Option<Interval> {
    let series = Series::new(run.record, case, target);
    let rounds = series.ratios_to(series.baseline()).values;
    Some(Interval::from(ratio?).of_rounds(rounds))
}

/// Creates a chart of dots: ratios to the baseline, or times if there is only one target.
pub(crate) fn compared_dots(part: &Part<'_>, id: &str, time: &str) -> Chart {
    if part.is_alone() {
        Chart::dots(id, Axis::log(time, Unit::Nanoseconds))
    } else {
        let axis = Axis::log(format!("faster ← {} → slower", part.baseline()), Unit::TimeRatio);
        Chart::dots(id, axis).around_one()
    }
}

/// Returns one table with the rows of all groups, and a column for their origin if there are
/// several.
pub(crate) fn table_of<F: Deref, T: Into<Option<Table>>>(
    groups: &[Group<'_, F>],
    table: fn(&Record, &F::Target) -> T,
) -> Option<Table> {
    let tables = groups.iter().filter_map(|group| {
        Some((group.name.clone(), table(group.run.record, &group.figures).into()?))
    });
    let mut tables: Vec<_> = tables.collect();
    match tables.as_slice() {
        [] => None,
        [(place, _)] if place.is_empty() => tables.pop().map(|(_, table)| table),
        _ => {
            let notes = tables.iter().flat_map(|(place, table)| {
                table.notes.iter().map(move |note| format!("{place}: {note}"))
            });
            let notes: Vec<_> = notes.collect();
            Some(Table::joined("", "in", tables).with_notes(notes))
        }
    }
}

impl Chart {
    /// Adds a point to the line of a target in a run.
    pub(crate) fn on_line(
        &mut self,
        run: Run<'_>,
        target: usize,
        at: f64,
        of: Option<impl Into<Interval>>,
    ) {
        let label = run.label(target);
        self.point(Some(label), &run.on(label), at, of);
    }
}

pub(crate) const READ_RATIO: &str = "Left of the line a store is faster. Whiskers are the interval that decides, small dots the \
                          rounds; an interval that contains 1 shows no difference.";

/// Returns the title of a chart of ratios.
pub(crate) fn how_much(part: &Part<'_>) -> String {
    format!("How much faster or slower is each store than {}?", part.baseline())
}

/// Returns the vertical axis of times divided by the baseline's.
pub(crate) fn upright_axis(part: &Part<'_>) -> Axis {
    Axis::log(format!("slower ↑ {} ↓ faster", part.baseline()), Unit::TimeRatio)
}
