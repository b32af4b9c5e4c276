//! The table of latencies, of each kind of step.

use model::{record::Record, tasks::Step};

use super::{TARGET, label};
use crate::{
    Percentiles, QueueFigures,
    terminal::{
        number::figure_or_none,
        page::{Page, Paint},
        table::{Cell, Column, Table},
    },
};

const COLUMNS: [[Column; 2]; 4] = [
    [Column::number("create", "p50"), Column::number("", "p99")],
    [Column::number("status", "p50"), Column::number("", "p99")],
    [Column::number("rewrite", "p50"), Column::number("", "p99")],
    [Column::number("delete", "p50"), Column::number("", "p99")],
];

pub(super) fn print(page: &mut Page, record: &Record, rows: &[QueueFigures]) {
    if rows.iter().all(|row| row.steps.is_empty()) {
        return;
    }
    let columns = [TARGET].into_iter().chain(COLUMNS.into_iter().flatten());
    let columns = columns.chain([Column::number("any", "max")]);
    let mut table = Table::new(columns.collect());
    for row in rows {
        let ms = |step: Step, of: fn(&Percentiles) -> f64| {
            Cell::new(figure_or_none(row.steps.get(&step).map(|p| of(p) / 1e3)))
        };
        let mut cells = vec![label(record, row)];
        for step in Step::ALL {
            cells.extend([ms(step, |p| p.p50_us), ms(step, |p| p.p99_us)]);
        }
        let most = row.steps.values().map(|p| p.max_us / 1e3).reduce(f64::max);
        cells.push(Cell::new(figure_or_none(most)));
        table.row(cells);
    }
    page.gap();
    page.paragraph("", "how long each step takes in its worker, ms", Paint::Plain);
    table.print(page);
}
