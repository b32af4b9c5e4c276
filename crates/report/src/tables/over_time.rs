//! The table of passes over time: rates and percentiles of their slices, and where they stalled.

use checks::{Figures, Passes, Stall, StalledRounds};
use model::record::Record;

use super::TARGET;
use crate::{
    table::{Block, Column, Line, Lines, Table, Value},
    words::{joined, label},
};

/// Returns the table of a case and what the engines did meanwhile; `rows` are its figures. Empty if
/// no pass has slices.
pub(crate) fn over_time(record: &Record, rows: &[Figures], all: bool) -> Vec<Block> {
    let plan = &record.header.plan;
    let passes =
        |row: &Figures| (label(plan, row.target), Passes::new(record, row.case, row.target));
    let passes: Vec<_> = rows.iter().map(passes).collect();
    if passes.iter().all(|(_, passes)| passes.lines.is_empty()) {
        return vec![];
    }
    let title = format!("{}, {}", plan.workload_name(rows[0].case.workload), rows[0].case.cache);
    let rate = |passes: &Passes, at: fn(usize) -> usize| {
        let rates = passes.rates();
        rates.get(at(rates.len().saturating_sub(1))).copied().map(Value::Rate)
    };
    let table = Table::for_rows(title, &passes)
        .with(TARGET, |(label, _)| *label)
        .with(Column::number("slices", ""), |(_, of)| of.points().count() as u64)
        .with(Column::number("least", "/s"), |(_, of)| rate(of, |_| 0))
        .with(Column::number("median", "/s"), |(_, of)| rate(of, |last| last / 2))
        .with(Column::number("most", "/s"), |(_, of)| rate(of, |last| last))
        .with(Column::number("p99 from", "µs"), |(_, of)| of.p99_range().map(|[least, _]| least))
        .with(Column::number("to", "µs"), |(_, of)| of.p99_range().map(|[_, most]| most))
        .with(Column::number("stalled", ""), |(_, of)| of.stalled().map(Value::Percent))
        .into_table();
    let below = passes.iter().flat_map(|(label, of)| below(label, of, all));
    vec![table.into(), Lines::new("", below).into()]
}

/// Returns the engine's background work and the stalls: the longest, or `all`.
fn below(label: &str, passes: &Passes, all: bool) -> Vec<Line> {
    let mut stalls: Vec<_> = passes.stalls().collect();
    stalls.sort_by(|one, other| other.1.length_ms.total_cmp(&one.1.length_ms));
    let more = if all { 0 } else { stalls.len().saturating_sub(SHOWN) };
    stalls.truncate(stalls.len() - more);
    let more = (more > 0).then(|| format!("and {more} shorter stalls (--verbose shows all)"));
    let work = background_work(passes).map(|work| format!("{label}: {work}"));
    let rare = rare(passes).filter(|_| stalls.is_empty());
    let rare = rare.map(|rare| Line::dim(format!("{label}: {rare}")));
    let stalls = stalls.into_iter().map(|(round, stall)| {
        let Stall { start_ms, length_ms, cause } = stall;
        let cause = cause.as_deref().unwrap_or("cause not known");
        let place = format!("round {} at {:.2} s", u64::from(round) + 1, start_ms / 1e3);
        Line::new("  ", format!("{label} stalled for {length_ms:.0} ms: {place}, {cause}"))
    });
    work.map(Line::dim).into_iter().chain(rare).chain(stalls).chain(more.map(Line::dim)).collect()
}

/// Says how rare stalls are if no pass had one; `None` if there are too few passes to show it.
fn rare(passes: &Passes) -> Option<String> {
    let rounds = passes.lines.len() as u64;
    let more = StalledRounds { rounds, stalled: 0 }.rarer_than()?;
    Some(format!("no stall in {rounds} passes, so in fewer than one of {more} (95 %)"))
}

/// Describes the background work: `12 × checkpoint, 0.43 s of 2.00 s`.
fn background_work(passes: &Passes) -> Option<String> {
    let all = passes.background_work().into_iter();
    let sums =
        all.map(|(name, sum)| format!("{} × {name}, {:.2} s", sum.count, sum.total_ms / 1e3));
    let sums = joined(sums, "; ")?;
    Some(format!("{sums} of {:.2} s", passes.wall_ms() / 1e3))
}

/// The largest number of stalls of a target that are shown.
const SHOWN: usize = 5;
