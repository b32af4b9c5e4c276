//! The answer: which store to take, a line for each case, what to do about it, what it does not cover and
//! what weakens it. Every form prints this one.

mod case;
pub(crate) mod display;
mod inconclusive;
pub(crate) mod limits;
mod recommended;
mod sizes;

use checks::{Ahead, Figures, Lead, MergedFinding, Recommended, Verdict, leads, recommendation};
use model::record::Record;
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use self::{
    case::case_name,
    inconclusive::LONGEST,
    recommended::{undecided, weighed},
};
use crate::sentences;

/// The largest number of targets, places and findings that are named one by one.
const NAMED: usize = 3;
/// The largest number of cases that have a line.
const CASES: usize = 6;

/// The answer of a run, or of the runs of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Which store to take, and what that gains and gives up.
    pub says: Vec<String>,
    /// The fastest store of each case, with its time and its ratio to the baseline.
    pub cases: Vec<String>,
    /// The next step, how to get a verdict, and what was not measured.
    pub more: Vec<String>,
    /// The worst findings.
    pub weakened: Vec<String>,
}

/// Returns the answer of `runs` of one plan. `figures` has those of each run, `findings` those
/// about all runs; empty if there is no run.
pub fn answer(runs: &[Record], figures: &[Vec<Figures>], findings: &[MergedFinding]) -> Answer {
    let Some(first) = runs.first() else { return Answer::default() };
    let plan = &first.header.plan;
    let all: Vec<Lead<'_>> =
        runs.iter().zip(figures).flat_map(|(run, rows)| leads(run, rows)).collect();
    let by_size = sizes::by_size(runs, plan);
    let one = match (runs, figures) {
        ([run], [figures]) => recommendation(run, figures),
        _ => None,
    };
    let taken = one.as_ref().and_then(|one| match &one.choice {
        Recommended::Take(taken) => Some(taken.target),
        _ => None,
    });
    let says = match &one {
        Some(one) => recommended::says(plan, one),
        None => recommended::without_rival(first).into_iter().collect(),
    };
    let cases = if by_size.is_empty() { lines(runs, figures, &all) } else { Vec::new() };
    let more = limits::next_step(first, taken).into_iter();
    let more = more.chain(inconclusive::remedies(runs, &all)).chain(limits::not_covered(first));
    Answer {
        says: says.into_iter().chain(by_size).collect(),
        cases,
        more: more.collect(),
        weakened: limits::weakened(plan, findings),
    }
}

/// Returns a line for each case, at most [`CASES`] of them; empty if every case has too few rounds,
/// as the recommendation reports that.
fn lines(runs: &[Record], figures: &[Vec<Figures>], all: &[Lead<'_>]) -> Vec<String> {
    let plan = &runs[0].header.plan;
    if plan.targets.len() == 1 {
        return alone(runs, figures);
    }
    if plan.targets.iter().all(|target| target.reference) {
        return vec![sentences::only_limits()];
    }
    // If all cases have too few rounds, the recommendation reports that.
    let is_known = |lead: &Lead<'_>| lead.ahead != Ahead::Unknown(Verdict::TooFewRounds);
    if !all.iter().any(is_known) && runs.len() == 1 {
        return Vec::new();
    }
    let more = all.len().saturating_sub(CASES);
    let more = (more > 0).then(|| sentences::more_lines(more));
    all.iter().take(CASES).map(case::line).chain(more).collect()
}

/// Returns the times of the only target, a line for each case.
fn alone(runs: &[Record], figures: &[Vec<Figures>]) -> Vec<String> {
    let rows = runs.iter().zip(figures).flat_map(|(run, rows)| rows.iter().map(move |r| (run, r)));
    let lines = rows.filter_map(|(run, row)| {
        let time = display::duration(row.us_per_op.as_ref()?.point);
        let name = display::name(&run.header.plan, row.target);
        Some(sentences::case_alone(case::case_name(run, row.case), name, time))
    });
    lines.take(CASES).collect()
}
