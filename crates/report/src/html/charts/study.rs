//! A step of a study: published figures beside those that came out here.

use model::study::Figure as Of;

use crate::{
    Held, Here,
    html::{
        chart::{Axis, Interval, Unit},
        figure::Figure,
        groups::Groups,
        machine::Part,
        table::{Column, Table},
        targets::Targets,
    },
    study::held,
    terminal::{
        number::NONE,
        study::{against, here, name, range},
    },
};

const READ: &str = "What was published stands in groups of its own, a mark at the least and at the \
                    greatest where several figures were; whiskers of what came out here are 95 % intervals.";

pub(super) fn figures(part: &Part<'_>, targets: &Targets<'_>) -> Vec<Figure> {
    let Some(step) = part.step else { return vec![] };
    let rows = held(step.step, &step.records);
    let kinds = [Of::TimeRatio, Of::Microseconds, Of::SpaceRatio, Of::BreakEven];
    kinds.iter().map(|kind| figure(&rows, targets, *kind)).collect()
}

fn figure(rows: &[Held], targets: &Targets<'_>, kind: Of) -> Figure {
    let (title, axis) = match kind {
        Of::TimeRatio => ("Time ÷ the baseline’s", Axis::log("time ÷ the baseline’s", Unit::Ratio)),
        Of::Microseconds => ("Time of an operation", Axis::log("time", Unit::Nanoseconds)),
        Of::SpaceRatio => {
            ("Space ÷ the baseline’s", Axis::log("on disk ÷ the baseline’s", Unit::Ratio))
        }
        Of::BreakEven => ("Break-even size", Axis::log("size of blobs", Unit::Bytes)),
    };
    let title = format!("{title}, published and here");
    let around_one = matches!(kind, Of::TimeRatio | Of::SpaceRatio);
    let mut groups = if around_one { Groups::around_one(axis) } else { Groups::new(axis) };
    let mut table = Table::new(title.clone(), columns());
    let factor = if kind == Of::Microseconds { 1e3 } else { 1.0 };
    // A figure that nobody published stands among the others of the run.
    for row in rows.iter().filter(|row| row.figure == kind && row.published.is_some()) {
        table.row(cells(row));
        let Some(target) = targets.place(&row.target) else { continue };
        for value in row.here.iter().flat_map(measured) {
            let note = row.against().map(|against| self::against(against).to_owned());
            groups.point(&row.place, target, value.times(factor), note);
        }
        let group = super::published(&row.place);
        match row.published {
            // One figure, or one that has no upper end.
            Some((low, high)) if low.total_cmp(&high).is_eq() || high.is_infinite() => {
                groups.point(&group, target, Interval::exact(low * factor), None);
            }
            Some((low, high)) => groups.ends(&group, target, low * factor, high * factor),
            None => {}
        }
    }
    groups.figure("study", title, READ, table)
}

/// A break-even may have several crossings, or none.
fn measured(here: &Here) -> Vec<Interval> {
    match here {
        Here::Estimate(estimate) => vec![Interval::from(estimate)],
        Here::Exact(value) => vec![Interval::exact(*value)],
        Here::Even(even) => {
            let crossings = even.found.crossings.iter();
            crossings.map(|c| Interval { value: c.size, low: c.low, high: c.high }).collect()
        }
    }
}

fn columns() -> Vec<Column> {
    vec![
        Column::text("target"),
        Column::text("in"),
        Column::text("figure"),
        Column::number("published", ""),
        Column::number("here", ""),
        Column::text("here is"),
    ]
}

fn cells(row: &Held) -> Vec<String> {
    vec![
        row.target.clone(),
        row.place.clone(),
        name(row.figure).to_owned(),
        row.published.map_or_else(|| NONE.to_owned(), |of| range(row.figure, of)),
        row.here.as_ref().map_or_else(|| "not measured".to_owned(), here),
        row.against().map_or(NONE, against).to_owned(),
    ]
}
