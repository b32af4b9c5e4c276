//! The number of independent values that carry as much information as correlated ones.

/// The smallest number of values that shows how they are correlated.
pub(crate) const FEWEST: usize = 12;
/// The largest correlation that many values are taken to have. A short series does not show more: with a
/// larger limit a few rounds in a row that happened to agree would make its interval useless. By simulation.
const MOST: f64 = 0.7;

/// The correlation of neighbours that fewer values than [`FEWEST`] are taken to have, as they do not show
/// their own, and a few more at most: the strongest one under which verdicts of more values are right.
pub(crate) const ASSUMED: f64 = 0.6;

/// Returns the correlation that `n` values are taken to have at most. By simulation: with the lower one for
/// all, 6 % of tables of 60 rounds that are correlated by 0.6 have a false verdict.
pub(crate) fn largest(n: usize) -> f64 {
    if n < 2 * FEWEST { ASSUMED } else { MOST }
}

/// Returns the variance of the mean of `n` values, divided by the variance that they show, and its degrees
/// of freedom (F. E. Satterthwaite, "An approximate distribution of estimates of variance components",
/// Biometrics Bulletin 2, 1946), if each has `kept` so much of the deviation of the one before.
///
/// Such values are closer to each other than to their true mean, so that their spread is too small as
/// well. With `V` their correlations and `C` the matrix that subtracts the mean, the expected spread
/// is `tr(C V) / (n - 1)`, and its degrees of freedom are `tr(C V)² / tr(C V C V)`. Both traces follow from
/// the sums of `V`, of its squares and of its rows.
pub(crate) fn of_correlated(n: usize, kept: f64) -> (f64, f64) {
    let all = n as f64;
    let power = |of: f64, i: usize| of.powf(i as f64);
    let sum = |of| all + 2.0 * (1..n).map(|i| (all - i as f64) * power(of, i)).sum::<f64>();
    let row = |i| (2.0 - power(kept, i + 1) - power(kept, n - i)) / (1.0 - kept) - 1.0;
    let of_all = sum(kept) / all;
    let trace = all - of_all;
    let of_rows = (0..n).map(|i| row(i).powi(2)).sum::<f64>() / all;
    let trace_of_square = sum(kept.powi(2)) - 2.0 * of_rows + of_all.powi(2);
    (of_all / all / (trace / (all - 1.0)), trace.powi(2) / trace_of_square)
}

/// Returns the number of independent values whose mean varies as much as that of `values`, taken as
/// a process in which each depends on the one before: `n (1 - r) / (1 + r)`. It is at most the
/// number of values, and at least two.
///
/// With strong correlation 40 values carry the information of a few. The correlation of neighbours
/// comes out too small in short series, by about `(1 + 3r) / n` (M. G. Kendall, "Note on bias in
/// the estimation of autocorrelation", Biometrika 41, 1954), and a run stops when it happens to:
/// three more parts of `1 / n` correct that, by simulation.
pub(crate) fn independent(values: &[f64], mean: f64, squares: f64) -> f64 {
    let n = values.len() as f64;
    if values.len() < FEWEST || squares == 0.0 {
        return n;
    }
    let products: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let r = ((n * products / squares + 4.0) / (n - 6.0)).clamp(0.0, MOST);
    n * (1.0 - r) / (1.0 + r)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{mean, squares};

    fn of(values: &[f64]) -> f64 {
        let mean = mean(values);
        independent(values, mean, squares(values, mean))
    }

    #[test]
    fn values_that_alternate_count_in_full_and_steps_count_once() {
        let alternating: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        assert!((of(&alternating) - 40.0).abs() < 1e-12);
        let steps: Vec<f64> = (0..40).map(|i| f64::from(i / 10 % 2)).collect();
        assert!((of(&steps) - 40.0 * 0.3 / 1.7).abs() < 1e-9, "{}", of(&steps));
    }

    /// Four neighbours are equal and seven differ: r1 is (4 - 7) / 12, r is (-3 + 4) / 6.
    #[test]
    fn the_correlation_of_a_short_series_is_corrected() {
        let values = [0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0];
        assert!((of(&values) - 12.0 * (5.0 / 6.0) / (7.0 / 6.0)).abs() < 1e-12, "{}", of(&values));
    }

    /// Two values: the mean varies by (1 + r) / 2, the spread shows 1 - r.
    #[test]
    fn few_values_are_taken_as_correlated() {
        let (share, freedom) = of_correlated(2, ASSUMED);
        assert!((share - f64::midpoint(1.0, ASSUMED) / (1.0 - ASSUMED)).abs() < 1e-12, "{share}");
        assert!((freedom - 1.0).abs() < 1e-12, "{freedom}");
        let all = (2..FEWEST).map(|n| of_correlated(n, ASSUMED)).collect::<Vec<_>>();
        assert!(all.is_sorted_by(|few, more| few.0 > more.0 && few.1 < more.1), "{all:?}");
    }

    #[test]
    fn few_or_equal_values_count_in_full() {
        assert!((of(&[1.0, 2.0, 3.0, 4.0]) - 4.0).abs() < 1e-12);
        assert!((of(&[1.0; 30]) - 30.0).abs() < 1e-12);
    }

    #[test]
    fn two_are_left_of_a_short_straight_line() {
        let line: Vec<f64> = (0..12).map(f64::from).collect();
        assert!((of(&line) - 12.0 * 0.3 / 1.7).abs() < 1e-12);
    }
}
