//! Verdicts in words.

use stats::Estimate;

use crate::{
    Verdict,
    number::{NONE, faster_or_slower},
};

/// What a ratio to the baseline says: `faster by 22 %`.
pub(crate) fn verdict(verdict: Verdict, ratio: Option<&Estimate>) -> String {
    match verdict {
        Verdict::Faster | Verdict::Slower => {
            return ratio.map_or_else(String::new, |ratio| faster_or_slower(ratio.point));
        }
        Verdict::Baseline => "baseline",
        Verdict::NoDifference => "no difference shown",
        Verdict::DurabilityDiffers => "durability differs",
        Verdict::TooFewRounds => "too few rounds",
        Verdict::StateNotReached => "state not reached",
        Verdict::NotMeasured => NONE,
    }
    .to_owned()
}

/// What a ratio to an older record says: `worse: slower by 10 %`.
pub(crate) fn change_verdict(verdict: Verdict, ratio: Option<&Estimate>) -> String {
    let words = self::verdict(verdict, ratio);
    match verdict {
        Verdict::Faster => format!("better: {words}"),
        Verdict::Slower => format!("worse: {words}"),
        Verdict::Baseline | Verdict::NotMeasured => "not measured".to_owned(),
        _ => words,
    }
}
