//! The table of times and ratios.

use model::record::Record;
use stats::Estimate;

use super::{TARGET, from_elsewhere, label};
use crate::{
    QueueFigures,
    terminal::{
        bar::Scale,
        number::{NONE, figure, with_interval},
        page::Page,
        table::{Cell, Column, Table},
        times::{compared, compared_columns},
    },
};

pub(super) fn print(page: &mut Page, record: &Record, rows: &[QueueFigures], published: bool) {
    let alone = record.header.plan.targets.len() == 1;
    let mut columns = vec![TARGET, Column::number("time", "ms/task")];
    columns.extend(published.then(|| Column::number("publ.", "")));
    columns.push(Column::number("tasks", "/s"));
    let scale = Scale::of(rows.iter().map(|row| row.figures.ratio.as_ref()));
    let bar = scale.column(page).filter(|_| !alone);
    let gladly = bar.iter().map(|_| columns.len() + 1).collect();
    if !alone {
        let [ratio, verdict] = compared_columns();
        columns.push(ratio);
        columns.extend(bar);
        columns.extend(published.then(|| Column::number("publ.", "")));
        columns.push(verdict);
    }
    let mut table = Table::new(columns).sparing(gladly, vec![]);
    for row in rows {
        let time = row.figures.us_per_op.map(in_ms);
        let shown = |time: Estimate| if alone { with_interval(&time) } else { figure(time.point) };
        let mut cells = vec![label(record, row)];
        cells.push(Cell::new(time.map_or_else(|| NONE.to_owned(), shown)));
        cells.extend(published.then(|| from_elsewhere(row.published_ms)));
        cells.push(Cell::new(time.map_or_else(|| NONE.to_owned(), |t| figure(1e3 / t.point))));
        if !alone {
            let [ratio, verdict] = compared(&row.figures);
            cells.push(ratio);
            cells.extend(scale.cell(page, row.figures.ratio.as_ref()));
            cells.extend(published.then(|| from_elsewhere(row.published_ratio)));
            cells.push(verdict);
        }
        table.row(cells);
    }
    page.gap();
    table.print(page);
}

fn in_ms(us: Estimate) -> Estimate {
    Estimate { point: us.point / 1e3, low: us.low / 1e3, high: us.high / 1e3, ..us }
}
