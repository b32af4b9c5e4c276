//! What a ratio of times says.

use schemars::JsonSchema;
use serde::Serialize;
use stats::Estimate;

use crate::series::Series;

/// With fewer rounds the spread itself is a guess: Student's t for three degrees of freedom and
/// less is over 3, and an interval may be narrow because two or three rounds happened to agree.
pub const FEWEST_ROUNDS: u32 = 5;

/// What a ratio says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is what others are compared with.
    Baseline,
    /// The whole interval is below 1.
    Faster,
    /// The whole interval is above 1.
    Slower,
    /// The interval contains 1.
    NoDifference,
    /// It writes under another durability class: not the same work.
    DurabilityDiffers,
    /// The rounds are too few to judge by.
    TooFewRounds,
    /// No trial started in the cache state that was asked for.
    StateNotReached,
    /// One of both was not measured.
    NotMeasured,
}

impl Verdict {
    /// What `ratio` to the baseline says.
    pub(crate) fn of(series: Series<'_>, ratio: Option<&Estimate>) -> Self {
        if series.target == series.record.header.plan.baseline && series.is_measured() {
            return Self::Baseline;
        }
        let Some(ratio) = ratio else { return Self::without_ratio(series) };
        Self::between(series.baseline(), series, ratio)
    }

    /// What the time of a target over that in another run says; `old` is the baseline.
    pub fn of_change(old: Series<'_>, new: Series<'_>, ratio: Option<&Estimate>) -> Self {
        if let Some(ratio) = ratio {
            return Self::between(old, new, ratio);
        }
        match Self::without_ratio(old) {
            Self::StateNotReached => Self::StateNotReached,
            _ => Self::without_ratio(new),
        }
    }

    fn between(baseline: Series<'_>, series: Series<'_>, ratio: &Estimate) -> Self {
        let classes = series.durability().zip(baseline.durability());
        if series.writes() && classes.is_some_and(|(class, other)| class != other) {
            return Self::DurabilityDiffers;
        }
        if ratio.n < FEWEST_ROUNDS as usize {
            return Self::TooFewRounds;
        }
        match stats::verdict(ratio) {
            stats::Verdict::Faster => Self::Faster,
            stats::Verdict::Slower => Self::Slower,
            stats::Verdict::NoDifference => Self::NoDifference,
        }
    }

    fn without_ratio(series: Series<'_>) -> Self {
        if series.is_tried() && !series.is_measured() {
            Self::StateNotReached
        } else {
            Self::NotMeasured
        }
    }
}
