//! The table of ratios within each file system, where there are several.

use std::collections::BTreeSet;

use model::record::Record;

use super::{TARGET, from_elsewhere, label};
use crate::{
    QueueFigures,
    terminal::{
        number::with_interval,
        page::{Page, Paint},
        table::{Cell, Column, Table},
    },
};

pub(super) fn print(page: &mut Page, record: &Record, rows: &[QueueFigures]) {
    let plan = &record.header.plan;
    let sites: BTreeSet<_> = plan.targets.iter().map(|target| &target.on).collect();
    let compared: Vec<_> =
        rows.iter().filter_map(|row| Some((row, row.over_same_site.as_ref()?))).collect();
    let Some(baseline) = plan.targets.get(plan.baseline) else { return };
    if sites.len() < 2 || compared.is_empty() {
        return;
    }
    let published = compared.iter().any(|(_, (_, published))| published.is_some());
    let mut columns = vec![TARGET, Column::number("time ÷", "")];
    columns.extend(published.then(|| Column::number("publ.", "")));
    let mut table = Table::new(columns);
    for (row, (ratio, of)) in compared {
        let mut cells = vec![label(record, row), Cell::new(with_interval(ratio))];
        cells.extend(published.then(|| from_elsewhere(*of)));
        table.row(cells);
    }
    let on = baseline.on.as_ref().map_or_else(String::new, |on| format!(" on {on}"));
    let name = baseline.label.strip_suffix(&on).unwrap_or(&baseline.label);
    page.gap();
    page.paragraph("", &format!("time ÷ that of {name} on the same file system"), Paint::Plain);
    table.print(page);
}
