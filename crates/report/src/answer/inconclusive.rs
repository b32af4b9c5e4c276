//! Suggestions for cases without a verdict: what to do, and how long that takes.

use std::time::Duration;

use checks::{FEWEST_ROUNDS, Figures, Verdict};
use itertools::Itertools;
use model::{
    FindingKind, Plan, StudyPart,
    record::Record,
    units::{duration_of, longer_option},
};
use stats::{Estimate, SAME};

use super::{display::name, lead::Lead};
use crate::words::{listed, rounds};

/// The longest time that is suggested.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Suggests what gives each case its verdict; `None` if every case has one.
pub(super) fn suggest_remedy(runs: &[Record], all: &[Lead<'_>]) -> Option<String> {
    let said = [time(runs, all), copies(all)].into_iter().flatten().join(" ");
    Some(said).filter(|said| !said.is_empty())
}

/// Suggests the time after which each case should have its verdict, if the intervals narrow as they
/// did.
fn time(runs: &[Record], all: &[Lead<'_>]) -> Option<String> {
    let first = runs.first()?;
    let ran = rounds(first) as f64;
    let more = all.iter().flat_map(|lead| {
        let most = rounds(lead.run) as f64;
        let narrows = lead.unsettled().filter(|row| !is_of_copies(row));
        narrows.map(move |row| needed(row) / row_rounds(row).min(most))
    });
    let more = more.reduce(f64::max).filter(|more| more.is_finite() && ran > 0.0)?;
    let plan = &first.header.plan;
    if plan.rounds.max.is_some() {
        let rounds = format!("--rounds {:.0}", (ran * more).ceil());
        return Some(format!("{SETTLED} {}, or --time without that.", with(plan, &rounds)));
    }
    // More time allows a larger sample. Only the time of all values is known.
    if let Some(all) = runs.iter().find_map(all_take) {
        let given = duration_of(plan.rounds.seconds);
        let option = with(plan, &format!("--time {}", longer_option(all, given)));
        return Some(format!("{SETTLED} {option}, which measures all values."));
    }
    let seconds =
        |run: &Record| Some(run.end.as_ref()?.seconds.max(run.header.plan.rounds.seconds));
    let spent: f64 = runs.iter().filter_map(seconds).sum();
    let time = Duration::try_from_secs_f64((spent * more).ceil()).ok()?;
    if time > LONGEST {
        return Some(QUIETER.to_owned());
    }
    let option = with(plan, &format!("--time {}", longer_option(time, duration_of(spent))));
    Some(format!("{SETTLED} {option} (for the whole command), or a quieter machine."))
}

/// Returns how long all of the data takes; `None` if all of it was measured.
fn all_take(run: &Record) -> Option<Duration> {
    run.findings.iter().find_map(|finding| match finding.kind {
        FindingKind::Sampled { seconds, .. } => Duration::try_from_secs_f64(seconds?).ok(),
        _ => None,
    })
}

const SETTLED: &str = "To settle what is inconclusive:";

const QUIETER: &str = "More rounds do not settle it in a day: it takes a quieter machine (`storemark doctor` shows \
                       what disturbs).";

/// Writes an option as it is given to the command: a step of a study has a command of its own.
fn with(plan: &Plan, option: &str) -> String {
    let step = |of: &StudyPart| format!("storemark study {} --step {} ", of.name, of.step);
    format!("{}{option}", plan.study.as_ref().map_or_else(String::new, step))
}

/// Lists the stores whose verdict depends on where their copies are on the disk, which more time
/// does not change.
fn copies(all: &[Lead<'_>]) -> Option<String> {
    let of_lead = |lead: &Lead<'_>| -> Vec<String> {
        let rows = lead.unsettled().filter(|row| is_of_copies(row));
        rows.map(|row| name(&lead.run.header.plan, row.target)).collect()
    };
    let names: Vec<_> = all.iter().flat_map(of_lead).unique().collect();
    let all = listed(&names, super::NAMED);
    (!names.is_empty()).then(|| {
        format!(
            "More time does not settle {all}: copies of a store differ as much by where their files \
             are on the disk; --scratch DIR places them elsewhere."
        )
    })
}

fn is_of_copies(row: &Figures) -> bool {
    row.copies_decide && row.verdict == Verdict::Inconclusive
}

fn row_rounds(row: &Figures) -> f64 {
    row.rounds.max(1) as f64
}

/// Returns after how many rounds the interval is narrow enough to be on one side of 1, or within ±3
/// % of it: its width shrinks with the square root of their number.
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
