//! Charts of the space of stores over their lives, and of what backups of them copy.

use checks::{LifeSpace, life_spaces};

use super::tables;
use crate::charts::{Axis, Chart, Interval, Part, Unit, runs, table_of};

/// The title, axis, unit and figure of a chart.
type LifeChart = (&'static str, &'static str, Unit, fn(&LifeSpace) -> Option<f64>);

const SHOWN: [LifeChart; 3] = [
    (
        "How much does a backup copy after 1 % of the values changed?",
        "changed blocks of 4 KiB",
        Unit::Bytes,
        |space| space.backup_blocks,
    ),
    (
        "How much does the store grow?",
        "size after the changes ÷ when filled",
        Unit::Ratio,
        |space| space.growth,
    ),
    (
        "How much space does deleting half of the values give back?",
        "share of the store",
        Unit::Ratio,
        |space| space.half_back,
    ),
];

const READ: &str = "Means over the rounds, of bytes on disk.";

pub(crate) fn charts(part: &Part<'_>) -> Vec<Chart> {
    let groups = runs(part, |run| life_spaces(run.record));
    let chart = |(title, axis, unit, of): &LifeChart| {
        let mut chart = Chart::dots("life", Axis::linear(*axis, *unit));
        for group in &groups {
            let place = if group.name.is_empty() { axis } else { group.name.as_str() };
            for space in &group.figures {
                let label = group.run.label(space.target);
                chart.in_group(place, label, of(space).map(Interval::from));
            }
        }
        chart.described(*title, READ, table_of(&groups, tables::life_spaces))
    };
    SHOWN.iter().map(chart).collect()
}
