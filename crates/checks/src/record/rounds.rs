//! What a target's rounds show together: intervals from too few of them or too wide ones, times
//! that drift or fall into two groups, stalls.

use std::collections::BTreeMap;

use model::{Finding, FindingKind, record::Record};
use stats::{Estimate, trend, two_modes};

use super::about;
use crate::{
    figures::Figures,
    series::Series,
    timeline::{Timeline, timelines},
    verdict::FEWEST_ROUNDS,
};

/// A drift at least as clear would be seen in one of a hundred runs of a steady machine.
const CHANCE: f64 = 0.01;

/// Smaller changes and differences, as shares of the time, are not reported.
const MATTERS: f64 = 0.05;

/// About an interval: over too few rounds, or still too wide when the run ended.
pub(super) fn of_interval(record: &Record, row: &Figures, ended: bool) -> Vec<Finding> {
    let plan = &record.header.plan;
    // What the run was to measure precisely: the ratio, or with one target its time.
    let interval = if plan.targets.len() == 1 { &row.us_per_op } else { &row.ratio };
    let Some(interval) = interval else { return vec![] };
    let wide = too_wide(interval, plan.rounds.precision).filter(|_| ended);
    about(Series::new(record, row.case, row.target), too_few(interval).into_iter().chain(wide))
}

fn too_few(interval: &Estimate) -> Option<FindingKind> {
    let rounds = u32::try_from(interval.n).unwrap_or(u32::MAX);
    (rounds < FEWEST_ROUNDS).then_some(FindingKind::TooFewRounds { rounds, min: FEWEST_ROUNDS })
}

/// One round has no width at all; that it is only one is another finding.
fn too_wide(interval: &Estimate, precision: f64) -> Option<FindingKind> {
    let half_width = interval.half_width();
    (half_width.is_finite() && half_width > precision)
        .then_some(FindingKind::TooNoisy { half_width, precision })
}

/// About the times of its rounds.
pub(super) fn of_times(series: Series<'_>) -> impl Iterator<Item = FindingKind> {
    let times: Vec<f64> = series.times().into_values().collect();
    let stalled = stalled(&timelines(series.record, series.case, series.target));
    [drift(&times), modes(&times), stalled].into_iter().flatten()
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
