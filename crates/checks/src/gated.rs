//! What a gate says of each target of a run.

use model::{Case, Judge, record::Record};
use stats::Estimate;

use crate::{
    gate::Gate,
    series::Series,
    verdict::{Verdict, judgements_on},
};

/// The verdict of a gate on one target in one case of a run.
#[derive(Clone, Copy, Debug)]
pub struct GatedTarget {
    /// The workload and the cache state.
    pub case: Case,
    /// Index into the plan's targets.
    pub target: usize,
    /// The figure that is judged.
    pub figure: Judge,
    /// The figure divided by the baseline's, with the interval that decides.
    pub ratio: Option<Estimate>,
    /// The verdict on the ratio.
    pub verdict: Verdict,
    /// The verdict of the gate.
    pub gate: Gate,
}

/// Judges each target of a run against the baseline, whose time, or the percentile that the plan names, it
/// may exceed by the share of the plan's gate. References are no choice, and are left out; without a gate
/// so are all.
pub fn gated_targets(record: &Record) -> Vec<GatedTarget> {
    let plan = &record.header.plan;
    let Some(share) = plan.rounds.fail_above else { return Vec::new() };
    let is_gated = |target: usize| target != plan.baseline && !plan.is_reference(target);
    let figure = plan.rounds.judge;
    let of_case = |case| {
        let all = judgements_on(figure, record, case).into_iter().enumerate();
        all.filter(|(target, _)| is_gated(*target)).map(move |(target, (verdict, ratio))| {
            let judged = ratio.filter(|_| verdict.is_judged());
            let gate = judged.map_or(Gate::Undecided, |ratio| Gate::judge(&ratio, share));
            GatedTarget { case, target, figure, ratio, verdict, gate }
        })
    };
    gated_cases(record).flat_map(of_case).collect()
}

/// Returns the cases of a run that a gate judges. Only values are measured in each cache state of the plan;
/// of other experiments a case that no target was tried in is none.
pub(crate) fn gated_cases(record: &Record) -> impl Iterator<Item = Case> {
    let plan = &record.header.plan;
    let is_tried = |case: &Case| {
        (0..plan.targets.len()).any(|target| Series::new(record, *case, target).is_tried())
    };
    plan.cases().filter(move |case| plan.experiment.blobs().is_some() || is_tried(case))
}
