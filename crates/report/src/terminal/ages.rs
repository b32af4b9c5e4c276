//! The page of ageing: what reads and writes take at each age, and how the stores lie then.

use model::{Cache, Plan, record::Record};

use super::{
    number::{NONE, figure, figure_or_none, with_interval},
    page::{Page, Paint},
    table::{Cell, Column, Side, Table},
    times::{TARGET, compared, compared_columns, nothing},
};
use crate::{AgeGroup, AgeRow, AgeSpace, Figures, age_groups, age_spaces};

const AGE: Column = Column::number("age", "");

pub(super) fn print(page: &mut Page, record: &Record, figures: &[Figures]) {
    let plan = &record.header.plan;
    let about = "storage age: bytes of replaced objects ÷ bytes of live ones; sizes are drawn anew \
                 with each replacement, each write is committed by itself";
    page.paragraph("", about, Paint::Dim);
    for group in &age_groups(record, figures) {
        page.gap();
        page.paragraph("", &title(group), Paint::Bold);
        times(plan, group).print(page);
    }
    spaces(page, plan, &age_spaces(record));
}

pub(crate) fn title(group: &AgeGroup) -> String {
    if group.writes {
        return "writing: filling the store (age 0), then replacing, from one age to the next"
            .to_owned();
    }
    let cache = group.rows.first().map_or(Cache::Warm, |row| row.figures.case.cache);
    format!("reading all objects in random order, {cache}")
}

fn times(plan: &Plan, group: &AgeGroup) -> Table {
    let alone = plan.targets.len() == 1;
    let aged = group.rows.iter().any(|row| row.over_least.is_some());
    let mut columns =
        vec![AGE, TARGET, Column::number("time", "µs/object"), Column::number("rate", "MB/s")];
    columns.extend(aged.then_some(over_least(group)));
    columns.extend((!alone).then(compared_columns).into_iter().flatten());
    let mut table = Table::new(columns);
    for row in &group.rows {
        let mut cells = measured(plan, row, alone);
        cells.extend(aged.then(|| Cell::new(interval(row))));
        cells.extend((!alone).then(|| compared(&row.figures)).into_iter().flatten());
        table.row(cells);
    }
    table
}

/// Of writes, replacing for the first time: filling is other work.
fn over_least(group: &AgeGroup) -> Column {
    let unit = if group.writes { "first replacing" } else { "least age" };
    Column { name: "time ÷", unit, side: Side::Right, gives: &[usize::MAX, 15] }
}

fn interval(row: &AgeRow) -> String {
    row.over_least.as_ref().map_or_else(|| NONE.to_owned(), with_interval)
}

fn measured(plan: &Plan, row: &AgeRow, alone: bool) -> Vec<Cell> {
    let figures = &row.figures;
    let label = plan.targets.get(figures.target).map_or("", |target| &target.label);
    let time = figures.us_per_op.as_ref().map_or_else(
        || nothing(figures),
        |time| if alone { with_interval(time) } else { figure(time.point) },
    );
    let rate = figure_or_none(figures.mb_per_s.map(|rate| rate.point));
    [row.age.to_string(), label.to_owned(), time, rate].iter().map(Cell::new).collect()
}

fn spaces(page: &mut Page, plan: &Plan, spaces: &[AgeSpace]) {
    if spaces.is_empty() {
        return;
    }
    let mut table = Table::new(vec![
        AGE,
        TARGET,
        Column::number("length", "B/B"),
        Column::number("on disk", "B/B"),
        Column::number("files", ""),
        Column::number("pieces", "of all files"),
        Column::number("pieces", "of an object"),
        Column::number("free pages", "%"),
    ]);
    for space in spaces {
        let label = plan.targets.get(space.target).map_or("", |target| &target.label);
        let cells = [
            space.age.to_string(),
            label.to_owned(),
            figure_or_none(space.length_per_byte),
            figure_or_none(space.allocated_per_byte),
            figure(space.files),
            figure_or_none(space.extents),
            figure_or_none(space.per_object),
            figure_or_none(space.free.map(|share| share * 100.0)),
        ];
        table.row(cells.iter().map(Cell::new).collect());
    }
    page.gap();
    page.paragraph(
        "",
        "space: bytes of the store's files per byte that lives, and how they lie",
        Paint::Bold,
    );
    table.print(page);
    let told = "pieces: neighbouring blocks on the device count as one; an object's are those of its \
                own file, in a database its runs of neighbouring pages; –: not told";
    page.paragraph("  ", told, Paint::Dim);
}
