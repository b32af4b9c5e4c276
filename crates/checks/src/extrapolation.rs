//! A sample of the data, of which some rounds touch half: how the ratio moves with the number of values,
//! and what it is on all of them.

use stats::{Estimate, unpaired_ratio};

use crate::series::{FEWEST_ROUNDS, Series};

/// A ratio that moves less is taken as the same.
const MOVES: f64 = 0.03;

/// The smallest number of rounds over half of a sample.
const FEWEST_HALVES: usize = 2;

/// Returns the factor by which the ratio to `baseline` is another one on all of the data, if it moves with
/// the number of values: as much for each doubling. `None` if it does not, or all data are measured.
pub(crate) fn factor(series: Series<'_>, baseline: Series<'_>) -> Option<f64> {
    let moved = moved(series, baseline)?;
    let factor = moved.point.powf(doublings(series)?);
    // Little for a doubling may be much for ten of them.
    (is_apart(&moved) || is_far(factor)).then_some(factor)
}

/// Returns how often the sample has to be doubled to be all of the data; `None` if it is all.
fn doublings(series: Series<'_>) -> Option<f64> {
    let experiment = &series.record.header.plan.experiment;
    let (all, summary) = (experiment.sampled_from()?, experiment.summary()?);
    Some((all.count as f64 / summary.count.max(1) as f64).log2())
}

/// Returns the ratio on the whole sample over that on half of it, if they are apart.
pub(crate) fn moves(series: Series<'_>, baseline: Series<'_>) -> Option<Estimate> {
    moved(series, baseline).filter(is_apart)
}

fn is_apart(moved: &Estimate) -> bool {
    moved.low > 1.0 || moved.high < 1.0 || is_far(moved.point)
}

fn is_far(factor: f64) -> bool {
    factor.ln().abs() > MOVES.ln_1p()
}

/// Returns the ratio on the whole sample over that on half of it, if there are rounds enough.
fn moved(series: Series<'_>, baseline: Series<'_>) -> Option<Estimate> {
    let halves = series.half().ratios_to(baseline.half());
    let whole = series.ratios_to(baseline);
    let enough =
        halves.values.len() >= FEWEST_HALVES && whole.values.len() >= FEWEST_ROUNDS as usize;
    unpaired_ratio(&whole, &halves).filter(|_| enough)
}
