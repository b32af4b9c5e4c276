//! When enough rounds have run.

use crate::Estimate;

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
}
