//! A step of a study: published figures next to those measured here.

use model::study::Figure;

use super::{Axis, Chart, Interval, Part, Unit, published};
use crate::{Here, StudyFigure, study_figures, tables};

const READ: &str = "Published figures are in groups of their own, with a mark at the least and at the greatest \
                    if there were several; whiskers of the figures measured here are 95 % intervals.";

pub(super) fn charts(part: &Part<'_>) -> Vec<Chart> {
    let Some(step) = part.step else { return vec![] };
    let mut rows = study_figures(step.step, &step.records);
    // A ratio that nobody published is in the charts of the run.
    rows.retain(|row| row.published.is_some());
    let kinds = [Figure::TimeRatio, Figure::Microseconds, Figure::SpaceRatio, Figure::BreakEven];
    let of = |kind| rows.iter().filter(|row| row.figure == kind).cloned().collect::<Vec<_>>();
    kinds.iter().map(|kind| chart(&of(*kind), *kind)).collect()
}

fn chart(rows: &[StudyFigure], kind: Figure) -> Chart {
    let (title, axis) = match kind {
        Figure::TimeRatio => {
            ("Time ÷ the baseline’s", Axis::log("time ÷ the baseline’s", Unit::Ratio))
        }
        Figure::Microseconds => ("Time of an operation", Axis::log("time", Unit::Nanoseconds)),
        Figure::SpaceRatio => {
            ("Space ÷ the baseline’s", Axis::log("on disk ÷ the baseline’s", Unit::Ratio))
        }
        Figure::BreakEven => ("Break-even size", Axis::log("size of blobs", Unit::Bytes)),
    };
    let mut chart = Chart::dots("study", axis);
    if matches!(kind, Figure::TimeRatio | Figure::SpaceRatio) {
        chart = chart.around_one();
    }
    let factor = if kind == Figure::Microseconds { 1e3 } else { 1.0 };
    for row in rows {
        let Some(range) = row.published else { continue };
        for value in row.here.iter().flat_map(measured) {
            let note = row.against().map(|against| tables::against_published(against).to_owned());
            chart.in_group(&row.place, &row.target, Some(value.times(factor).noted(note)));
        }
        chart.in_group(&published(&row.place), &row.target, Some(value(range).times(factor)));
    }
    chart.described(format!("{title}, published and here"), READ, [tables::study(rows)])
}

/// A published figure, which may have no upper end, or a range.
fn value((low, high): (f64, f64)) -> Interval {
    let one = low.total_cmp(&high).is_eq() || high.is_infinite();
    if one { Interval::exact(low) } else { Interval::range(low, high) }
}

/// A break-even may have several crossings, or none.
fn measured(here: &Here) -> Vec<Interval> {
    match here {
        Here::Estimate(estimate) => vec![Interval::from(*estimate)],
        Here::Exact(value) => vec![Interval::exact(*value)],
        Here::Even(even) => {
            let crossings = even.found.crossings.iter();
            crossings.map(|c| Interval::exact(c.size).with_ends(c.low, c.high)).collect()
        }
    }
}
