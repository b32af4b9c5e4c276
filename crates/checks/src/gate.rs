//! A limit on how much longer a target may take than another, or than before.

use serde::Serialize;
use stats::Estimate;

/// The verdict of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// No time is longer by more than the limit.
    Pass,
    /// A time is longer by more than the limit.
    Fail,
    /// The interval contains the limit, or nothing is judged.
    Undecided,
}

impl Gate {
    /// Judges whether a ratio of times is above 1 by more than `share`, with its whole interval.
    pub fn judge(ratio: &Estimate, share: f64) -> Self {
        match ratio {
            Estimate { low, .. } if *low > 1.0 + share => Self::Fail,
            Estimate { high, .. } if *high <= 1.0 + share => Self::Pass,
            _ => Self::Undecided,
        }
    }

    /// Judges several changes together: fails if one fails, and is undecided if one is, or if there
    /// is none.
    pub fn joint(changes: impl IntoIterator<Item = Self>) -> Self {
        let all: Vec<_> = changes.into_iter().collect();
        let worst = [Self::Fail, Self::Undecided].into_iter().find(|gate| all.contains(gate));
        worst.unwrap_or(if all.is_empty() { Self::Undecided } else { Self::Pass })
    }
}
