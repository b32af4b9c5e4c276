//! What the recommendation of a run says.

use checks::{Recommendation, Recommended, Taken};
use model::{Plan, units::exact_percent};

use super::{
    display::{name, opened, ratio_words, times_still},
    limits::given_up,
};
use crate::{number::factor, sentences, words};

/// Returns the sentences of a recommendation, the answer first.
pub(super) fn says(plan: &Plan, recommended: &Recommendation) -> Vec<String> {
    let Recommendation { choice, reads, not_measured } = recommended;
    let mut says = match choice {
        Recommended::TooFewRounds { rounds, least, fastest } => {
            let fastest = fastest.map(|fastest| sentences::fastest(name(plan, fastest)));
            let few = sentences::too_few_rounds(rounds, least);
            return [few].into_iter().chain(fastest).collect();
        }
        Recommended::Open { fastest, ratio: None } => {
            vec![sentences::no_difference(), sentences::fastest(name(plan, *fastest))]
        }
        Recommended::Open { fastest, ratio: Some(ratio) } => {
            let [ratio, interval] = ratio_words(ratio);
            let [fastest, baseline] = [*fastest, plan.baseline].map(|target| name(plan, target));
            let fastest = sentences::fastest_by(fastest, ratio, baseline, interval);
            vec![sentences::no_difference(), fastest]
        }
        Recommended::Keep => vec![sentences::keep(name(plan, plan.baseline))],
        Recommended::Take(taken) => taken_says(plan, taken),
    };
    if let (Recommended::Take(_), Some(reads)) = (choice, reads) {
        says.push(weighed(*reads));
    }
    let lacking: Vec<_> = not_measured.iter().map(|of| plan.workload_name(*of)).collect();
    says.extend(sentences::list(&lacking).map(sentences::not_measured));
    says
}

/// Names the shares by which a store was chosen.
pub(crate) fn weighed(reads: f64) -> String {
    let [reads, updates] = [reads, 1.0 - reads].map(exact_percent);
    sentences::weighed(reads, updates)
}

/// Describes what the store gains, what a program gives up with it, and what is faster.
fn taken_says(plan: &Plan, taken: &Taken) -> Vec<String> {
    let target = |target: usize| &plan.targets[target];
    let gains = taken.gains.iter().map(|(workload, verdict, ratio)| {
        let verdict = words::verdict(*verdict, ratio.as_ref());
        sentences::gain(plan.workload_name(*workload), verdict)
    });
    let space = taken.space.map(|ratio| sentences::gain_of_space(factor(ratio)));
    let gains: Vec<_> = gains.chain(space).collect();
    let gains = gains.join(", ");
    let baseline = name(plan, plan.baseline);
    let gives_up = given_up(target(taken.target), target(plan.baseline));
    let faster = taken.faster.and_then(|(other, ratio)| {
        let [by, interval] = times_still(&ratio);
        let list = sentences::list(&given_up(target(other), target(taken.target)))?;
        Some(sentences::faster_still(name(plan, other), by, interval, list))
    });
    let variant = taken.variant.map(|(other, ratio)| {
        let [ratio, interval] = ratio_words(&ratio);
        let than = name(plan, taken.target);
        sentences::faster_with_settings(opened(plan, other), ratio, than, interval)
    });
    let take = sentences::take(opened(plan, taken.target), baseline, gains);
    let gives_up = sentences::list(&gives_up).map(sentences::gives_up);
    [Some(take), gives_up, faster, variant].into_iter().flatten().collect()
}
