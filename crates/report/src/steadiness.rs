//! Doubts that the times of a target raise over its rounds: they drift, or fall into two groups.

use model::{Doubt, Finding, record::Record};
use stats::{trend, two_modes};

use crate::figures::times;

/// A drift at least as clear would be seen in one of a hundred runs of a steady machine.
const CHANCE: f64 = 0.01;

/// Smaller changes and differences, as shares of the time, are not worth a doubt.
const MATTERS: f64 = 0.05;

/// Those of all targets in all cases.
pub(crate) fn doubts(record: &Record) -> Vec<Finding> {
    let plan = &record.header.plan;
    let mut found = vec![];
    for case in plan.cases() {
        for (index, target) in plan.targets.iter().enumerate() {
            let times = times(record, case, index);
            let doubts = drift(&times).into_iter().chain(modes(&times));
            found.extend(doubts.map(|doubt| {
                let finding = Finding::target(doubt, &target.label);
                finding.in_workload(case.workload).in_cache(case.cache)
            }));
        }
    }
    found
}

fn drift(times: &[f64]) -> Option<Doubt> {
    let trend = trend(times).filter(|trend| trend.p < CHANCE && trend.change.abs() > MATTERS)?;
    Some(Doubt::Drift { change: trend.change })
}

fn modes(times: &[f64]) -> Option<Doubt> {
    let ratio = two_modes(times)?.ratio();
    (ratio > 1.0 + MATTERS).then_some(Doubt::TwoModes { ratio })
}
