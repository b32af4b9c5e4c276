//! What gives each case without a verdict one, and how long that takes.

use std::time::Duration;

use checks::{Gate, Lead, gated_targets, rounds_factor, whole_rounds};
use itertools::Itertools;
use model::{
    FindingKind, Plan, StudyPart,
    record::Record,
    units::{duration_of, longer_option},
};

use super::{NAMED, display::name};
use crate::{sentences, words::listed};

/// The longest time that is suggested.
pub(crate) const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Suggests what gives each case its verdict; empty if every case has one.
pub(super) fn remedies(runs: &[Record], all: &[Lead<'_>]) -> Vec<String> {
    [remedy(runs, all), of_copies(all)].into_iter().flatten().collect()
}

/// Suggests the time after which each case should have its verdict, if the intervals narrow as they
/// did.
fn remedy(runs: &[Record], all: &[Lead<'_>]) -> Option<String> {
    let first = runs.first()?;
    if runs.iter().all(is_decided) {
        return None;
    }
    let ran = whole_rounds(first) as f64;
    let factor = rounds_factor(all).filter(|_| ran > 0.0)?;
    let plan = &first.header.plan;
    if plan.rounds.max.is_some() {
        let rounds = format!("--rounds {:.0}", (ran * factor).ceil());
        return Some(sentences::settle_by_rounds(with(plan, &rounds)));
    }
    let option = |time, given| with(plan, &format!("--time {}", longer_option(time, given)));
    // More time allows a larger sample. Only the time of all values is known.
    if let Some(all) = runs.iter().find_map(time_of_all) {
        let given = duration_of(plan.rounds.seconds);
        return Some(sentences::settle_by_all(option(all, given)));
    }
    let seconds =
        |run: &Record| Some(run.end.as_ref()?.seconds.max(run.header.plan.rounds.seconds));
    // Of a run that was killed, nothing says how much of its time it had.
    let spent: f64 = runs.iter().map(seconds).sum::<Option<_>>()?;
    let time = Duration::try_from_secs_f64((spent * factor).ceil()).ok()?;
    Some(if time > LONGEST {
        sentences::settle_by_quiet()
    } else {
        sentences::settle_by_time(option(time, duration_of(spent)))
    })
}

/// Reports whether a gate was asked for, and has decided on every target: a verdict was not what was wanted.
fn is_decided(run: &Record) -> bool {
    let gated = gated_targets(run);
    !gated.is_empty() && gated.iter().all(|gated| gated.gate != Gate::Undecided)
}

/// Returns how long all of the data takes; `None` if all of it was measured.
fn time_of_all(run: &Record) -> Option<Duration> {
    run.findings.iter().find_map(|finding| match finding.kind {
        FindingKind::Sampled { seconds, .. } => Duration::try_from_secs_f64(seconds?).ok(),
        _ => None,
    })
}

/// Writes an option as it is given to the command: a step of a study has a command of its own.
fn with(plan: &Plan, option: &str) -> String {
    let step = |of: &StudyPart| format!("storemark study {} --step {} ", of.name, of.step);
    format!("{}{option}", plan.study.as_ref().map_or_else(String::new, step))
}

/// Lists the stores whose verdict more time does not change; `None` if there are none.
fn of_copies(all: &[Lead<'_>]) -> Option<String> {
    let copies = all
        .iter()
        .flat_map(|lead| lead.undecided_copies().map(|target| name(&lead.run.header.plan, target)));
    let stores = listed(&copies.unique().collect::<Vec<_>>(), NAMED);
    (!stores.is_empty()).then(|| sentences::settle_by_place(stores))
}
