//! Throughput over time: the latency pass of one round, slice by slice.

use model::Case;

use super::{Axis, Cell, Chart, Column, Mark, Part, Table, Unit, Value};
use crate::{Point, Stall, Timeline, timelines};

const READ: &str = "For each target the round with the longest stalls; a stall, in which one operation took far \
                    longer than usual, is marked below the axis.";

/// Slices of a line; a page of more is slow.
const MOST_SLICES: usize = 240;
/// Stalls that are marked; the table has all.
const MOST_STALLS: usize = 6;
const MS: f64 = 1e6;

pub(super) fn charts(part: &Part<'_>) -> Vec<Chart> {
    part.plan().cases().map(|case| chart(part, case)).collect()
}

fn chart(part: &Part<'_>, case: Case) -> Chart {
    let along = Axis::linear("time", Unit::Nanoseconds);
    let mut chart = Chart::lines("over-time", along, Axis::linear("throughput", Unit::PerSecond));
    let mut lines = Vec::new();
    for (run, row) in part.runs().flat_map(|run| run.rows(case).iter().map(move |row| (run, row))) {
        let Some(line) = worst(timelines(run.record, case, row.target)) else { continue };
        let (label, name) = (run.label(row.target), run.label_on(row.target));
        for point in line.points.iter().filter(|point| point.whole).take(MOST_SLICES) {
            chart.point(Some(label), &name, point.start_ms * MS, Some(point.per_second));
        }
        chart.marks.extend(stalls(label, &name, &line));
        lines.push((name, line));
    }
    let title = format!("Throughput over time: {}", part.first().case(case));
    chart.described(title, READ, [table(&lines)])
}

/// The first of those that stalled for the greatest share of the time.
fn worst(all: Vec<Timeline>) -> Option<Timeline> {
    all.into_iter().rev().max_by(|one, other| one.stalled().total_cmp(&other.stalled()))
}

/// Marks for the longest stalls.
fn stalls(target: &str, name: &str, line: &Timeline) -> Vec<Mark> {
    let mut stalls: Vec<_> = line.stalls.iter().collect();
    stalls.sort_by(|one, other| other.length_ms.total_cmp(&one.length_ms));
    let mark = |stall: &&Stall| Mark {
        target: target.to_owned(),
        label: format!("{name}: {}", stall.cause.as_deref().unwrap_or("cause unknown")),
        at: stall.start_ms * MS,
        low: Some(stall.start_ms * MS),
        high: Some((stall.start_ms + stall.length_ms) * MS),
    };
    stalls.iter().take(MOST_STALLS).map(mark).collect()
}

/// A slice or a stall of a pass.
struct Moment<'a> {
    what: &'static str,
    start_ms: f64,
    length: Cell,
    rate: Option<Value>,
    p99_us: Option<f64>,
    cause: Option<&'a str>,
}

impl<'a> From<&'a Point> for Moment<'a> {
    fn from(point: &'a Point) -> Self {
        // All others have the same length.
        let length = if point.whole { Cell::default() } else { Cell::from("the rest") };
        let (start_ms, rate) = (point.start_ms, Some(Value::Rate(point.per_second)));
        Self { what: "slice", start_ms, length, rate, p99_us: point.p99_us, cause: None }
    }
}

impl<'a> From<&'a Stall> for Moment<'a> {
    fn from(stall: &'a Stall) -> Self {
        let (length, cause) = (Cell::from(stall.length_ms), stall.cause.as_deref());
        Self { what: "stall", start_ms: stall.start_ms, length, rate: None, p99_us: None, cause }
    }
}

/// The slices of each line, then its stalls.
fn table(lines: &[(String, Timeline)]) -> Table {
    let moments = lines.iter().flat_map(|(name, line)| {
        let slices = line.points.iter().take(MOST_SLICES).map(Moment::from);
        let all = slices.chain(line.stalls.iter().map(Moment::from));
        all.map(move |moment| (name, u64::from(line.round) + 1, moment))
    });
    let rows: Vec<_> = moments.collect();
    Table::of("", &rows)
        .with(Column::text("target"), |(name, ..)| name.as_str())
        .with(Column::number("round", ""), |(_, round, _)| *round)
        .with(Column::text("what"), |(.., moment)| moment.what)
        .with(Column::number("from", "ms"), |(.., moment)| moment.start_ms)
        .with(Column::number("for", "ms"), |(.., moment)| moment.length.clone())
        .with(Column::number("throughput", "/s"), |(.., moment)| moment.rate.clone())
        .with(Column::number("p99", "µs"), |(.., moment)| moment.p99_us)
        .with(Column::text("cause"), |(.., moment)| moment.cause)
        .done()
}
