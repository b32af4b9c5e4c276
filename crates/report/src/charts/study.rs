//! Charts of published figures next to measured ones: steps of a study, rows and tasks.

use checks::{Here, StudyFigure, power_cut_figures, study_figures};
use spec::study::Figure;
use stats::Crossing;

use super::{Axis, Chart, Interval, Part, Run, Unit};
use crate::{StudyStep, tables};

impl Chart {
    /// Adds what `target` measured here, and what was published about it in a group of its own.
    pub(crate) fn next_to_published(
        &mut self,
        run: Run<'_>,
        group: &str,
        target: &str,
        [here, published]: [Option<Interval>; 2],
    ) {
        self.in_group(&run.on(group), target, here);
        self.in_group(&of_published(group), target, published);
    }
}

fn of_published(group: &str) -> String {
    format!("{group} (published)")
}

const READ_STUDY: &str = "Published figures are in groups of their own, with a mark at the least and at the greatest \
                          if there were several; whiskers of the figures measured here are 95 % intervals.";

/// Reports whether published ratios are shown next to all measured ones.
pub(crate) fn has_ratios(step: &StudyStep<'_>) -> bool {
    let figures = study_figures(step.step, &step.records);
    figures.iter().any(|row| row.figure == Figure::TimeRatio && row.published.is_some())
}

pub(crate) fn study(part: &Part<'_>) -> Vec<Chart> {
    let Some(step) = part.step else { return vec![] };
    let all_ratios = has_ratios(step) && !part.is_sweep();
    let mut rows = study_figures(step.step, &step.records);
    // Other charts of the run have what nobody published.
    rows.retain(|row| row.published.is_some() || all_ratios && row.figure == Figure::TimeRatio);
    of_kinds(&rows)
}

/// Returns the charts of a step that cut the power.
pub(crate) fn cut_power(step: &StudyStep<'_>) -> Vec<Chart> {
    of_kinds(&power_cut_figures(step.step, &step.crashed))
}

fn of_kinds(rows: &[StudyFigure]) -> Vec<Chart> {
    let of = |kind| rows.iter().filter(|row| row.figure == kind).cloned().collect::<Vec<_>>();
    KINDS.iter().map(|kind| of_kind(&of(*kind), *kind)).collect()
}

const KINDS: [Figure; 12] = [
    Figure::TimeRatio,
    Figure::ProcessorRatio,
    Figure::Microseconds,
    Figure::MbPerSecond,
    Figure::ResidentBefore,
    Figure::ResidentAfter,
    Figure::Bytes,
    Figure::SpaceRatio,
    Figure::BreakEven,
    Figure::LostCommits,
    Figure::BrokenStates,
    Figure::DamagedStates,
];

fn of_kind(rows: &[StudyFigure], kind: Figure) -> Chart {
    let (title, axis, factor) = axis_of(kind);
    let mut chart = Chart::dots("study", axis);
    if matches!(kind, Figure::TimeRatio | Figure::ProcessorRatio | Figure::SpaceRatio) {
        chart = chart.around_one();
    }
    for row in rows {
        for value in row.here.iter().flat_map(here) {
            let note = row.against().map(|against| tables::against_published(against).to_owned());
            chart.in_group(
                tables::shown_place(row),
                &row.target,
                Some(value.times(factor).noted(note)),
            );
        }
        let range = row.published.map(|range| of_range(range).times(factor));
        chart.in_group(&of_published(tables::shown_place(row)), &row.target, range);
    }
    let title = format!("Do the published {title} hold here?");
    chart.described(title, READ_STUDY, [tables::study(rows)])
}

/// Returns what the title of a kind's charts is about, their axis, and the factor from its unit to
/// that of the axis.
fn axis_of(kind: Figure) -> (&'static str, Axis, f64) {
    let ratio = |label| Axis::log(label, Unit::Ratio);
    let percent = |label| Axis::linear(label, Unit::Count);
    match kind {
        Figure::TimeRatio => ("ratios of times", ratio("time ÷ the baseline’s"), 1.0),
        Figure::ProcessorRatio => {
            ("ratios of processor times", ratio("processor time ÷ the baseline’s"), 1.0)
        }
        Figure::Microseconds => {
            ("times", Axis::log("time of an operation", Unit::Nanoseconds), 1e3)
        }
        Figure::MbPerSecond => ("rates", Axis::log("bytes a second", Unit::BytesPerSecond), 1e6),
        Figure::ResidentBefore => ("pages in memory before", percent("% of the pages"), 1.0),
        Figure::ResidentAfter => ("pages in memory afterwards", percent("% of the pages"), 1.0),
        Figure::Bytes => ("lengths of files", Axis::log("length", Unit::Bytes), 1.0),
        Figure::SpaceRatio => ("ratios of space", ratio("on disk ÷ the baseline’s"), 1.0),
        Figure::BreakEven => ("break-even sizes", Axis::log("size of blobs", Unit::Bytes), 1.0),
        Figure::LostCommits => ("losses", Axis::linear("commits lost", Unit::Count), 1.0),
        Figure::BrokenStates => ("promises", Axis::linear("states broken", Unit::Count), 1.0),
        Figure::DamagedStates => ("damages", Axis::linear("states damaged", Unit::Count), 1.0),
    }
}

/// Converts a published figure, which may have no upper end, or a range.
fn of_range((low, high): (f64, f64)) -> Interval {
    if low.total_cmp(&high).is_eq() || high.is_infinite() {
        return low.into();
    }
    Interval { low: Some(low), high: Some(high), ..Interval::default() }
}

/// Converts a figure of this machine; a break-even may have several crossings, or none.
fn here(here: &Here) -> Vec<Interval> {
    match here {
        Here::Estimate(estimate) => vec![Interval::from(*estimate)],
        Here::Exact(value) => vec![Interval::from(*value)],
        Here::Even(even) => {
            let of = |c: &Crossing| Interval { low: c.low, high: c.high, ..c.size.into() };
            even.found.crossings.iter().map(of).collect()
        }
    }
}
