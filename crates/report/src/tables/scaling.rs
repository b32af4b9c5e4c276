//! The table of how stores scale with the number of clients.

use checks::Scaling;
use model::record::Record;
use stats::Knee;

use super::TARGET;
use crate::{
    sentences,
    table::{Cell, Column, Room, Table},
    words,
};

/// Returns a table for each case; `all` are the targets of all cases.
pub(crate) fn scalings(first: &Record, all: &[Scaling]) -> Vec<Table> {
    let cases = all.chunk_by(|one, next| (one.case, &one.others) == (next.case, &next.others));
    cases.map(|targets| scaling(first, targets)).collect()
}

pub(crate) fn scaling(first: &Record, targets: &[Scaling]) -> Table {
    let about = words::about(&first.header.plan, targets[0].case, &targets[0].others);
    let rows = targets.iter().flat_map(|of| of.points.iter().map(move |point| (of, point)));
    let rows: Vec<_> = rows.collect();
    let fastest = rows.iter().map(|(_, point)| point.rate.point).fold(0.0, f64::max);
    let (unit, per) = if fastest < 1e8 { ("k/s", 1e3) } else { ("M/s", 1e6) };
    let limited = rows.iter().any(|(_, point)| point.of_limit.is_some());
    Table::for_rows(format!("scaling, {about}"), &rows)
        .with(TARGET, |(of, _)| &*of.target)
        .with(Column::number("clients", ""), |(_, point)| u64::from(point.clients))
        .with(Column::number("rate", unit).narrow(&[24, 13]), |(_, point)| {
            Cell::interval(Some(&point.rate.map(|rate| rate / per)))
        })
        .with(Column::number("efficiency", "").narrow(&[24, 13]), |(_, point)| {
            Cell::interval(point.efficiency.as_ref())
        })
        .with(Column::number("p50", "µs").room(Room::Spare(0)), |(_, point)| point.p50)
        .with(Column::number("p99", "µs"), |(_, point)| point.p99)
        .with_if(limited, Column::number("of limit", "%"), |(_, point)| {
            point.of_limit.map(|share| share * 100.0)
        })
        .into_table()
        .with_legend(targets.iter().filter_map(knee))
        .with_legend([EFFICIENCY.to_owned()])
        .with_legend(limited.then(|| LIMIT.to_owned()))
}

const EFFICIENCY: &str = "efficiency: the rate over that of the fewest clients times how many more there \
                          are; rates are by the wall clock";
const LIMIT: &str = "of limit: the rate over that of as many clients of null, which does nothing; near \
                     100 % the clients are measured, not the store";

/// Describes up to how many clients a target scales; `None` if it is not known.
pub(crate) fn knee(of: &Scaling) -> Option<String> {
    let Knee { at, low, high } = of.knee?;
    let most = of.points.last()?.clients;
    Some(sentences::scales_to(&of.target, at, low, high, most))
}
