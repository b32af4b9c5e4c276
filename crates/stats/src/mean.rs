//! The mean of positive figures.

use crate::Estimate;
use crate::interval::estimate_from_logs;

/// The geometric mean of positive figures. `None` for no values, or for one that is not a
/// positive finite number. A single value has the interval from 0 to infinity.
///
/// The interval takes the values as independent. Drift over the rounds breaks that; a
/// [`paired_ratio`](crate::paired_ratio) does not mind it.
pub fn geometric_mean(values: &[f64]) -> Option<Estimate> {
    // The logarithm of anything but a positive finite number is not finite.
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    estimate_from_logs(&logs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_ten() {
        let mean = geometric_mean(&[1.0, 10.0, 100.0]).expect("values are positive");
        assert!((mean.point - 10.0).abs() < 1e-12);
        assert!((mean.low * mean.high - 100.0).abs() < 1e-9, "even on the log scale");
        assert_eq!(mean.n, 3);
    }

    #[test]
    fn one_value_says_nothing_of_its_spread() {
        let mean = geometric_mean(&[5.0]).expect("the value is positive");
        assert!((mean.point - 5.0).abs() < 1e-12);
        assert_eq!((mean.low, mean.high, mean.n), (0.0, f64::INFINITY, 1));
    }

    #[test]
    fn what_has_no_logarithm_has_no_mean() {
        assert_eq!(geometric_mean(&[]), None);
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(geometric_mean(&[1.0, wrong]), None, "{wrong}");
        }
    }
}
