//! What the styles make of a store: inserting, over the baseline's store in the same style. How far
//! a ratio shrinks from text to bulk is how much of it was parsing and round trips.

use model::{PlannedTarget, record::Record, rows::Style};

use super::{TARGET, from_elsewhere};
use crate::{
    RowFigures, RowGroup,
    rows::without_style,
    terminal::{
        number::{NONE, with_interval},
        page::{Page, Paint},
        table::{Cell, Column, Side, Table},
    },
};

const STYLES: [Style; 4] = [Style::Text, Style::Prepared, Style::Multi, Style::Bulk];

pub(super) fn print(page: &mut Page, record: &Record, group: &RowGroup) {
    let plan = &record.header.plan;
    let Some(baseline) = plan.targets.get(plan.baseline) else { return };
    let comparable = || group.targets.iter().filter(|row| row.over_same_style.is_some());
    let mut stores: Vec<&PlannedTarget> = vec![];
    for row in comparable() {
        let target = &plan.targets[row.target];
        if !stores.iter().any(|store| same_store(store, target)) {
            stores.push(target);
        }
    }
    let in_style = |store: &PlannedTarget, style: Style| {
        comparable().find(|row| {
            let target = &plan.targets[row.target];
            same_store(store, target) && target.settings.get("style") == Some(style.as_str())
        })
    };
    // One style alone stands in the table of ratios.
    stores.retain(|store| STYLES.into_iter().filter(|s| in_style(store, *s).is_some()).count() > 1);
    if stores.is_empty() {
        return;
    }
    let mut table = Table::new(columns());
    for store in stores {
        let rows = STYLES.map(|style| in_style(store, style));
        let published = rows[0].and_then(|row| row.cells[0].published_ratio);
        let mut cells = vec![Cell::new(store_name(store)), from_elsewhere(published)];
        cells.extend(rows.map(|row| Cell::new(row.map_or_else(|| NONE.to_owned(), ratio))));
        table.row(cells);
    }
    page.gap();
    let name = store_name(baseline);
    page.paragraph("", &format!("inserting ÷ that of {name} in the same style"), Paint::Plain);
    table.print(page);
}

fn columns() -> Vec<Column> {
    let styles = STYLES.map(|style| Column {
        name: style.as_str(),
        unit: "",
        side: Side::Right,
        gives: &[usize::MAX, 13],
    });
    let mut columns = vec![TARGET, Column::number("publ.", "")];
    columns.extend(styles);
    columns
}

fn same_store(one: &PlannedTarget, other: &PlannedTarget) -> bool {
    one.engine == other.engine
        && one.location == other.location
        && without_style(&one.settings) == without_style(&other.settings)
}

/// Its label, without the style at the end.
fn store_name(target: &PlannedTarget) -> &str {
    let style = target.settings.get("style").unwrap_or_default();
    target.label.strip_suffix(style).unwrap_or(&target.label).trim_end()
}

fn ratio(row: &RowFigures) -> String {
    row.over_same_style.as_ref().map_or_else(|| NONE.to_owned(), with_interval)
}
