//! Charts of what only the runs of a sweep together show: ratios over the varied option, where they
//! cross 1, and which page size is best.

use std::collections::{BTreeMap, BTreeSet};

use checks::{OtherOptions, PageMatrix, Scaling, blob_size, page_matrices, scalings};
use model::Case;

use super::{
    Axis, Chart, Interval, Kind, Mark, Part, Side, Unit, cases, groups, measured, table_of,
    upright_axis,
};
use crate::{tables, words};

/// Returns a chart for each case with a group for each run; none over sizes, which are shown as
/// lines.
pub(crate) fn compared(part: &Part<'_>) -> Vec<Chart> {
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

/// The options that vary in addition to the size.
type Others = BTreeMap<String, String>;

/// Returns the charts of ratios over the size of blobs.
pub(crate) fn break_evens(part: &Part<'_>) -> Vec<Chart> {
    if !part.varies("size") {
        return vec![];
    }
    let records: Vec<_> = part.runs().map(|run| run.record).collect();
    let options = OtherOptions::new(records.iter().copied());
    let all: BTreeSet<_> = records.iter().map(|record| options.values(record)).collect();
    let cases = all.iter().flat_map(|varied| part.plan().cases().map(move |c| (c, varied)));
    cases.map(|(case, varied)| break_even(part, case, (&options, varied))).collect()
}

fn break_even(part: &Part<'_>, case: Case, (options, varied): (&OtherOptions, &Others)) -> Chart {
    let along = Axis::log("size of blobs", Unit::Bytes);
    let mut chart = Chart::lines("break-even", along, upright_axis(part)).around_one();
    let mut groups = groups(part, &[case], |run, _| run.varied());
    groups.retain(|group| options.values(group.run.record) == *varied);
    for (_, run, row) in measured(&groups) {
        let Some(size) = blob_size(run.record) else { continue };
        chart.on_line(run, row.target, size as f64, row.ratio);
    }
    mark(&mut chart, part, case, varied);
    let place = words::about(part.plan(), case, varied);
    let title = format!("Up to which size of blobs is each store faster than {}?", part.baseline());
    chart.described(title, READ_BREAK_EVEN, table_of(&groups, tables::times)).with_place(place)
}

/// Marks where the lines cross 1, and adds a sentence for each target.
fn mark(chart: &mut Chart, part: &Part<'_>, case: Case, varied: &Others) {
    for side in &part.sides {
        let evens = checks::break_evens(side.records).into_iter();
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

const READ_SCALING: &str = "Throughput of all clients together; a band is the 95 % interval. A line that rises \
                            by as much as the number of clients is ideal; null is a target that does \
                            nothing, so that a store near its line is limited by the clients.";

/// Returns the charts of throughput over the number of clients.
pub(crate) fn scaling(part: &Part<'_>) -> Vec<Chart> {
    let all: Vec<_> = part.sides.iter().map(|side| (side, scalings(side.records))).collect();
    let Some((_, first)) = all.first() else { return vec![] };
    let places = first.chunk_by(|one, next| (one.case, &one.others) == (next.case, &next.others));
    let of = |place: &[Scaling]| {
        let along = Axis::log("clients", Unit::Count);
        let mut chart =
            Chart::lines("scaling", along, Axis::log("operations a second", Unit::PerSecond));
        let mut tables = Vec::new();
        for (side, all) in &all {
            let is_here =
                |of: &&Scaling| (of.case, &of.others) == (place[0].case, &place[0].others);
            let here: Vec<_> = all.iter().filter(is_here).cloned().collect();
            for of in &here {
                for point in &of.points {
                    let name = side.on(&*of.target);
                    chart.point(Some(&of.target), &name, point.clients.into(), Some(point.rate));
                }
                chart.sentences.extend(tables::knee(of).map(|knee| side.on(knee)));
            }
            tables.push(tables::scaling(&side.records[0], &here));
        }
        let about = words::about(part.plan(), place[0].case, &place[0].others);
        chart
            .described("How many clients does each store serve?", READ_SCALING, tables)
            .with_place(about)
    };
    places.map(of).collect()
}

const READ_PAGES: &str = "Above 1 the store is faster than the baseline; a frame marks its best page size for each \
                          size of blobs.";

/// Returns the charts of the baseline's time divided by a store's, by page size and size of blobs.
pub(crate) fn page_sizes(part: &Part<'_>) -> Vec<Chart> {
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
        .with_place(place)
}
