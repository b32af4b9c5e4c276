//! A limit on how much longer a target may take than another, or than before.

use model::{Case, record::Record};
use serde::Serialize;
use stats::Estimate;

use crate::verdict::{Verdict, judgements};

/// The verdict of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// No time is longer by more than the limit.
    Pass,
    /// A time is longer by more than the limit.
    Fail,
    /// The interval contains the limit, or nothing is judged.
    Undecided,
}

impl Gate {
    /// Judges whether a ratio of times is above 1 by more than `share`, with its whole interval.
    pub fn of(ratio: &Estimate, share: f64) -> Self {
        match ratio {
            Estimate { low, .. } if *low > 1.0 + share => Self::Fail,
            Estimate { high, .. } if *high <= 1.0 + share => Self::Pass,
            _ => Self::Undecided,
        }
    }

    /// Judges several changes together: fails if one fails, and is undecided if one is, or if there
    /// is none.
    pub fn joint(changes: impl IntoIterator<Item = Self>) -> Self {
        let all: Vec<_> = changes.into_iter().collect();
        let worst = [Self::Fail, Self::Undecided].into_iter().find(|gate| all.contains(gate));
        worst.unwrap_or(if all.is_empty() { Self::Undecided } else { Self::Pass })
    }
}

/// The verdict of a gate on one target in one case of a run.
#[derive(Clone, Copy, Debug)]
pub struct GatedTarget {
    /// The workload and the cache state.
    pub case: Case,
    /// Index into the plan's targets.
    pub target: usize,
    /// Time divided by the baseline's, with the interval that decides.
    pub ratio: Option<Estimate>,
    /// The verdict on the ratio.
    pub verdict: Verdict,
    /// The verdict of the gate.
    pub gate: Gate,
}

/// Judges each target of a run against the baseline, whose time it may exceed by `share`. References
/// are no choice, and are left out.
pub fn gated_targets(record: &Record, share: f64) -> Vec<GatedTarget> {
    let plan = &record.header.plan;
    let is_gated = |target: usize| target != plan.baseline && !plan.is_reference(target);
    let of_case = |case| {
        let all = judgements(record, case).into_iter().enumerate();
        all.filter(|(target, _)| is_gated(*target)).map(move |(target, (verdict, ratio))| {
            let judged = ratio.filter(|_| verdict.is_judged());
            let gate = judged.map_or(Gate::Undecided, |ratio| Gate::of(&ratio, share));
            GatedTarget { case, target, ratio, verdict, gate }
        })
    };
    plan.cases().flat_map(of_case).collect()
}
