//! Doubts that the times of a target raise over its rounds: they drift, or fall into two groups, or
//! stalls make much of them.

use std::collections::BTreeMap;

use model::{Finding, FindingKind, record::Record};
use stats::{trend, two_modes};

use crate::{Timeline, figures::times, timelines};

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
            let stalled = stalled(&timelines(record, case, index));
            let doubts = drift(&times).into_iter().chain(modes(&times)).chain(stalled);
            found.extend(doubts.map(|doubt| {
                let finding = Finding::target(doubt, &target.label);
                finding.in_workload(case.workload).in_cache(case.cache)
            }));
        }
    }
    found
}

fn drift(times: &[f64]) -> Option<FindingKind> {
    let trend = trend(times).filter(|trend| trend.p < CHANCE && trend.change.abs() > MATTERS)?;
    Some(FindingKind::Drift { change: trend.change })
}

fn modes(times: &[f64]) -> Option<FindingKind> {
    let ratio = two_modes(times)?.ratio();
    (ratio > 1.0 + MATTERS).then_some(FindingKind::TwoModes { ratio })
}

fn stalled(lines: &[Timeline]) -> Option<FindingKind> {
    let wall: f64 = lines.iter().map(|line| line.wall_ms).sum();
    let mut causes = BTreeMap::<&Option<String>, f64>::new();
    for stall in lines.iter().flat_map(|line| &line.stalls) {
        *causes.entry(&stall.cause).or_default() += stall.length_ms;
    }
    let share = causes.values().sum::<f64>() / wall;
    let (cause, _) = causes.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    (share > MATTERS).then(|| FindingKind::Stalled { share, cause: cause.clone() })
}
