//! What reads and writes take as stores age, and how the stores lie then.

use crate::{
    AgeGroup, AgeSpace, age_groups, age_spaces,
    html::{
        chart::{Axis, Interval, Unit},
        figure::Figure,
        lines::Lines,
        machine::{Job, Part, Run},
        table::{Column, Table},
        targets::Targets,
    },
    terminal::{
        ages::title,
        number::{NONE, figure, figure_or_none, with_interval},
        times::{judged, ratio},
    },
};

const READ: &str =
    "Storage age: bytes of replaced objects over bytes of live ones. Further up is faster.";
const READ_SPACE: &str = "Storage age: bytes of replaced objects over bytes of live ones.";

/// What is told of how a store lies.
type Told = (&'static str, &'static str, Unit, fn(&AgeSpace) -> Option<f64>);

const LIES: [Told; 3] = [
    ("Pieces that an object lies in", "pieces", Unit::Count, |space| space.per_object),
    ("Bytes on disk per live byte", "bytes per live byte", Unit::Ratio, |space| {
        space.allocated_per_byte
    }),
    ("Share of free pages in a database", "free pages ÷ all", Unit::Ratio, |space| space.free),
];

pub(super) fn figures(part: &Part<'_>, targets: &Targets<'_>) -> Vec<Figure> {
    if part.job() != Job::Age {
        return vec![];
    }
    let groups: Vec<(Run<'_>, Vec<AgeGroup>)> =
        part.runs().map(|run| (run, age_groups(run.record, run.figures))).collect();
    let count = groups.iter().map(|(_, groups)| groups.len()).max().unwrap_or(0);
    let times = (0..count).map(|place| rates(part, targets, &groups, place));
    let spaces = LIES.iter().map(|told| space(part, targets, told));
    times.chain(spaces).collect()
}

fn rates(
    part: &Part<'_>,
    targets: &Targets<'_>,
    all: &[(Run<'_>, Vec<AgeGroup>)],
    place: usize,
) -> Figure {
    let mut lines = Lines::new(
        Axis::linear("storage age", Unit::Age),
        Axis::log("throughput", Unit::BytesPerSecond),
    );
    let mut name = String::new();
    let mut table = Table::new(String::new(), time_columns());
    for (run, group) in all.iter().filter_map(|(run, groups)| Some((run, groups.get(place)?))) {
        name = title(group);
        for row in &group.rows {
            let label = run.label(row.figures.target);
            let series = part.on(label, run.side);
            let or_none = |estimate: Option<&stats::Estimate>| {
                estimate.map_or_else(|| NONE.to_owned(), with_interval)
            };
            table.row(vec![
                series.clone(),
                row.age.to_string(),
                or_none(row.figures.us_per_op.as_ref()),
                or_none(row.figures.mb_per_s.as_ref()),
                or_none(row.over_least.as_ref()),
                ratio(&row.figures),
                judged(&row.figures),
            ]);
            if let Some((rate, target)) = row.figures.mb_per_s.as_ref().zip(targets.place(label)) {
                lines.point(target, &series, row.age.into(), Interval::from(rate).times(1e6));
            }
        }
    }
    let table = table.called(&name);
    lines.figure("age", name, READ, table)
}

fn time_columns() -> Vec<Column> {
    vec![
        Column::text("target"),
        Column::number("age", ""),
        Column::number("time", "µs/object"),
        Column::number("rate", "MB/s"),
        Column::number("time ÷ least age’s", ""),
        Column::number("time ÷ baseline’s", ""),
        Column::text("verdict"),
    ]
}

fn space(part: &Part<'_>, targets: &Targets<'_>, told: &Told) -> Figure {
    let (title, axis, unit, of) = *told;
    let mut lines = Lines::new(Axis::linear("storage age", Unit::Age), Axis::linear(axis, unit));
    let mut table = Table::new(title, space_columns());
    for run in part.runs() {
        for space in age_spaces(run.record) {
            let label = run.label(space.target);
            let series = part.on(label, run.side);
            table.row(space_cells(&series, &space));
            if let Some((value, target)) = of(&space).zip(targets.place(label)) {
                lines.point(target, &series, space.age.into(), Interval::exact(value));
            }
        }
    }
    lines.figure("lies", title.to_owned(), READ_SPACE, table)
}

fn space_columns() -> Vec<Column> {
    vec![
        Column::text("target"),
        Column::number("age", ""),
        Column::number("length", "B/B"),
        Column::number("on disk", "B/B"),
        Column::number("files", ""),
        Column::number("pieces of all files", ""),
        Column::number("pieces of an object", ""),
        Column::number("free pages", "%"),
    ]
}

fn space_cells(series: &str, space: &AgeSpace) -> Vec<String> {
    vec![
        series.to_owned(),
        space.age.to_string(),
        figure_or_none(space.length_per_byte),
        figure_or_none(space.allocated_per_byte),
        figure(space.files),
        figure_or_none(space.extents),
        figure_or_none(space.per_object),
        figure_or_none(space.free.map(|share| share * 100.0)),
    ]
}
