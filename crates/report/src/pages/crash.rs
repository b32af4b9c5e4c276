//! The page of `storemark crash`: how many states kept the promise, and the first that broke it.

use model::{
    BrokenState, CrashModel, CrashResult, ModelResult,
    units::{show_count, show_percent, show_size},
};

use super::Page;
use crate::{
    table::{Block, Column, Line, Lines, Table, Tone},
    words::counted,
};

/// Returns the page of a program's states; `again` returns the command that makes a state again.
pub fn crash(program: &str, result: &CrashResult, again: &dyn Fn(&BrokenState) -> String) -> Page {
    let head = Lines::new("", [Line::new("", verdict(program, result)).tone(Tone::Bold)]);
    let unrecorded = result.unrecorded.iter().map(|why| {
        let text = format!("{why}: the program was killed at random moments, and no power was cut");
        Line::new("! ", text)
    });
    // A program that is killed at a moment of its own leaves another state the next time.
    let again = result.unrecorded.is_none().then_some(again);
    let broken = [
        broken("First broken state", result.first.as_ref(), again),
        broken("First state that only `strict` breaks", strict(result), again),
    ];
    let blocks = [head.into(), Lines::new("", unrecorded).into(), table(result).into()];
    let ends = [Lines::new("", [Line::new("", recorded(result)), Line::new("", SIMULATED)])];
    Page::new(blocks.into_iter().chain(broken.into_iter().flatten()).chain(ends.map(Into::into)))
}

/// What the page says of itself.
const SIMULATED: &str = "The power cut is simulated. A promise that was kept in all states is not \
                         proven; disks that lie about flushes are another matter.";

/// Returns the first state that `strict` breaks, if no other model breaks any.
fn strict(result: &CrashResult) -> Option<&BrokenState> {
    result.first_strict.as_ref().filter(|_| result.first.is_none())
}

fn verdict(program: &str, result: &CrashResult) -> String {
    let (states, kept) = result.kept();
    let of = format!("in {} of {}", show_count(kept), counted(states, "state"));
    let strict = result.models.iter().find(|row| row.model == CrashModel::Strict);
    let strict = strict.filter(|_| result.models.len() > 1).map(|row| {
        let kept = show_count(row.kept);
        format!(", and in {kept} of {} of the model strict", show_count(row.states))
    });
    let strict = strict.unwrap_or_default();
    let did = if result.holds() { "kept its promise" } else { "broke its promise: it was kept" };
    format!("{program} {did} {of}{strict}.")
}

/// A count of states, a column of the table.
type Count = fn(&ModelResult) -> u64;

fn table(result: &CrashResult) -> Table {
    let rows = &result.models;
    let mut table = Table::for_rows("", rows)
        .with(Column::text("model"), |row| row.model.to_string())
        .with(Column::number("states", ""), |row| show_count(row.states))
        .with(Column::number("kept", ""), |row| show_count(row.kept))
        .with(Column::number("broken", ""), |row| show_count(row.states - row.kept));
    let any = |count: Count| rows.iter().any(|row| count(row) > 0);
    let details: [(&str, Count); 8] = [
        ("not opened", |row| row.unopened),
        ("repaired", |row| row.repaired),
        ("wrong", |row| row.wrong),
        ("torn", |row| row.torn),
        ("returned", |row| row.returned),
        ("overdue", |row| row.overdue),
        ("reported", |row| row.reported),
        ("read back", |row| row.read_back),
    ];
    for (head, count) in details.into_iter().filter(|(_, count)| any(*count)) {
        table = table.with(Column::number(head, ""), |row| show_count(count(row)));
    }
    if any(|row| row.most_lost) {
        table = table.with(Column::number("most lost", ""), |row| {
            format!("{} ({})", show_count(row.most_lost), show_percent(row.most_lost_share))
        });
    }
    table.into_table()
}

fn broken(
    title: &str,
    state: Option<&BrokenState>,
    again: Option<&dyn Fn(&BrokenState) -> String>,
) -> Option<Block> {
    let state = state?;
    let line = |name: &str, text: String| Line::new(format!("  {name:<8}  "), text);
    let missed = state.lost.iter().map(|what| line("lost", what.clone()));
    let missing = state.missing.iter().map(|missing| line("missing", missing.clone()));
    let first = [
        line("cut", format!("{}, model {}", state.at, state.model)),
        line("reason", state.reason.clone()),
    ];
    let last = again.map(|again| line("again", again(state)));
    Some(Lines::new(title, first.into_iter().chain(missed).chain(missing).chain(last)).into())
}

fn recorded(result: &CrashResult) -> String {
    let CrashResult { operations, bytes, flushes, acknowledged, .. } = result;
    let checked = format!("states checked in {:.1} s", result.check_seconds);
    if result.unrecorded.is_some() {
        return checked;
    }
    format!(
        "{} recorded in {:.1} s: {} written, {}, {}; {checked}",
        counted(*operations, "operation"),
        result.record_seconds,
        show_size(*bytes),
        if *flushes == 1 {
            "1 flush".to_owned()
        } else {
            format!("{} flushes", show_count(*flushes))
        },
        counted(*acknowledged, "acknowledgement"),
    )
}
