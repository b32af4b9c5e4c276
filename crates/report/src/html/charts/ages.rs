//! What reads and writes take as stores age, and how fragmented the stores are then.

use super::{Axis, Chart, Interval, Part, Run, Unit, joined};
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
    let groups: Vec<_> =
        part.runs().map(|run| (run, age_groups(run.record, run.figures))).collect();
    let count = groups.iter().map(|(_, groups)| groups.len()).max().unwrap_or(0);
    let at = |place: usize| {
        let all = groups.iter().filter_map(|(run, groups)| Some((*run, groups.get(place)?)));
        rates(&all.collect::<Vec<_>>())
    };
    let spaces = SPACE.iter().map(|shown| space(part, shown));
    (0..count).map(at).chain(spaces).collect()
}

fn rates(all: &[(Run<'_>, &AgeGroup)]) -> Chart {
    let along = Axis::linear("storage age", Unit::Count);
    let mut chart = Chart::lines("age", along, Axis::log("throughput", Unit::BytesPerSecond));
    for (run, row) in all.iter().flat_map(|(run, group)| group.rows.iter().map(|row| (*run, row))) {
        let rate = row.figures.mb_per_s.map(|rate| Interval::from(rate).times(1e6));
        chart.on_line(run, row.figures.target, row.age.into(), rate);
    }
    let title = all.first().map_or_else(String::new, |(_, group)| tables::age_title(group));
    chart.described(title, READ, joined(all, |record, group| tables::ages(record, group)))
}

fn space(part: &Part<'_>, (title, axis, unit, of): &Shown) -> Chart {
    let along = Axis::linear("storage age", Unit::Count);
    let mut chart = Chart::lines("space", along, Axis::linear(*axis, *unit));
    let all: Vec<_> = part.runs().map(|run| (run, age_spaces(run.record))).collect();
    for (run, space) in all.iter().flat_map(|(run, all)| all.iter().map(|space| (*run, space))) {
        chart.on_line(run, space.target, space.age.into(), of(space));
    }
    let table = joined(&all, |record, spaces| tables::age_spaces(record, spaces));
    chart.described(*title, READ_SPACE, table)
}
