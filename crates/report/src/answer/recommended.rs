//! What the recommendation of a run says.

use checks::{FEWEST_ROUNDS, Recommendation, Recommended, Taken, Undecided};
use model::{FindingKind, Plan, record::Record, units::exact_percent};

use super::{
    display::{name, opened, ratio_words, times_still},
    limits::given_up,
};
use crate::{number::factor, sentences, words};

/// Returns the sentences of a recommendation, the answer first.
pub(super) fn says(plan: &Plan, recommended: &Recommendation) -> Vec<String> {
    let Recommendation { choice, reads, not_measured } = recommended;
    let mut says = match choice {
        Recommended::Undecided(why) => {
            let least = plan.rounds.min.max(FEWEST_ROUNDS);
            // With enough rounds, what is missing is a part of the keys that may have the largest value.
            let few = |rounds| {
                if rounds < least as usize {
                    sentences::too_few_rounds(rounds, least)
                } else {
                    sentences::large_value_unread()
                }
            };
            let baseline = name(plan, plan.baseline);
            undecided(why, few, |target| name(plan, target), baseline)
        }
        Recommended::Keep => vec![sentences::keep(name(plan, plan.baseline))],
        Recommended::Take(taken) => taken_says(plan, taken),
    };
    if let (Recommended::Take(_), Some(reads)) = (choice, reads) {
        says.push(weighed(*reads));
    }
    if matches!(choice, Recommended::Undecided(Undecided::TooFewRounds { .. })) {
        return says;
    }
    let lacking: Vec<_> = not_measured.iter().map(|of| plan.workload_name(*of)).collect();
    says.extend(sentences::list(&lacking).map(sentences::not_measured));
    says
}

/// Says that the only store is compared with nothing; `None` if there are others, or none was asked for.
pub(super) fn without_rival(run: &Record) -> Option<String> {
    let plan = &run.header.plan;
    let [only] = &plan.targets[..] else { return None };
    let is_other = |label: &String| *label != only.label;
    let left_out = run.findings.iter().any(|finding| {
        matches!(finding.kind, FindingKind::NotUsable { .. })
            && finding.target.as_ref().is_some_and(is_other)
    });
    left_out.then(|| sentences::without_rival(name(plan, plan.baseline)))
}

/// Says why no store can be named yet, and which is the fastest so far. `few` makes the sentence on
/// too few rounds, `present` is the store that is compared with.
pub(crate) fn undecided(
    why: &Undecided,
    few: impl Fn(usize) -> String,
    name: impl Fn(usize) -> String,
    present: String,
) -> Vec<String> {
    let says = match why {
        Undecided::TooFewRounds { rounds, fastest } => {
            [Some(few(*rounds)), fastest.map(|fastest| sentences::fastest(name(fastest)))]
        }
        Undecided::NoDifference { fastest, ratio } => {
            let fastest = name(*fastest);
            let fastest = match ratio.as_ref().map(ratio_words) {
                None => sentences::fastest(fastest),
                Some([by, interval]) => sentences::fastest_by(fastest, by, present, interval),
            };
            [Some(sentences::no_difference()), Some(fastest)]
        }
    };
    says.into_iter().flatten().collect()
}

/// Describes the shares by which a store was chosen.
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
