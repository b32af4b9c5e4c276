//! The figures that are computed from records in addition to those of `checks`.

pub(crate) mod explained;
pub(crate) mod hosts;
pub(crate) mod latencies;
pub(crate) mod requests;
pub(crate) mod scaling;
pub(crate) mod stores;
pub(crate) mod study;
pub(crate) mod sweep;
pub(crate) mod workers;

use model::{Plan, PlannedTarget};

use checks::Figures;

/// Splits figures into the rows of each case.
pub(crate) fn cases(figures: &[Figures]) -> impl Iterator<Item = &[Figures]> {
    figures.chunk_by(|one, next| one.case == next.case)
}

/// Returns the target that shares the `place` of `target` (its file system or style) and the
/// baseline's `store`; `None` if the target itself has the baseline's store.
pub(crate) fn counterpart<S: PartialEq, P: PartialEq>(
    plan: &Plan,
    target: usize,
    store: fn(&PlannedTarget) -> S,
    place: fn(&PlannedTarget) -> P,
) -> Option<usize> {
    let [baseline, own] = [plan.targets.get(plan.baseline)?, plan.targets.get(target)?];
    let same =
        |other: &PlannedTarget| store(other) == store(baseline) && place(other) == place(own);
    plan.targets.iter().position(same).filter(|_| store(own) != store(baseline))
}
