//! Datasets in which few values hold most of the bytes: the mean is about those, the median about all
//! others, and the two may contradict each other.

use model::{FindingKind, Judge, RatioInterval, record::Record};
use stats::Estimate;

use crate::{
    extrapolation::moves,
    series::{FEWEST_ROUNDS, Series},
};

/// The largest number of values that are few, as a part of all: one in this many. If sizes are
/// log-normal, fewer hold half of the bytes if the standard deviation of the logarithm is above
/// 1.64.
const FEW: u64 = 20;

/// Returns a finding if few values hold half of the bytes.
pub(crate) fn few_hold_most(record: &Record) -> Option<FindingKind> {
    let summary = record.header.plan.experiment.summary()?;
    let (values, keys, largest) = (summary.half_in?, summary.count, summary.largest);
    (values > 0 && values.saturating_mul(FEW) <= keys).then_some(FindingKind::FewValuesHoldMost {
        values,
        keys,
        largest,
    })
}

/// The smallest factor between the two ratios: less changes no choice.
const APART: f64 = 1.1;

/// Returns a finding if such values decide a ratio, and the ratio of the medians differs.
pub(crate) fn ratio_depends_on_size(
    series: Series<'_>,
    by_bytes: Option<&Estimate>,
) -> Option<FindingKind> {
    few_hold_most(series.record)?;
    let enough = |ratio: &Estimate| ratio.n >= FEWEST_ROUNDS as usize;
    let by_bytes = by_bytes.copied().filter(enough)?;
    let medians = series.figure_ratios_to(Judge::P50, series.baseline());
    let by_operations = medians.mean().filter(enough)?;
    let apart = |below: &Estimate, above: &Estimate| below.high * APART < above.low;
    let apart = apart(&by_operations, &by_bytes) || apart(&by_bytes, &by_operations);
    apart.then(|| FindingKind::RatioDependsOnSize {
        by_operations: interval(&by_operations),
        by_bytes: interval(&by_bytes),
    })
}

/// Returns a finding if a ratio moves with the size of the sample; `ratio` contains what is
/// expected on all of the data.
pub(crate) fn sample_moves(series: Series<'_>, ratio: Option<&Estimate>) -> Option<FindingKind> {
    let moved = moves(series, series.baseline())?;
    Some(FindingKind::SampleMoves { share: moved.point - 1.0, expected: interval(ratio?) })
}

pub(crate) fn interval(&Estimate { point: ratio, low, high, .. }: &Estimate) -> RatioInterval {
    RatioInterval { ratio, low, high }
}
