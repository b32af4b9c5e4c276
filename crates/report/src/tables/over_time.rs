//! The table of passes over time: rates and percentiles of their slices, and where they stalled.

use std::collections::BTreeMap;

use checks::{Figures, Point, Stall, Timeline, timelines};
use model::record::Record;

use super::TARGET;
use crate::{
    table::{Block, Column, Line, Lines, Table, Value},
    words::{joined, label},
};

/// The passes of a target in one case, of all rounds.
struct Passes<'a> {
    label: &'a str,
    lines: Vec<Timeline>,
}

/// Returns the table of a case and what the engines did meanwhile; `rows` are its figures. Empty if
/// no pass has slices.
pub(crate) fn over_time(record: &Record, rows: &[Figures], all: bool) -> Vec<Block> {
    let plan = &record.header.plan;
    let passes = |row: &Figures| Passes {
        label: label(plan, row.target),
        lines: timelines(record, row.case, row.target),
    };
    let passes: Vec<_> = rows.iter().map(passes).collect();
    if passes.iter().all(|of| of.lines.is_empty()) {
        return vec![];
    }
    let title = format!("{}, {}", plan.workload_name(rows[0].case.workload), rows[0].case.cache);
    let p99s = |of: &Passes<'_>| of.points().filter_map(|point| point.p99_us).collect::<Vec<_>>();
    let table = Table::for_rows(title, &passes)
        .with(TARGET, |of| of.label)
        .with(Column::number("slices", ""), |of| of.points().count() as u64)
        .with(Column::number("least", "/s"), |of| of.rate(|_| 0))
        .with(Column::number("median", "/s"), |of| of.rate(|last| last / 2))
        .with(Column::number("most", "/s"), |of| of.rate(|last| last))
        .with(Column::number("p99 from", "µs"), |of| p99s(of).into_iter().reduce(f64::min))
        .with(Column::number("to", "µs"), |of| p99s(of).into_iter().reduce(f64::max))
        .with(Column::number("stalled", ""), |of| of.stalled().map(Value::Percent))
        .into_table();
    let below = passes.iter().flat_map(|of| of.below(all));
    vec![table.into(), Lines::new("", below).into()]
}

impl Passes<'_> {
    fn points(&self) -> impl Iterator<Item = &Point> {
        self.lines.iter().flat_map(|line| &line.points)
    }

    /// Returns one of the sorted rates, chosen by the index of the last. A slice that is shorter
    /// than the others has no comparable rate.
    fn rate(&self, at: fn(usize) -> usize) -> Option<Value> {
        let mut rates: Vec<_> =
            self.points().filter(|point| point.whole).map(|point| point.per_second).collect();
        rates.sort_by(f64::total_cmp);
        rates.get(at(rates.len().saturating_sub(1))).copied().map(Value::Rate)
    }

    fn wall_ms(&self) -> f64 {
        self.lines.iter().map(|line| line.wall_ms).sum()
    }

    /// Returns the percentage of the passes that was spent in stalls.
    fn stalled(&self) -> Option<f64> {
        let stalled = self.stalls().fold(0.0, |sum, (_, stall)| sum + stall.length_ms);
        (self.wall_ms() > 0.0).then(|| stalled / self.wall_ms() * 100.0)
    }

    fn stalls(&self) -> impl Iterator<Item = (u32, &Stall)> {
        self.lines.iter().flat_map(|line| line.stalls.iter().map(|stall| (line.round, stall)))
    }

    /// Returns the engine's background work and the stalls: the longest, or `all`.
    fn below(&self, all: bool) -> Vec<Line> {
        let mut stalls: Vec<_> = self.stalls().collect();
        stalls.sort_by(|one, other| other.1.length_ms.total_cmp(&one.1.length_ms));
        let more = if all { 0 } else { stalls.len().saturating_sub(SHOWN) };
        stalls.truncate(stalls.len() - more);
        let more = (more > 0).then(|| format!("and {more} shorter stalls (--verbose shows all)"));
        let work = self.background_work().map(|work| format!("{}: {work}", self.label));
        let stalls = stalls.into_iter().map(|(round, stall)| {
            let Stall { start_ms, length_ms, cause } = stall;
            let cause = cause.as_deref().unwrap_or("cause not known");
            let place = format!("round {} at {:.2} s", u64::from(round) + 1, start_ms / 1e3);
            let text = format!("{} stalled for {length_ms:.0} ms: {place}, {cause}", self.label);
            Line::new("  ", text)
        });
        work.map(Line::dim).into_iter().chain(stalls).chain(more.map(Line::dim)).collect()
    }

    /// Describes the background work: `12 × checkpoint, 0.43 s of 2.00 s`.
    fn background_work(&self) -> Option<String> {
        let mut sums = BTreeMap::<&str, (u32, f64)>::new();
        for (name, work) in self.lines.iter().flat_map(|line| &line.background_work) {
            let sum = sums.entry(name).or_default();
            *sum = (sum.0 + work.count, sum.1 + work.total_ms);
        }
        let sum = |(name, (count, ms)): (&str, (u32, f64))| {
            format!("{count} × {name}, {:.2} s", ms / 1e3)
        };
        let sums = joined(sums.into_iter().map(sum), "; ")?;
        Some(format!("{sums} of {:.2} s", self.wall_ms() / 1e3))
    }
}

/// The largest number of stalls of a target that are shown.
const SHOWN: usize = 5;
