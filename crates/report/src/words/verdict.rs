//! Verdicts in words.

use stats::Estimate;

use crate::{
    Judgement,
    number::{NONE, faster_or_slower},
};

/// What a ratio to the baseline says: `faster by 22 %`.
pub(crate) fn verdict(judgement: Judgement, ratio: Option<&Estimate>) -> String {
    match judgement {
        Judgement::Faster | Judgement::Slower => {
            return ratio.map_or_else(String::new, |ratio| faster_or_slower(ratio.point));
        }
        Judgement::Baseline => "baseline",
        Judgement::NoDifference => "no difference shown",
        Judgement::DurabilityDiffers => "durability differs",
        Judgement::TooFewRounds => "too few rounds",
        Judgement::StateNotReached => "state not reached",
        Judgement::NotMeasured => NONE,
    }
    .to_owned()
}

/// What a ratio to an older record says: `worse: slower by 10 %`.
pub(crate) fn change_verdict(judgement: Judgement, ratio: Option<&Estimate>) -> String {
    let words = verdict(judgement, ratio);
    match judgement {
        Judgement::Faster => format!("better: {words}"),
        Judgement::Slower => format!("worse: {words}"),
        Judgement::Baseline | Judgement::NotMeasured => "not measured".to_owned(),
        _ => words,
    }
}
