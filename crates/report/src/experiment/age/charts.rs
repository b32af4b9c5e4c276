//! Charts of the times of reads and writes as stores age, and of how fragmented the stores are
//! then.

use checks::{AgeGroup, AgeSpace, age_groups, age_spaces};

use super::tables;
use crate::charts::{Axis, Chart, Group, Interval, Part, Unit, runs, table_of, transposed};

const READ: &str = "Storage age: bytes of replaced objects over bytes of live ones. Further up is faster; a band \
                    is the 95 % interval.";
const READ_SPACE: &str = "Storage age: bytes of replaced objects over bytes of live ones.";

/// The title, axis, unit and figure of a chart of space.
type SpaceChart = (&'static str, &'static str, Unit, fn(&AgeSpace) -> Option<f64>);

const SPACE: [SpaceChart; 3] = [
    ("Into how many pieces does an object fall?", "pieces", Unit::Count, |space| space.per_object),
    ("How much disk does a live byte take?", "bytes per live byte", Unit::Ratio, |space| {
        space.allocated_per_byte
    }),
    ("How much of a database is free pages?", "free pages ÷ all", Unit::Ratio, |space| space.free),
];

pub(crate) fn charts(part: &Part<'_>) -> Vec<Chart> {
    let groups = runs(part, |run| age_groups(run.record, run.figures));
    let spaces = runs(part, |run| age_spaces(run.record));
    let rates = transposed(&groups).iter().map(|groups| rates(groups)).collect::<Vec<_>>();
    rates.into_iter().chain(SPACE.iter().map(|shown| space(&spaces, shown))).collect()
}

fn along() -> Axis {
    Axis::linear("storage age", Unit::Count)
}

fn rates(groups: &[Group<'_, &AgeGroup>]) -> Chart {
    let mut chart = Chart::lines("age", along(), Axis::linear("throughput", Unit::BytesPerSecond));
    for group in groups {
        for row in &group.figures.rows {
            let rate = row.figures.mb_per_s.map(|rate| Interval::from(rate).times(1e6));
            chart.on_line(group.run, row.figures.target, row.age.into(), rate);
        }
    }
    let table = table_of(groups, tables::ages);
    let writes = groups[0].figures.writes;
    let work = if writes { "writes" } else { "reads" };
    let title = format!("Do {work} get slower as the stores age?");
    let cache = groups[0].figures.rows.first().map(|row| row.figures.case.cache);
    let place = cache.filter(|_| !writes).map(|cache| cache.to_string()).unwrap_or_default();
    chart.described(title, READ, table).with_place(place)
}

fn space(groups: &[Group<'_, Vec<AgeSpace>>], (title, axis, unit, of): &SpaceChart) -> Chart {
    let mut chart = Chart::lines("space", along(), Axis::linear(*axis, *unit));
    for group in groups {
        for space in &group.figures {
            chart.on_line(group.run, space.target, space.age.into(), of(space));
        }
    }
    let table = table_of(groups, tables::age_spaces);
    chart.described(*title, READ_SPACE, table)
}
