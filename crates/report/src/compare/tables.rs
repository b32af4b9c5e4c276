//! A comparison of two records.

use checks::{Change, CounterChange, Gate, Verdict};
use model::Counter;

use crate::tables::{TARGET, ratio_column, tone};
use crate::{
    ComparedCase, Comparison,
    gate::counter_change,
    number::{figure, with_interval_at},
    sentences,
    table::{Cell, Column, Room, Table},
    words,
};

/// Returns the table of a case; with `all` also the columns that its verdicts do not depend on.
pub(crate) fn compared_case(case: &ComparedCase, all: bool) -> Table {
    const CHANGE: &str = "new ÷ old";
    let time = Column { bars: true, ..ratio_column("time", CHANGE) };
    let p99 = ratio_column("p99", CHANGE).room(Room::Bar);
    Table::for_rows(format!("{}: {}", case.title(), case.workload), &case.changes)
        .with(TARGET, |change| &*change.target)
        .with(Column::number("old", "µs/op").room(Room::Spare(2)), |change| change.old_us)
        .with(Column::number("new", "µs/op").room(Room::Spare(3)), |change| change.new_us)
        .with(time, |change| Cell::interval(change.time.as_ref()))
        .with_if(all, p99, |change| Cell::interval(change.p99.as_ref()))
        .with_if(all, Column::number("sees", "≥ %"), |change| {
            Cell::from(change.detectable.map(|share| share * 100.0))
        })
        .with(Column::text("verdict").narrow(&[18]), |change| {
            let verdict = words::change_verdict(change.verdict, change.time.as_ref());
            Cell::from(verdict).tone(tone(change.verdict))
        })
        .into_table()
}

/// Counts the verdicts without the control, `Of 8 rows: 2 worse, 1 better, 4 the same within ±3 %,
/// 1 inconclusive.`, or says that both are the same record.
pub(crate) fn counts(comparison: &Comparison) -> String {
    if comparison.same {
        return "The two are the same record.".to_owned();
    }
    let verdicts = comparison.changes().map(|(_, row)| row.verdict);
    let verdicts: Vec<_> = verdicts.filter(|verdict| *verdict != Verdict::Baseline).collect();
    let count = |verdict: Verdict| verdicts.iter().filter(|other| **other == verdict).count();
    let judged = [Verdict::Slower, Verdict::Faster, Verdict::Same, Verdict::Inconclusive];
    let [worse, better, same, open] = judged.map(count);
    let rest = verdicts.len() - worse - better - same - open;
    let counts = [worse, better, same, open, rest];
    let named = counts.iter().zip([
        "worse",
        "better",
        "the same within ±3 %",
        "inconclusive",
        "not judged",
    ]);
    let named =
        named.filter(|(count, _)| **count > 0).map(|(count, name)| format!("{count} {name}"));
    let rows = words::counted(verdicts.len() as u64, "row");
    format!(
        "Of {rows}: {}.",
        words::joined(named, ", ").unwrap_or_else(|| "none judged".to_owned())
    )
}

/// Describes the changes that a gate at `share` judges as `gate`: `read, warm: files: time new ÷
/// old 1.10 (1.09–1.11), sees changes from 1.2 % on`.
pub fn gate_rows(comparison: &Comparison, share: f64, gate: Gate) -> Vec<String> {
    let rows = comparison.gated().filter(|(_, change)| change.gate(share) == gate);
    rows.map(|(case, change)| gate_row(case, change, share)).collect()
}

fn gate_row(case: &ComparedCase, change: &Change, share: f64) -> String {
    let about = format!("{}: {}", case.title(), change.target);
    let Some(ratio) = change.time.filter(|_| change.verdict.is_judged()) else {
        return format!("{about}: {}", words::change_verdict(change.verdict, None));
    };
    let ratio = with_interval_at(&ratio, share);
    match change.detectable {
        Some(seen) => sentences::changed(about, ratio, figure(seen * 100.0)),
        None => sentences::changed_unseen(about, ratio),
    }
}

/// Describes how each of `counters` changed, with the verdict of a gate on it: fewer pass. A record
/// compared with itself has no rows.
pub fn counter_rows(comparison: &Comparison, counters: &[Counter]) -> Vec<(Gate, String)> {
    let is_asked = |of: &CounterChange| !comparison.same && counters.contains(&of.counter);
    counter_lines(comparison, is_asked).collect()
}

fn counter_lines(
    comparison: &Comparison,
    is_shown: impl Fn(&CounterChange) -> bool,
) -> impl Iterator<Item = (Gate, String)> {
    comparison.changes().flat_map(move |(case, change)| {
        let target = format!("{}: {}", case.title(), change.target);
        let shown = change.counters.iter().filter(|of| is_shown(of));
        shown.map(|of| (of.gate(), counter_change(&target, of))).collect::<Vec<_>>()
    })
}

/// Returns a line for each counter that certainly changed.
pub(crate) fn changed_counters(comparison: &Comparison) -> Vec<String> {
    let is_changed = |change: &CounterChange| change.exact().is_some_and(|more| more != 0.0);
    counter_lines(comparison, is_changed).map(|(_, line)| line).collect()
}

/// Describes the control that times are divided by, or that a record lacks it; `None` if there is
/// nothing to say.
pub(crate) fn control(comparison: &Comparison) -> Option<String> {
    let Some(control) = &comparison.control else {
        let lacks = comparison.only.iter().any(|own| !own.is_empty());
        return lacks.then(sentences::no_control);
    };
    let without = comparison.cases.iter().filter(|case| !case.controlled);
    let without: Vec<_> = without.map(ComparedCase::title).collect();
    Some(if without.is_empty() {
        sentences::divided_by(control)
    } else {
        sentences::divided_by_except(control, without.join("; "))
    })
}

/// Says why changes are not shown that several records a side would show; `None` if none is open, or each
/// side has several.
pub(crate) fn single_record(comparison: &Comparison) -> Option<String> {
    let is_open = |change: &Change| change.single_record && change.verdict == Verdict::Inconclusive;
    let share = || figure(stats::RECORDS_APART * 100.0);
    comparison.gated().any(|(_, change)| is_open(change)).then(|| sentences::single_record(share()))
}

/// Lists what the new record lacks in one line; `None` if it lacks nothing.
pub(crate) fn lost(comparison: &Comparison, all: bool) -> Option<String> {
    let lost: Vec<_> = comparison.lost().collect();
    let most = if all { lost.len() } else { words::NAMED };
    (!lost.is_empty()).then(|| format!("only in the old record: {}", words::parts(&lost, most)))
}

/// Returns sentences on what differs besides the times.
pub(crate) fn differences(comparison: &Comparison) -> Vec<String> {
    let [_, only] = &comparison.only;
    let only = only.iter().map(|what| format!("only in the new record: {what}"));
    let plans = comparison.plans.iter().map(|differs| format!("plans differ: {differs}"));
    let machines = comparison.environments.iter();
    let machines = machines.map(|differs| format!("environments differ: {differs}"));
    only.chain(plans).chain(machines).collect()
}
