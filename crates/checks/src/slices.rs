//! Slices: what a store leaves in the processor's caches for itself and takes from the others depends
//! on how long each works at a time. A ratio must not.

use std::collections::BTreeMap;

use model::FindingKind;
use stats::{SAME, Values, unpaired_ratio};

use crate::{
    series::{FEWEST_ROUNDS, Series},
    sizes::interval,
};

/// Returns a finding if the ratio in the longest slices is shown to differ from that in the
/// shortest ones by more than the range called the same.
pub(crate) fn ratio_depends_on_slices(series: Series<'_>) -> Option<FindingKind> {
    let by_slice = by_slice(series);
    let ((short, in_short), (long, in_long)) =
        by_slice.first_key_value().zip(by_slice.last_key_value())?;
    let enough = |ratios: &Values| ratios.values.len() >= FEWEST_ROUNDS as usize;
    let change =
        unpaired_ratio(in_long, in_short).filter(|_| enough(in_short) && enough(in_long))?;
    let matters = change.low > 1.0 + SAME || change.high * (1.0 + SAME) < 1.0;
    matters.then_some(())?;
    Some(FindingKind::RatioDependsOnSlices {
        short: *short,
        in_short: interval(&in_short.mean()?),
        long: *long,
        in_long: interval(&in_long.mean()?),
    })
}

/// Returns the ratios to the baseline by the number of operations of a slice.
fn by_slice(series: Series<'_>) -> BTreeMap<u64, Values> {
    let times = series.baseline().times();
    let mut by_slice = BTreeMap::<u64, Values>::new();
    for sample in series.samples() {
        let passes = sample.passes();
        let passes =
            passes.and_then(|passes| Some((passes.slice?, passes.copy.unwrap_or(0).into())));
        if let (Some((slice, copy)), Some(time)) = (passes, times.get(&sample.round)) {
            by_slice.entry(slice).or_default().push(sample.ns_per_operation() / 1e3 / time, copy);
        }
    }
    by_slice
}
