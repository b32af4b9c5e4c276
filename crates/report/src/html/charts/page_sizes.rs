//! The baseline's time over a store's, by page size and size of blobs.

use super::{Axis, Chart, Interval, Kind, Part, Side, Unit};
use crate::{PageMatrix, page_matrices, tables, words};

const READ: &str = "Above 1 the store is faster than the baseline; a frame marks its best page size for each \
                    size of blobs.";

pub(super) fn charts(part: &Part<'_>) -> Vec<Chart> {
    let of = |side: &Side<'_>| {
        let matrices = page_matrices(side.records).into_iter();
        matrices.map(|matrix| chart(part, side, &matrix)).collect::<Vec<_>>()
    };
    part.sides.iter().flat_map(of).collect()
}

fn chart(part: &Part<'_>, side: &Side<'_>, matrix: &PageMatrix) -> Chart {
    let baseline = part.baseline();
    let sizes = Axis::sizes("size of blobs", &matrix.sizes);
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
    let title = side.on(format!("Time of {baseline} ÷ that of {}: {place}", matrix.family));
    chart.described(title, READ, [tables::page_sizes(part.first().record, matrix)])
}
