//! The fastest store by size, if sizes were swept.

use checks::{TargetBreakEven, break_evens};
use model::{Plan, record::Record, units::show_size};

use super::{NAMED, display::name};
use crate::{sentences, tables::size, words};

/// Formats a line for each target that was swept over sizes: `read, warm, by size: SQLite up to
/// 70.0 kB (60.0 to 80.0 kB), then plain files.`
pub(super) fn by_size(runs: &[Record], plan: &Plan) -> Vec<String> {
    if plan.is_reference(plan.baseline) {
        return Vec::new();
    }
    let index = |label: &str| plan.targets.iter().position(|target| target.label == label);
    let mut evens = break_evens(runs);
    let is_store = |label: &str| index(label).is_some_and(|target| !plan.is_reference(target));
    evens.retain(|even| even.is_judged && is_store(&even.target));
    let lines = evens.iter().take(NAMED).map(|even| {
        let other = index(&even.target).unwrap_or(plan.baseline);
        line(plan, even, &[name(plan, other), name(plan, plan.baseline)])
    });
    let more = evens.len().saturating_sub(NAMED);
    lines.chain((more > 0).then(|| sentences::more_lines(more))).collect()
}

/// Formats one line; `names` has the target's name and the baseline's.
fn line(plan: &Plan, even: &TargetBreakEven, names: &[String; 2]) -> String {
    let case = words::about(plan, even.case, &even.others);
    let [least, most] = even.sizes.map(show_size);
    // The target is ahead of the baseline below the first crossing, or the other way round.
    let first = usize::from(!even.found.begins_below);
    let [ahead, behind] = [&names[first], &names[1 - first]];
    if even.found.crossings.is_empty() {
        return if even.found.refuted {
            sentences::at_all_sizes(case, ahead, behind, least, most)
        } else {
            sentences::at_most_sizes(case, ahead, behind, least, most)
        };
    }
    let ranges = even.found.crossings.iter().zip([ahead, behind].into_iter().cycle());
    let ranges = ranges.map(|(crossing, store)| {
        let low = crossing.low.map_or_else(|| sentences::below(&least), size);
        let high = crossing.high.map_or_else(|| sentences::above(&most), size);
        sentences::up_to_size(store, size(crossing.size), low, high)
    });
    let largest = [ahead, behind][even.found.crossings.len() % 2].clone();
    let ranges: Vec<_> = ranges.chain([largest]).collect();
    sentences::by_size(case, ranges.join(", then "))
}
