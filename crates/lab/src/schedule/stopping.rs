//! When enough rounds have run.

use std::time::Duration;

use checks::Series;
use model::{
    Case, Rounds,
    record::{Ended, Record},
};
use stats::{Estimate, Stopping};

/// Why there is no further round after `done`, if so. A round that would not fit into the time is
/// not started.
pub(super) fn ended(
    rounds: &Rounds,
    done: u32,
    longest: Duration,
    elapsed: Duration,
    record: Option<&Record>,
) -> Option<Ended> {
    if let Some(max) = rounds.max {
        return (done >= max).then_some(Ended::Rounds);
    }
    if done < rounds.min {
        return None;
    }
    if record.is_some_and(is_precise) {
        return Some(Ended::Precise);
    }
    ((elapsed + longest).as_secs_f64() > rounds.seconds).then_some(Ended::Time)
}

/// Whether every interval that the report will show is narrow enough.
fn is_precise(record: &Record) -> bool {
    let plan = &record.header.plan;
    let rule = Stopping { min_rounds: plan.rounds.min as usize, precision: plan.rounds.precision };
    let estimates: Vec<_> = plan.cases().flat_map(|case| estimates(record, case)).collect();
    rule.is_met(&estimates)
}

/// With several targets the ratios are to be precise, with one its time. None where two have no
/// round in common: one of them cannot be in this state.
fn estimates(record: &Record, case: Case) -> Vec<Estimate> {
    let plan = &record.header.plan;
    let baseline = Series::new(record, case, plan.baseline);
    if plan.targets.len() == 1 {
        let times: Vec<f64> = baseline.times().into_values().collect();
        return stats::geometric_mean(&times).into_iter().collect();
    }
    let others = (0..plan.targets.len()).filter(|target| *target != plan.baseline);
    others.filter_map(|target| baseline.of(target).ratio_to(baseline)).collect()
}
