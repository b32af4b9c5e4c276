//! The baseline's time over a store's, by page size and size of blobs.

use model::units::show_size;

use crate::{
    PageMatrix,
    html::{
        chart::{Axis, Cell, Chart, Edge, Form, Interval, Unit},
        figure::Figure,
        machine::{Part, Side},
        table::{Column, Table},
        targets::Targets,
    },
    page_matrices,
    terminal::{
        number::{NONE, with_interval},
        sweep::about,
    },
};

const READ: &str = "Above 1 the store is faster than the baseline; marked is its best page size for \
                    each size of blobs.";

pub(super) fn figures(part: &Part<'_>, _: &Targets<'_>) -> Vec<Figure> {
    let of = |side| page_matrices(Side::records(side)).into_iter().map(move |m| (side, m));
    part.sides.iter().flat_map(of).map(|(side, matrix)| figure(part, side, &matrix)).collect()
}

fn figure(part: &Part<'_>, side: &Side<'_>, matrix: &PageMatrix) -> Figure {
    let plan = &part.first().header.plan;
    let baseline = plan.targets.get(plan.baseline).map_or("", |target| &target.label);
    let place = about(plan, matrix.case.workload, matrix.case.cache.as_str(), &matrix.beside);
    let title = part.on(format!("Time of {baseline} ÷ that of {}: {place}", matrix.family), side);
    let best = (0..matrix.sizes.len()).filter_map(|column| Some((column, matrix.best(column)?)));
    let form = Form::Matrix {
        x: edge("size of blobs", matrix.sizes.clone()),
        y: edge("page size", matrix.rows.iter().map(|(pages, _)| *pages).collect()),
        value: Axis::log(format!("time of {baseline} ÷ that of the store"), Unit::Ratio),
        cells: cells(matrix),
        best: best.collect(),
    };
    let table = table(matrix, &title);
    let chart = Chart { id: "pages".to_owned(), title, form };
    Figure { chart, read: READ.to_owned(), said: vec![], table }
}

fn edge(label: &str, values: Vec<u64>) -> Edge {
    Edge { label: label.to_owned(), unit: Unit::Bytes, values }
}

fn cells(matrix: &PageMatrix) -> Vec<Cell> {
    let rows = matrix.rows.iter().enumerate();
    let of_row = |(y, (_, ratios)): (usize, &(u64, Vec<Option<stats::Estimate>>))| {
        let told = ratios.iter().enumerate().filter_map(move |(x, ratio)| {
            let Interval { value, low, high } = Interval::from(ratio.as_ref()?);
            Some((x, y, value, low, high))
        });
        told.collect::<Vec<_>>()
    };
    rows.flat_map(of_row).collect()
}

fn table(matrix: &PageMatrix, title: &str) -> Table {
    let sizes = matrix.sizes.iter().map(|size| Column::number(show_size(*size), ""));
    let mut table =
        Table::new(title, [Column::text("page size")].into_iter().chain(sizes).collect());
    for (row, (pages, ratios)) in matrix.rows.iter().enumerate() {
        let cell = |(column, ratio): (usize, &Option<_>)| {
            let told = ratio.as_ref().map_or_else(|| NONE.to_owned(), with_interval);
            if matrix.best(column) == Some(row) { format!("{told}, best") } else { told }
        };
        let cells = ratios.iter().enumerate().map(cell);
        table.row([pages.to_string()].into_iter().chain(cells).collect());
    }
    table
}
