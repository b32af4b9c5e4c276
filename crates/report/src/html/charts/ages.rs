//! What reads and writes take as stores age, and how fragmented the stores are then.

use super::{Axis, Chart, Group, Interval, Part, Unit, runs, table_of, transposed};
use crate::{AgeGroup, AgeSpace, age_groups, age_spaces, tables};

const READ: &str =
    "Storage age: bytes of replaced objects over bytes of live ones. Further up is faster.";
const READ_SPACE: &str = "Storage age: bytes of replaced objects over bytes of live ones.";

/// Title, axis, unit and figure of a chart of space.
type Shown = (&'static str, &'static str, Unit, fn(&AgeSpace) -> Option<f64>);

const SPACE: [Shown; 3] = [
    ("Pieces of an object", "pieces", Unit::Count, |space| space.per_object),
    ("Bytes on disk per live byte", "bytes per live byte", Unit::Ratio, |space| {
        space.allocated_per_byte
    }),
    ("Share of free pages in a database", "free pages ÷ all", Unit::Ratio, |space| space.free),
];

pub(super) fn charts(part: &Part<'_>) -> Vec<Chart> {
    let groups = runs(part, |run| age_groups(run.record, run.figures));
    let spaces = runs(part, |run| age_spaces(run.record));
    let rates = transposed(&groups).iter().map(|groups| rates(groups)).collect::<Vec<_>>();
    rates.into_iter().chain(SPACE.iter().map(|shown| space(&spaces, shown))).collect()
}

fn along() -> Axis {
    Axis::linear("storage age", Unit::Count)
}

fn rates(groups: &[Group<'_, &AgeGroup>]) -> Chart {
    let mut chart = Chart::lines("age", along(), Axis::log("throughput", Unit::BytesPerSecond));
    for group in groups {
        for row in &group.figures.rows {
            let rate = row.figures.mb_per_s.map(|rate| Interval::from(rate).times(1e6));
            chart.on_line(group.run, row.figures.target, row.age.into(), rate);
        }
    }
    let table = table_of(groups, tables::ages);
    chart.described(tables::age_title(groups[0].figures), READ, table)
}

fn space(groups: &[Group<'_, Vec<AgeSpace>>], (title, axis, unit, of): &Shown) -> Chart {
    let mut chart = Chart::lines("space", along(), Axis::linear(*axis, *unit));
    for group in groups {
        for space in &group.figures {
            chart.on_line(group.run, space.target, space.age.into(), of(space));
        }
    }
    let table = table_of(groups, tables::age_spaces);
    chart.described(*title, READ_SPACE, table)
}
