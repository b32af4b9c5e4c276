//! The table of stores: what they take beside the time of operations.

use model::record::Record;

use super::{
    number::{NONE, figure_or_none},
    page::{Page, Paint},
    table::{Cell, Column, Side, Table},
    times::TARGET,
};
use crate::{Space, StoreFigures};

/// How sizes are told.
struct Measure {
    title: &'static str,
    unit: &'static str,
    of: fn(&Space) -> Option<f64>,
}

const PER_BYTE: Measure = Measure {
    title: "space: bytes of the store's files per byte of data",
    unit: "B/B",
    of: |space| space.per_byte,
};

const SIZE: Measure =
    Measure { title: "space: the store's files", unit: "MB", of: |space| Some(space.mb) };

pub(super) fn print(page: &mut Page, record: &Record, stores: &[StoreFigures]) {
    let spaces = || stores.iter().filter_map(|store| store.apparent);
    let uncounted = spaces().any(|space| space.per_byte.is_none());
    let measure = if uncounted { SIZE } else { PER_BYTE };
    let mut table = Table::new(columns(measure.unit));
    for (store, target) in stores.iter().zip(&record.header.plan.targets) {
        table.row(cells(&target.label, store, measure.of));
    }
    page.gap();
    page.paragraph("", measure.title, Paint::Bold);
    table.print(page);
}

fn columns(size: &'static str) -> Vec<Column> {
    vec![
        TARGET,
        Column::number("length", size),
        Column::number("on disk", size),
        Column::number("to fill", "s"),
        Column::number("to open", "ms"),
        Column { name: "durability", unit: "", side: Side::Left, gives: &[] },
    ]
}

fn cells(label: &str, store: &StoreFigures, size: fn(&Space) -> Option<f64>) -> Vec<Cell> {
    [
        label.to_owned(),
        figure_or_none(store.apparent.as_ref().and_then(size)),
        figure_or_none(store.allocated.as_ref().and_then(size)),
        figure_or_none(store.fill_s),
        figure_or_none(store.open_ms),
        store.durability.map_or_else(|| NONE.to_owned(), |class| class.to_string()),
    ]
    .iter()
    .map(Cell::new)
    .collect()
}
