//! Stores take turns in slices of some operations. In longer slices more of a store's data stays in the
//! processor's caches, so that the ratio may depend on their length. This checks that it does not.

use std::collections::BTreeMap;

use model::FindingKind;
use stats::{SAME, Values, unpaired_ratio};

use crate::{
    series::{FEWEST_ROUNDS, Series},
    sizes::interval,
};

/// Returns a finding if the ratio in the longest slices differs from that in the shortest by more than
/// [`SAME`]; `None` if either has fewer than [`FEWEST_ROUNDS`] rounds.
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

/// Groups the ratios to the baseline of the same round by the operations of a slice, each with the number
/// of the store's copy that was measured.
fn by_slice(series: Series<'_>) -> BTreeMap<u64, Values> {
    let times = series.baseline().times();
    let mut by_slice = BTreeMap::<u64, Values>::new();
    for sample in series.samples() {
        let passes = sample.passes();
        let passes =
            passes.and_then(|passes| Some((passes.slice?, passes.copy.unwrap_or(0).into())));
        if let (Some((slice, copy)), Some(time)) = (passes, times.get(&sample.round)) {
            let us = sample.ns_per_operation() / 1e3;
            by_slice.entry(slice).or_default().push(us / time, copy);
        }
    }
    by_slice
}
