//! The line of each case: its name, the fastest store, its time, and the ratio to the baseline with
//! its interval.

use checks::{Ahead, Lead, Verdict};
use model::{Case, Plan, record::Record};

use super::{
    NAMED,
    display::{duration, name, ratio_words},
};
use crate::{sentences, words};

/// Formats the line of a case: `read, warm: LMDB 1.13 µs, 4.1× faster than plain files (3.9 to
/// 4.3×)`.
pub(super) fn line(lead: &Lead<'_>) -> String {
    let plan = &lead.run.header.plan;
    let level: Vec<_> = lead.level.iter().map(|target| name(plan, *target)).collect();
    match words::listed(&level, NAMED) {
        stores if stores.is_empty() => result(plan, lead),
        stores if lead.ahead == Ahead::Same => sentences::also_same(result(plan, lead), stores),
        stores => sentences::also_fast(result(plan, lead), stores),
    }
}

fn result(plan: &Plan, lead: &Lead<'_>) -> String {
    let case = case_name(lead.run, lead.case);
    let baseline = name(plan, plan.baseline);
    let time = |target: usize| lead.us(target).map_or_else(String::new, duration);
    let alone = |target| sentences::case_alone(&case, name(plan, target), time(target));
    let ahead = |target, than: &str| {
        let Some(ratio) = lead.ratio else { return alone(target) };
        let [ratio, interval] = ratio_words(&ratio);
        sentences::case_ahead(&case, name(plan, target), time(target), ratio, than, interval)
    };
    match (lead.ahead, lead.next) {
        (Ahead::Target(target), _) => ahead(target, &baseline),
        (Ahead::Nearest(target), _) => {
            let is_limit = lead.ratio.is_some_and(|ratio| ratio.point >= 1.0);
            let what = if is_limit { "a limit of this machine" } else { "a reference" };
            ahead(target, &format!("{baseline}, {what}"))
        }
        (Ahead::Baseline, Some((next, ratio))) => {
            let [ratio, interval] = ratio_words(&ratio);
            let time = time(plan.baseline);
            sentences::case_next(case, baseline, time, name(plan, next), ratio, interval)
        }
        (Ahead::Baseline | Ahead::Same, _) => alone(plan.baseline),
        (Ahead::Open, Some((nearest, ratio))) => {
            let [ratio, interval] = ratio_words(&ratio);
            sentences::case_nearest(case, name(plan, nearest), ratio, baseline, interval)
        }
        (Ahead::Open, None) => sentences::case_open(case),
        (Ahead::Unknown(verdict), _) => sentences::case_unknown(case, why(lead, verdict)),
    }
}

/// Returns a case and what varies in this run: `read, warm, size=4k`.
pub(crate) fn case_name(run: &Record, case: Case) -> String {
    let about = [run.header.plan.case_name(case), words::varied(run)];
    words::joined(about, ", ").unwrap_or_default()
}

/// Describes why no target of a case is judged.
fn why(lead: &Lead<'_>, verdict: Verdict) -> &'static str {
    let has_baseline = lead.us(lead.run.header.plan.baseline).is_some();
    match verdict {
        Verdict::Saturated => "a store could not keep up with the rate",
        Verdict::TooFewRounds => "too few rounds",
        Verdict::StateNotReached => "the cache state was not reached",
        Verdict::DurabilityDiffers => "durability differs from that of the baseline",
        _ if !has_baseline => "the baseline was not measured",
        _ => "only one was measured",
    }
}
