//! Ratios over the size of blobs, and where they cross 1.

use std::collections::{BTreeMap, BTreeSet};

use model::Case;

use super::{Axis, Chart, Mark, Part, Unit, groups, measured, table_of};
use crate::{
    break_evens,
    figures::sweep::{others, size},
    tables, words,
};

const READ: &str = "Below 1 a target is faster than the baseline. At the size where its line crosses 1, the \
                    baseline overtakes; that size has an interval of its own.";

/// What varies besides the size.
type Others = BTreeMap<String, String>;

pub(super) fn charts(part: &Part<'_>) -> Vec<Chart> {
    let sizes: BTreeSet<_> = part.runs().filter_map(|run| size(run.record)).collect();
    if sizes.len() < 2 {
        return vec![];
    }
    let all: BTreeSet<_> = part.runs().map(|run| others(run.record)).collect();
    let cases = all.iter().flat_map(|varied| part.plan().cases().map(move |c| (c, varied)));
    cases.map(|(case, varied)| chart(part, case, varied)).collect()
}

fn chart(part: &Part<'_>, case: Case, varied: &Others) -> Chart {
    let baseline = part.baseline();
    let along = Axis::log("size of blobs", Unit::Bytes);
    let value = Axis::log(format!("time ÷ that of {baseline}"), Unit::Ratio);
    let mut chart = Chart::lines("break-even", along, value).around_one();
    let mut groups = groups(part, &[case], |run, _| run.varied());
    groups.retain(|group| others(group.run.record) == *varied);
    for (_, run, row) in measured(&groups) {
        let Some(size) = size(run.record) else { continue };
        chart.on_line(run, row.target, size as f64, row.ratio);
    }
    mark(&mut chart, part, case, varied);
    let place = words::about(part.plan(), case, varied);
    let title = format!("Time ÷ that of {baseline}, by size of blobs: {place}");
    chart.described(title, READ, table_of(&groups, tables::times))
}

/// Marks where the lines cross 1, and says it in a sentence for each target.
fn mark(chart: &mut Chart, part: &Part<'_>, case: Case, varied: &Others) {
    for side in &part.sides {
        let evens = break_evens(side.records).into_iter();
        for even in evens.filter(|even| even.case == case && even.others == *varied) {
            let sentence = format!(
                "{}: {}",
                side.on(&even.target),
                tables::break_even(&even, part.baseline())
            );
            chart.marks.extend(even.found.crossings.iter().map(|crossing| Mark {
                target: even.target.clone(),
                label: sentence.clone(),
                at: crossing.size,
                low: crossing.low,
                high: crossing.high,
            }));
            chart.sentences.push(sentence);
        }
    }
}
