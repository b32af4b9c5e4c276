//! When enough rounds have run.

use std::{collections::BTreeMap, time::Duration};

use model::{
    Case, Rounds,
    record::{Ended, Record},
};
use stats::{Estimate, Stopping};

/// Why there is no further round after `done`, if so. A round that would not fit into the time is
/// not begun.
pub(crate) fn ended(
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
    if record.is_some_and(precise) {
        return Some(Ended::Precise);
    }
    ((elapsed + longest).as_secs_f64() > rounds.seconds).then_some(Ended::Time)
}

/// Whether every interval that the report will show is narrow enough.
fn precise(record: &Record) -> bool {
    let plan = &record.header.plan;
    let rule = Stopping { min_rounds: plan.rounds.min as usize, precision: plan.rounds.precision };
    let estimates: Vec<_> = plan.cases().flat_map(|case| estimates(record, case)).collect();
    rule.is_met(&estimates)
}

/// With several targets the ratios are to be precise, with one its time. None where two have no
/// round in common: one of them cannot be in this state.
fn estimates(record: &Record, case: Case) -> Vec<Estimate> {
    let plan = &record.header.plan;
    let baseline = times(record, case, plan.baseline);
    if plan.targets.len() == 1 {
        let times: Vec<f64> = baseline.into_values().collect();
        return stats::geometric_mean(&times).into_iter().collect();
    }
    let others = (0..plan.targets.len()).filter(|target| *target != plan.baseline);
    others.filter_map(|target| ratio(&times(record, case, target), &baseline)).collect()
}

fn ratio(times: &BTreeMap<u32, f64>, baseline: &BTreeMap<u32, f64>) -> Option<Estimate> {
    let paired = times.iter().filter_map(|(round, time)| Some((time, baseline.get(round)?)));
    let (times, baseline): (Vec<f64>, Vec<f64>) = paired.unzip();
    stats::paired_ratio(&times, &baseline)
}

/// Time of an operation, by round.
fn times(record: &Record, case: Case, target: usize) -> BTreeMap<u32, f64> {
    let samples = record.samples_of(case, target).filter(|sample| record.in_state(sample));
    samples.map(|s| (s.round, s.ns_per_operation())).collect()
}
