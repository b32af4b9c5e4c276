//! What a ratio shows.

use std::fmt;

use serde::Serialize;

use crate::Estimate;

/// What the ratio of a target's times to the baseline's shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The whole interval is below 1.
    Faster,
    /// The whole interval is above 1.
    Slower,
    /// The interval contains 1. That is not a proof of equality.
    #[serde(rename = "no difference")]
    NoDifference,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifference => "no difference shown",
        })
    }
}

/// Judges a ratio of times.
pub fn verdict(ratio: &Estimate) -> Verdict {
    if ratio.high < 1.0 {
        Verdict::Faster
    } else if ratio.low > 1.0 {
        Verdict::Slower
    } else {
        Verdict::NoDifference
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(low: f64, high: f64) -> Verdict {
        verdict(&Estimate { point: (low * high).sqrt(), low, high, n: 5 })
    }

    #[test]
    fn the_whole_interval_must_agree() {
        assert_eq!(judged(0.90, 0.99), Verdict::Faster);
        assert_eq!(judged(1.01, 1.10), Verdict::Slower);
        assert_eq!(judged(0.90, 1.01), Verdict::NoDifference);
        assert_eq!(judged(0.0, f64::INFINITY), Verdict::NoDifference);
    }

    #[test]
    fn an_end_at_one_contains_one() {
        assert_eq!(judged(0.9, 1.0), Verdict::NoDifference);
        assert_eq!(judged(1.0, 1.1), Verdict::NoDifference);
    }
}
