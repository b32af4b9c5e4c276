//! The line of each case, in a fixed form: its name, the fastest store, its time, and the ratio to
//! the baseline with its interval.

use model::Plan;
use stats::Estimate;

use super::{
    NAMED,
    display::{duration, faster, name},
    lead::{Ahead, Lead},
};
use crate::words::listed;

/// Formats the line of a case: `read, warm: LMDB 1.13 µs, 4.1× faster than plain files (3.9 to
/// 4.3×)`.
pub(super) fn line(lead: &Lead<'_>) -> String {
    let plan = &lead.run.header.plan;
    format!("{}: {}{}", lead.place, result(plan, lead), level(plan, lead))
}

fn result(plan: &Plan, lead: &Lead<'_>) -> String {
    let baseline = name(plan, plan.baseline);
    let timed = |target: usize| match lead.us(target) {
        Some(us) => format!("{} {}", name(plan, target), duration(us)),
        None => name(plan, target),
    };
    let ratio =
        |than: &str| lead.ratio.map_or_else(String::new, |r| format!(", {}", faster(&r, than)));
    match lead.ahead {
        Ahead::Target(target) => timed(target) + &ratio(&baseline),
        Ahead::Nearest(target) => {
            let is_limit = lead.ratio.is_some_and(|ratio| ratio.point >= 1.0);
            let what = if is_limit { "a limit of this machine" } else { "a reference" };
            timed(target) + &ratio(&format!("{baseline}, {what}"))
        }
        Ahead::Baseline => {
            let next = lead.next.map(|(target, ratio)| next(plan, target, &ratio));
            timed(plan.baseline) + &next.unwrap_or_default()
        }
        Ahead::Same => timed(plan.baseline),
        Ahead::Open => {
            let nearest = lead.next.map(|(target, ratio)| {
                format!("; {} {}", name(plan, target), faster(&ratio, &baseline))
            });
            format!("no difference shown{}", nearest.unwrap_or_default())
        }
        Ahead::Unknown(why) => format!("no store can be named, {why}"),
    }
}

fn next(plan: &Plan, target: usize, ratio: &Estimate) -> String {
    format!("; next: {}, {}", name(plan, target), faster(ratio, ""))
}

/// Returns the end of the line that names the stores which are not clearly apart from the fastest
/// one; empty if there are none.
fn level(plan: &Plan, lead: &Lead<'_>) -> String {
    let names: Vec<_> = lead.level.iter().map(|target| name(plan, *target)).collect();
    let what = if lead.ahead == Ahead::Same { "the same within ±3 %" } else { "may be as fast" };
    if names.is_empty() { String::new() } else { format!("; {what}: {}", listed(&names, NAMED)) }
}
