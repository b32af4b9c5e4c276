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

const COLUMNS: [Column; 8] = [
    Column::text("target"),
    Column::number("round", ""),
    Column::text("what"),
    Column::number("from", "ms"),
    Column::number("for", "ms"),
    Column::number("throughput", "/s"),
    Column::number("p99", "µs"),
    Column::text("cause"),
];

/// The slices of each line, then its stalls.
fn table(lines: &[(String, Timeline)]) -> Table {
    let rows = lines.iter().flat_map(|(name, line)| {
        let row = |what: &str, start_ms: f64, rest: [Cell; 4]| {
            let round = u64::from(line.round) + 1;
            let head = [Cell::from(name.as_str()), round.into(), what.into(), start_ms.into()];
            head.into_iter().chain(rest).collect::<Vec<_>>()
        };
        let slice = |point: &Point| {
            // All others have the same length.
            let length = (!point.whole).then_some("the rest");
            let rate = Value::Rate(point.per_second);
            let rest = [length.into(), rate.into(), point.p99_us.into(), Cell::default()];
            row("slice", point.start_ms, rest)
        };
        let stall = |stall: &Stall| {
            let [none, cause] = [Cell::default(), Cell::from(stall.cause.as_deref())];
            row("stall", stall.start_ms, [stall.length_ms.into(), none.clone(), none, cause])
        };
        let slices = line.points.iter().take(MOST_SLICES).map(slice);
        slices.chain(line.stalls.iter().map(stall)).collect::<Vec<_>>()
    });
    Table { columns: COLUMNS.to_vec(), rows: rows.collect(), ..Table::default() }
}
