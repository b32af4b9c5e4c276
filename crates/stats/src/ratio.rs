//! The ratio of two targets that ran in the same rounds.

use crate::Estimate;
use crate::interval::estimate_from_logs;

/// `numerator / denominator`, paired by round: what a round did to both cancels. `None` if the
/// lengths differ, if there are no values, or if one is not a positive finite number.
pub fn paired_ratio(numerator: &[f64], denominator: &[f64]) -> Option<Estimate> {
    if numerator.len() != denominator.len() {
        return None;
    }
    // Not the logarithm of the quotient: two negative times have a positive one.
    let logs: Vec<f64> =
        numerator.iter().zip(denominator).map(|(above, below)| above.ln() - below.ln()).collect();
    estimate_from_logs(&logs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 5] = [1.9, 2.2, 2.0, 2.5, 2.1];
    const B: [f64; 5] = [4.1, 4.0, 4.4, 4.7, 3.9];

    fn ratio(numerator: &[f64], denominator: &[f64]) -> Estimate {
        paired_ratio(numerator, denominator).expect("values are positive")
    }

    fn assert_close(left: Estimate, right: Estimate) {
        for (left, right) in
            [(left.point, right.point), (left.low, right.low), (left.high, right.high)]
        {
            assert!((left / right - 1.0).abs() < 1e-12, "{left} is not {right}");
        }
    }

    #[test]
    fn turning_the_ratio_turns_the_interval() {
        let there = ratio(&A, &B);
        let Estimate { point, low, high, n } = ratio(&B, &A);
        assert_close(there, Estimate { point: 1.0 / point, low: 1.0 / high, high: 1.0 / low, n });
    }

    #[test]
    fn what_a_round_does_to_both_cancels() {
        let drift = [1.0, 1.1, 1.4, 7.0, 0.3];
        let slowed = |times: &[f64]| -> Vec<f64> {
            times.iter().zip(drift).map(|(time, factor)| time * factor).collect()
        };
        assert_close(ratio(&A, &B), ratio(&slowed(&A), &slowed(&B)));
    }

    #[test]
    fn what_cannot_be_paired_has_no_ratio() {
        assert_eq!(paired_ratio(&A, &B[1..]), None);
        assert_eq!(paired_ratio(&[], &[]), None);
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(paired_ratio(&[1.0, wrong], &[1.0, 1.0]), None, "{wrong}");
            assert_eq!(paired_ratio(&[1.0, 1.0], &[1.0, wrong]), None, "{wrong}");
            assert_eq!(paired_ratio(&[1.0, wrong], &[1.0, wrong]), None, "{wrong} twice");
        }
    }
}
