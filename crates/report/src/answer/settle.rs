//! What would settle what is inconclusive, and how long that takes.

use std::time::Duration;

use checks::FEWEST_ROUNDS;
use model::{record::Record, units::option_duration};
use stats::{Estimate, SAME};

use super::lead::Lead;
use crate::{Figures, Verdict, words::rounds};

/// No one waits longer for a verdict.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The time after which each case should have its verdict, if they go on as they did.
pub(super) fn settle(runs: &[Record], all: &[Lead<'_>]) -> Option<String> {
    let first = runs.first()?;
    let ran = rounds(first) as f64;
    let more = all.iter().flat_map(|lead| {
        let most = rounds(lead.run) as f64;
        lead.unsettled().map(move |row| needed(row) / row_rounds(row).min(most))
    });
    let more = more.reduce(f64::max).filter(|more| more.is_finite() && ran > 0.0)?;
    if first.header.plan.rounds.max.is_some() {
        let rounds = (ran * more).ceil();
        return Some(format!("To settle it: --rounds {rounds:.0}, or --time without that."));
    }
    let seconds =
        |run: &Record| Some(run.end.as_ref()?.seconds.max(run.header.plan.rounds.seconds));
    let spent: f64 = runs.iter().filter_map(seconds).sum();
    let time = Duration::try_from_secs_f64((spent * more).ceil()).ok()?;
    if time > LONGEST {
        return Some(QUIETER.to_owned());
    }
    let time = option_duration(time);
    Some(format!(
        "To settle it: --time {time}, which is the whole command's, or a quieter machine."
    ))
}

const QUIETER: &str = "More rounds do not settle it in a day: it takes a quieter machine (`storemark doctor` shows \
                       what disturbs).";

fn row_rounds(row: &Figures) -> f64 {
    row.rounds.max(1) as f64
}

/// Rounds after which the interval is narrow enough to be on one side of 1, or within ±3 % of it: its
/// width shrinks with the square root of their number.
fn needed(row: &Figures) -> f64 {
    let least = f64::from(FEWEST_ROUNDS) + 1.0;
    let of = |Estimate { point, low, high, .. }: Estimate| {
        let (away, half) = (point.ln().abs(), (high / low).ln() / 2.0);
        let width = away.max(SAME - away).max(SAME / 2.0);
        row_rounds(row) * (half / width).powi(2)
    };
    // Fewer rounds show a width by chance.
    let judged = row.ratio.filter(|_| row.verdict == Verdict::Inconclusive);
    judged.map_or(least, of).max(row_rounds(row) * 1.5).max(least)
}
