//! Throughput over time: the pass of one round, slice by slice.

use checks::{Point, Stall, Timeline, timelines};
use model::Case;

use super::{Axis, Cell, Chart, Column, Mark, Part, Table, Unit, Value};

const READ: &str = "For each target the round with the longest stalls; a stall, in which one operation took far \
                    longer than usual, is marked below the axis.";

/// The largest number of slices of a line: a page with more is slow.
const MOST_SLICES: usize = 240;
/// The smallest number of slices that shows a trend.
const FEWEST_SLICES: usize = 8;
/// The largest number of stalls that are marked; the table has all.
const MOST_STALLS: usize = 6;
const MS: f64 = 1e6;

pub(crate) fn charts(part: &Part<'_>) -> Vec<Chart> {
    part.plan().cases().map(|case| chart(part, case)).collect()
}

fn chart(part: &Part<'_>, case: Case) -> Chart {
    let along = Axis::linear("time", Unit::Nanoseconds);
    let mut chart = Chart::lines("over-time", along, Axis::linear("throughput", Unit::PerSecond));
    let mut lines = Vec::new();
    for (run, row) in part.runs().flat_map(|run| run.rows(case).iter().map(move |row| (run, row))) {
        let line = worst(timelines(run.record, case, row.target));
        let Some(line) = line.filter(|line| line.points.len() >= FEWEST_SLICES) else { continue };
        let label = run.label(row.target);
        let name = run.on(label);
        for point in line.points.iter().filter(|point| point.whole).take(MOST_SLICES) {
            chart.point(Some(label), &name, point.start_ms * MS, Some(point.per_second));
        }
        chart.marks.extend(stalls(label, &name, &line));
        lines.push((name, line));
    }
    let title = "Is the throughput steady during a pass?";
    chart.described(title, READ, [table(&lines)]).with_place(part.first().case(case))
}

/// Returns the pass that stalled for the largest share of its time, the first of several.
fn worst(all: Vec<Timeline>) -> Option<Timeline> {
    all.into_iter().rev().max_by(|one, other| one.stalled().total_cmp(&other.stalled()))
}

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

/// Returns the table of the slices of each line, then its stalls.
fn table(lines: &[(String, Timeline)]) -> Table {
    let rows = lines.iter().flat_map(|(name, line)| {
        let slices = line.points.iter().take(MOST_SLICES).map(Ok);
        let all = slices.chain(line.stalls.iter().map(Err));
        all.map(move |of: Result<&Point, &Stall>| (name, u64::from(line.round) + 1, of))
    });
    let rows: Vec<_> = rows.collect();
    Table::for_rows("", &rows)
        .with(Column::text("target"), |(name, ..)| name.as_str())
        .with(Column::number("round", ""), |(_, round, _)| *round)
        .with(Column::text("what"), |(.., of)| if of.is_ok() { "slice" } else { "stall" })
        .with(Column::number("from", "ms"), |(.., of)| match of {
            Ok(slice) => slice.start_ms,
            Err(stall) => stall.start_ms,
        })
        // All slices but the last have the same length.
        .with(Column::number("for", "ms"), |(.., of)| match of {
            Ok(slice) => (!slice.whole).then(|| "the rest".into()),
            Err(stall) => Some(Cell::from(stall.length_ms)),
        })
        .with(Column::number("throughput", "/s"), |(.., of)| Some(Value::Rate(of.ok()?.per_second)))
        .with(Column::number("p99", "µs"), |(.., of)| of.ok()?.p99_us)
        .with(Column::text("cause"), |(.., of)| of.err()?.cause.as_deref())
        .into_table()
}
