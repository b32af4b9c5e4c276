//! The fastest store by size, if sizes were swept.

use checks::{TargetBreakEven, break_evens};
use model::{Plan, record::Record, units::show_size};

use super::{NAMED, display::name};
use crate::{tables::size, words};

/// Formats a line for each target that was swept over sizes: `read, warm, by size: SQLite up to
/// 70.0 kB (60.0 to 80.0 kB), then plain files.`
pub(super) fn by_size(runs: &[Record], plan: &Plan) -> Vec<String> {
    if plan.is_reference(plan.baseline) {
        return Vec::new();
    }
    let index = |label: &str| plan.targets.iter().position(|target| target.label == label);
    let mut evens = break_evens(runs);
    evens.retain(|even| index(&even.target).is_some_and(|target| !plan.is_reference(target)));
    let lines = evens.iter().take(NAMED).map(|even| {
        let other = index(&even.target).unwrap_or(plan.baseline);
        line(plan, even, &[name(plan, other), name(plan, plan.baseline)])
    });
    let more = evens.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("{more} more are in the tables."));
    lines.chain(more).collect()
}

/// Formats one line; `names` has the target's name and the baseline's.
fn line(plan: &Plan, even: &TargetBreakEven, names: &[String; 2]) -> String {
    let place = words::about(plan, even.case, &even.others);
    let [least, most] = even.sizes.map(show_size);
    // The target is ahead of the baseline below the first crossing, or the other way round.
    let mut ahead = usize::from(!even.found.begins_below);
    let mut line = format!("{place}, by size: {}", names[ahead]);
    for crossing in &even.found.crossings {
        let low = crossing.low.map_or_else(|| format!("below {least}"), size);
        let high = crossing.high.map_or_else(|| format!("above {most}"), size);
        ahead = 1 - ahead;
        let (at, next) = (size(crossing.size), &names[ahead]);
        line = format!("{line} up to {at} ({low} to {high}), then {next}");
    }
    if even.found.crossings.is_empty() {
        let unsure = if even.found.refuted { "" } else { ", not shown at some" };
        let other = &names[1 - ahead];
        line = format!("{line} before {other} at all sizes from {least} to {most}{unsure}");
    }
    line + "."
}
