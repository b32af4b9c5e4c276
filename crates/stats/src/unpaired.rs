//! The ratio of two samples that have no rounds in common.

use crate::{
    Estimate,
    interval::{NOMINAL_LEVEL, mean},
    student::two_sided_t,
};

/// The geometric mean of `numerator` over that of `denominator`, each of rounds of its own. `None`
/// for no values, or for one that is not a positive finite number. The number of rounds is that of
/// the shorter one; of a single round nothing is known of its spread.
///
/// What a round does to both does not cancel here, and the values of each are taken as independent:
/// [`paired_ratio`](crate::paired_ratio) is better wherever it can be had. The interval is Welch's
/// (B. L. Welch, "The generalization of 'Student's' problem when several different population
/// variances are involved", Biometrika 34, 1947), on logarithms, with the whole degrees of freedom.
pub fn unpaired_ratio(numerator: &[f64], denominator: &[f64]) -> Option<Estimate> {
    let (above, below) = (Logs::of(numerator)?, Logs::of(denominator)?);
    let difference = above.mean - below.mean;
    let margin = margin(&above, &below);
    Some(Estimate {
        point: difference.exp(),
        low: (difference - margin).exp(),
        high: (difference + margin).exp(),
        n: numerator.len().min(denominator.len()),
    })
}

/// The mean of logarithms, and the variance of that mean.
struct Logs {
    mean: f64,
    variance: f64,
    freedom: f64,
}

impl Logs {
    fn of(values: &[f64]) -> Option<Self> {
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        if logs.is_empty() || !logs.iter().all(|log| log.is_finite()) {
            return None;
        }
        let (n, mean) = (logs.len() as f64, mean(&logs));
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        let variance = if logs.len() < 2 { f64::INFINITY } else { squares / (n - 1.0) / n };
        Some(Self { mean, variance, freedom: n - 1.0 })
    }
}

/// Half of the interval's width, on the logarithmic scale.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "degrees of freedom lie between 1 and the number of rounds"
)]
fn margin(above: &Logs, below: &Logs) -> f64 {
    let variance = above.variance + below.variance;
    if variance == 0.0 || !variance.is_finite() {
        return variance;
    }
    let part = |logs: &Logs| (logs.variance / variance).powi(2) / logs.freedom;
    let freedom = 1.0 / (part(above) + part(below));
    // It may have lost a little to rounding.
    two_sided_t(NOMINAL_LEVEL, (freedom + 1e-9).max(1.0) as usize) * variance.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student's sleep data, as in `interval.rs`, here as two groups.
    const FIRST: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    const SECOND: [f64; 10] = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

    fn ratio(numerator: &[f64], denominator: &[f64]) -> Estimate {
        unpaired_ratio(numerator, denominator).expect("values are positive")
    }

    /// R prints t = -1.8608 and df = 17.776 for `t.test(extra ~ group, data = sleep)`.
    #[test]
    fn agrees_with_students_sleep_data() {
        let [first, second] = [FIRST, SECOND].map(|logs| logs.map(f64::exp));
        let found = ratio(&first, &second);
        assert!((found.point.ln() + 1.58).abs() < 1e-9);
        let error = 1.58 / 1.8608;
        let margin = (found.high / found.point).ln();
        assert!((margin / (two_sided_t(NOMINAL_LEVEL, 17) * error) - 1.0).abs() < 1e-4, "{margin}");
    }

    #[test]
    fn turning_the_ratio_turns_the_interval() {
        let (a, b) = ([1.9, 2.2, 2.0, 2.5, 2.1], [4.1, 4.0, 4.4]);
        let (there, back) = (ratio(&a, &b), ratio(&b, &a));
        assert!((there.low * back.high - 1.0).abs() < 1e-12);
        assert!((there.high * back.low - 1.0).abs() < 1e-12);
        assert_eq!((there.n, back.n), (3, 3));
    }

    #[test]
    fn a_single_round_says_nothing_of_its_spread() {
        let found = ratio(&[2.0], &[1.0, 1.1, 0.9]);
        assert_eq!((found.low, found.high, found.n), (0.0, f64::INFINITY, 1));
    }

    #[test]
    fn equal_values_have_no_width() {
        let found = ratio(&[2.0; 5], &[1.0; 6]);
        assert!(found.half_width().abs() < 1e-12 && (found.point - 2.0).abs() < 1e-12);
    }

    #[test]
    fn what_has_no_logarithm_has_no_ratio() {
        assert_eq!(unpaired_ratio(&[], &[1.0]), None);
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(unpaired_ratio(&[1.0, wrong], &[1.0]), None, "{wrong}");
            assert_eq!(unpaired_ratio(&[1.0], &[wrong, 1.0]), None, "{wrong}");
        }
    }
}
