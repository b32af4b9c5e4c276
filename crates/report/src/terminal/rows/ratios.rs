//! The table of ratios to the baseline, each with its interval, published ones beside.

use model::record::Record;

use super::{TARGET, from_elsewhere, label};
use crate::{
    Judgement, RowCell, RowGroup,
    terminal::{
        number::{NONE, with_interval},
        page::{Page, Paint},
        table::{Cell, Column, Table},
    },
};

pub(super) fn print(page: &mut Page, record: &Record, group: &RowGroup) {
    let plan = &record.header.plan;
    let Some(baseline) = plan.targets.get(plan.baseline) else { return };
    let published = group.targets.iter().flat_map(|row| &row.cells);
    let published = published.clone().any(|cell| cell.published_ratio.is_some());
    let mut columns = vec![TARGET];
    for name in ["insert ÷", "sum ÷", "update ÷"] {
        columns.push(Column::number(name, ""));
        columns.extend(published.then(|| Column::number("publ.", "")));
    }
    let mut table = Table::new(columns);
    for row in &group.targets {
        let mut cells = vec![label(record, row.target)];
        for cell in &row.cells {
            cells.push(ratio(cell));
            cells.extend(published.then(|| from_elsewhere(cell.published_ratio)));
        }
        table.row(cells);
    }
    page.gap();
    page.paragraph("", &format!("time ÷ that of {}", baseline.label), Paint::Plain);
    table.print(page);
}

/// Green and red only where the interval leaves out 1; a star where durability differs.
fn ratio(cell: &RowCell) -> Cell {
    let (mark, paint) = match cell.judgement {
        Judgement::DurabilityDiffers => ("*", Paint::Plain),
        Judgement::Faster => ("", Paint::Green),
        Judgement::Slower => ("", Paint::Red),
        _ => ("", Paint::Plain),
    };
    match (&cell.ratio, cell.judgement) {
        (Some(ratio), _) => Cell::new(format!("{mark}{}", with_interval(ratio))).painted(paint),
        (None, Judgement::Baseline) => Cell::new("1"),
        (None, _) => Cell::new(NONE),
    }
}
