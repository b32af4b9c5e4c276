//! What only the runs of a sweep show together: ratios over what varies, where they cross 1, and
//! which page size is best.

use std::collections::{BTreeMap, BTreeSet};

use model::Case;

use super::{
    Axis, Chart, Interval, Kind, Mark, Part, Side, Unit, cases, groups, measured, ratio_axis,
    table_of,
};
use crate::{
    PageMatrix,
    figures::sweep::{others, size},
    page_matrices, tables, words,
};

/// For each case a chart with a group for each run. Over sizes they are lines.
pub(super) fn compared(part: &Part<'_>) -> Vec<Chart> {
    let of = |case: Case| {
        let groups = groups(part, &[case], |run, _| run.varied());
        cases::comparison(part, &part.first().case(case), &groups)
    };
    let by_size = part.varies("size") && !part.is_alone();
    part.plan().cases().filter(|_| !by_size).map(of).collect()
}

const READ_BREAK_EVEN: &str = "Below 1 a store is faster than the baseline; a band is the 95 % interval. At the size \
                               where its line crosses 1, the baseline overtakes; that size has an interval of \
                               its own.";

/// What varies besides the size.
type Others = BTreeMap<String, String>;

/// Ratios over the size of blobs.
pub(super) fn break_evens(part: &Part<'_>) -> Vec<Chart> {
    if !part.varies("size") {
        return vec![];
    }
    let all: BTreeSet<_> = part.runs().map(|run| others(run.record)).collect();
    let cases = all.iter().flat_map(|varied| part.plan().cases().map(move |c| (c, varied)));
    cases.map(|(case, varied)| break_even(part, case, varied)).collect()
}

fn break_even(part: &Part<'_>, case: Case, varied: &Others) -> Chart {
    let along = Axis::log("size of blobs", Unit::Bytes);
    let mut chart = Chart::lines("break-even", along, ratio_axis(part)).around_one();
    let mut groups = groups(part, &[case], |run, _| run.varied());
    groups.retain(|group| others(group.run.record) == *varied);
    for (_, run, row) in measured(&groups) {
        let Some(size) = size(run.record) else { continue };
        chart.on_line(run, row.target, size as f64, row.ratio);
    }
    mark(&mut chart, part, case, varied);
    let place = words::about(part.plan(), case, varied);
    let title = format!("Up to which size of blobs is each store faster than {}?", part.baseline());
    chart.described(title, READ_BREAK_EVEN, table_of(&groups, tables::times)).of(place)
}

/// Marks where the lines cross 1, and says it in a sentence for each target.
fn mark(chart: &mut Chart, part: &Part<'_>, case: Case, varied: &Others) {
    for side in &part.sides {
        let evens = crate::break_evens(side.records).into_iter();
        for even in evens.filter(|even| even.case == case && even.others == *varied) {
            let crossing = tables::break_even(&even, part.baseline());
            let sentence = format!("{}: {crossing}", side.on(&even.target));
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

const READ_PAGES: &str = "Above 1 the store is faster than the baseline; a frame marks its best page size for each \
                          size of blobs.";

/// The baseline's time over a store's, by page size and size of blobs.
pub(super) fn page_sizes(part: &Part<'_>) -> Vec<Chart> {
    let of = |side: &Side<'_>| {
        let matrices = page_matrices(side.records).into_iter();
        matrices.map(|matrix| pages(part, side, &matrix)).collect::<Vec<_>>()
    };
    part.sides.iter().flat_map(of).collect()
}

fn pages(part: &Part<'_>, side: &Side<'_>, matrix: &PageMatrix) -> Chart {
    let baseline = part.baseline();
    let names = matrix.sizes.iter().map(u64::to_string).collect();
    let sizes = Axis { names, ..Axis::linear("size of blobs", Unit::Bytes) };
    let ratio = Axis::log(format!("time of {baseline} ÷ that of the store"), Unit::Ratio);
    let mut chart = Chart::new("pages", Kind::Matrix, sizes, ratio);
    chart.rows = "page size";
    for (row, (pages, ratios)) in matrix.rows.iter().enumerate() {
        for (column, ratio) in ratios.iter().enumerate() {
            let best = (matrix.best(column) == Some(row)).then(|| "the best".to_owned());
            let ratio = ratio.map(|ratio| Interval::from(ratio).noted(best));
            chart.point(None, &pages.to_string(), column as f64, ratio);
        }
    }
    let place = words::about(part.plan(), matrix.case, &matrix.others);
    let place = side.on(format!("{}, {place}", matrix.family));
    let table = tables::page_sizes(part.first().record, matrix);
    chart
        .described("Which page size is best for which size of blobs?", READ_PAGES, [table])
        .of(place)
}
