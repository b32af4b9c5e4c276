//! When enough rounds have run, and how small a difference they can show.

use crate::{Estimate, estimate::NOMINAL_LEVEL, student::two_sided_t};

/// From this many rounds on the asked precision is enough. Before, an interval may well be narrow
/// by chance, so it must be narrower in proportion: after 6 rounds half of the precision. See
/// "When rounds stop" in `docs/method.md`.
const SETTLED_ROUNDS: usize = 12;

/// Rule for when rounds may stop: every estimate is precise enough for the rounds it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stopping {
    /// Never stop before this many rounds.
    pub min_rounds: usize,
    /// Half-width every interval is to have at most: 0.03 is ±3 %.
    pub precision: f64,
}

impl Stopping {
    /// Whether rounds may stop. No estimates never meet the rule.
    pub fn is_met<'a>(&self, estimates: impl IntoIterator<Item = &'a Estimate>) -> bool {
        let mut estimates = estimates.into_iter().peekable();
        estimates.peek().is_some() && estimates.all(|estimate| self.is_met_by(estimate))
    }

    fn is_met_by(&self, estimate: &Estimate) -> bool {
        estimate.n >= self.min_rounds && estimate.half_width() <= self.allowed(estimate.n)
    }

    fn allowed(&self, rounds: usize) -> f64 {
        self.precision * (rounds as f64 / SETTLED_ROUNDS as f64).min(1.0)
    }
}

/// The standard normal quantile at 0.9.
const Z_POWER: f64 = 1.281_552;

/// The smallest difference that `rounds` rounds as noisy as those of `ratio` show with a
/// probability of 90 %, as a share: 0.02 is a target that takes 2 % more time. Infinite where
/// fewer than two rounds show nothing.
///
/// A difference is shown when the interval excludes 1, that is when t exceeds its quantile. With a
/// true difference t follows the noncentral distribution; Abramowitz and Stegun 26.7.10 gives the
/// noncentrality at which it does so often enough.
pub fn detectable(ratio: &Estimate, rounds: usize) -> f64 {
    if ratio.n < 2 || rounds < 2 {
        return f64::INFINITY;
    }
    let df = (rounds - 1) as f64;
    let t = two_sided_t(NOMINAL_LEVEL, rounds - 1);
    let central = t * (1.0 - 1.0 / (4.0 * df));
    let spread = Z_POWER * (1.0 + t * t / (2.0 * df)).sqrt();
    ((central + spread) * log_spread(ratio) / (rounds as f64).sqrt()).exp_m1()
}

/// The standard deviation of the logarithms that an estimate of two or more was made from.
fn log_spread(estimate: &Estimate) -> f64 {
    let margin = (estimate.high / estimate.point).ln();
    margin * (estimate.n as f64).sqrt() / two_sided_t(NOMINAL_LEVEL, estimate.n - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Stopping = Stopping { min_rounds: 5, precision: 0.03 };

    fn within(half_width: f64, n: usize) -> Estimate {
        Estimate { point: 1.0, low: 1.0 - half_width, high: 1.0 + half_width, n }
    }

    #[test]
    fn every_estimate_must_be_precise() {
        assert!(RULE.is_met(&[within(0.029, 12), within(0.001, 12)]));
        assert!(!RULE.is_met(&[within(0.029, 12), within(0.031, 12)]));
        assert!(!RULE.is_met(&[within(0.031, 100)]));
    }

    #[test]
    fn few_rounds_must_be_more_precise() {
        assert!(RULE.is_met(&[within(0.014, 6)]));
        assert!(!RULE.is_met(&[within(0.016, 6)]));
    }

    #[test]
    fn too_few_rounds_are_never_enough() {
        assert!(!RULE.is_met(&[within(0.0, 4)]));
        assert!(RULE.is_met(&[within(0.0, 5)]));
        assert!(!Stopping { min_rounds: 1, ..RULE }.is_met(&[within(0.0, 1)]));
    }

    #[test]
    fn nothing_measured_is_not_precise() {
        assert!(!RULE.is_met(&[]));
    }

    use crate::paired_ratio;

    #[test]
    fn the_spread_comes_back_out_of_the_interval() {
        let logs = [0.01_f64, -0.02, 0.04, 0.0, -0.01];
        let times = logs.map(f64::exp);
        let ratio = paired_ratio(&times, &[1.0; 5]).expect("times are positive");
        let mean = logs.iter().sum::<f64>() / 5.0;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 4.0;
        assert!((log_spread(&ratio) - variance.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn more_rounds_show_less() {
        let ratio = paired_ratio(&[1.0, 1.1, 0.9, 1.05], &[1.0; 4]).expect("times are positive");
        let shares = [2, 5, 20, 80].map(|rounds| detectable(&ratio, rounds));
        assert!(shares.is_sorted_by(|more, less| more > less), "{shares:?}");
    }

    #[test]
    fn one_round_shows_nothing() {
        let one = paired_ratio(&[1.0], &[1.0]).expect("times are positive");
        assert!(detectable(&one, 10).is_infinite());
        let two = paired_ratio(&[1.0, 1.1], &[1.0, 1.0]).expect("times are positive");
        assert!(detectable(&two, 1).is_infinite());
    }
}
