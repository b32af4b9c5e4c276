//! A comparison of two records.

use super::{TARGET, ratio_column, tone};
use crate::{
    ComparedCase, Comparison, Verdict,
    number::with_interval,
    table::{Cell, Column, Room, Table},
    words,
};

pub(crate) fn compared_case(case: &ComparedCase) -> Table {
    const CHANGE: &str = "new ÷ old";
    let time = Column { bars: true, ..ratio_column("time", CHANGE) };
    let p99 = ratio_column("p99", CHANGE).room(Room::Spare(1));
    Table::of(format!("{}: {}", case.title(), case.workload), &case.changes)
        .with(TARGET, |change| &*change.target)
        .with(Column::number("old", "µs/op").room(Room::Spare(2)), |change| change.old_us)
        .with(Column::number("new", "µs/op").room(Room::Spare(3)), |change| change.new_us)
        .with(time, |change| Cell::interval(change.time.as_ref()))
        .with(p99, |change| Cell::interval(change.p99.as_ref()))
        .with(Column::text("verdict").narrow(&[18]), |change| {
            let verdict = words::change_verdict(change.verdict, change.time.as_ref());
            Cell::from(verdict).tone(tone(change.verdict))
        })
        .done()
}

/// `2 worse, 1 better, 4 the same within ±3 %, 1 inconclusive, 1 not judged.`
pub(crate) fn counts(comparison: &Comparison) -> String {
    let count =
        |verdict: Verdict| comparison.changes().filter(|(_, row)| row.verdict == verdict).count();
    let judged = [Verdict::Slower, Verdict::Faster, Verdict::Same, Verdict::Inconclusive];
    let [worse, better, same, open] = judged.map(count);
    let rest = comparison.changes().count() - worse - better - same - open;
    format!(
        "{worse} worse, {better} better, {same} the same within ±3 %, {open} inconclusive, {rest} \
         not judged."
    )
}

/// Rows that take more than `times` as long as before, the whole interval of them, in words:
/// `read, warm: files: time new ÷ old 1.10 (1.09–1.11)`.
pub fn worse_rows(comparison: &Comparison, times: f64) -> Vec<String> {
    let worse = comparison.changes().filter_map(|(case, change)| {
        let ratio = change.time.filter(|ratio| ratio.low > times)?;
        let ratio = (change.verdict == Verdict::Slower).then(|| with_interval(&ratio))?;
        Some(format!("{}: {}: time new ÷ old {ratio}", case.title(), change.target))
    });
    worse.collect()
}

/// Sentences on what differs besides the times.
pub(crate) fn differences(comparison: &Comparison) -> Vec<String> {
    let only = comparison.only.iter().zip(["old", "new"]).flat_map(|(lacking, whose)| {
        lacking.iter().map(move |what| format!("only in the {whose} record: {what}"))
    });
    let plans = comparison.plans.iter().map(|differs| format!("plans differ: {differs}"));
    let machines = comparison.environments.iter();
    let machines = machines.map(|differs| format!("environments differ: {differs}"));
    only.chain(plans).chain(machines).collect()
}
