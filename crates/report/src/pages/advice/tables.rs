//! The tables of an advice.

use checks::{Advice, CandidateFigures, Decision, Outcome};

use crate::{
    number::with_interval,
    sentences,
    table::{Cell, Column, Line, Lines, Room, Table, Tone},
};

/// Returns the table of the last candidates.
pub(super) fn candidates(decision: &Decision<'_>) -> Table {
    let rows = &decision.rows;
    let name = |row: &CandidateFigures| {
        let candidate = decision.candidate(row.target);
        let text = candidate.map_or("", |candidate| candidate.target.as_str());
        let is_chosen = row.target == decision.choice.chosen;
        Cell::from(text).tone(if is_chosen { Tone::Bold } else { Tone::Plain })
    };
    let any = |of: fn(&CandidateFigures) -> Option<f64>| rows.iter().any(|row| of(row).is_some());
    let updates = any(|row| row.update);
    let what = if updates {
        "cost of an operation: reads and updates by their shares"
    } else {
        "cost of a read"
    };
    Table::for_rows(what, rows)
        .with(Column::text("target").narrow(&[40, 26, 16]), name)
        .with(Column::number("cost", "µs"), |row| row.cost)
        .with(Column::number("÷ now", "").narrow(&[13]), |row| match row.ratio {
            _ if Some(row.target) == decision.now => Cell::from("1"),
            ratio => Cell::interval(ratio.as_ref()),
        })
        .with_if(any(|row| row.read), Column::number("read", "µs"), |row| row.read)
        .with_if(updates, Column::number("update", "µs"), |row| row.update)
        .with_if(any(|row| row.cold), Column::number("cold read", "µs"), |row| row.cold)
        .with(Column::number("space", "B/B"), |row| row.space)
        .with_if(
            any(|row| row.memory),
            Column::number("memory", "MB").room(Room::Spare(1)),
            |row| row.memory,
        )
        .into_table()
}

/// Returns the table of all candidates, with the outcome of each.
pub(super) fn tried(advice: &Advice) -> Table {
    let describe = |outcome: &Outcome| match outcome {
        Outcome::Failed(why) => format!("failed: {why}"),
        Outcome::OutOfTime => sentences::no_time(),
        Outcome::Dropped(ratio) => format!("behind on the sample: {}", with_interval(ratio)),
        Outcome::Confirmed(ratio) => format!("compared to the end: {}", with_interval(ratio)),
    };
    Table::for_rows("what was tried, by cost ÷ that of the best", &advice.candidates)
        .with(Column::text("target"), |candidate| candidate.target.clone())
        .with(Column::text("outcome").narrow(&[40, 20]), |candidate| {
            describe(&advice.outcome(candidate))
        })
        .into_table()
}

/// Lists what the settings of each candidate trade, and the `command` that measures all of them.
pub(super) fn trades(advice: &Advice, command: &str) -> Lines {
    let candidates = advice.candidates.iter();
    let trades = candidates.map(|one| Line::dim(format!("{}: {}", one.target, one.trades)));
    let command = (!command.is_empty()).then(|| Line::new("", sentences::as_one_run(command)));
    Lines::new("what each trades", trades.chain(command))
}
