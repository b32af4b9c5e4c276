//! The page of a sweep: its runs side by side, and what only all of them show.

use std::{collections::BTreeMap, time::Duration};

use model::{
    Plan,
    record::Record,
    units::{show_duration, show_size},
};
use stats::Crossing;

use super::{
    Page,
    bar::{self, Scale},
    doubts, head,
    number::{NONE, figure_or_none, with_interval},
    page::Paint,
    summary,
    table::{Cell, Column, Side, Table},
    times::{self, TARGET},
};
use crate::{
    Figures, PageMatrix, TargetBreakEven, break_evens, figures, page_matrices, remarks_of_all,
};

/// Prints `runs`, of which there is at least one.
pub(super) fn print(page: &mut Page, runs: &[Record], all_findings: bool) {
    let plan = &runs[0].header.plan;
    page.paragraph("", &told_of_runs(runs), Paint::Bold);
    head::machine_line(page, &runs[0]);
    let figures: Vec<_> = runs.iter().map(figures).collect();
    for case in plan.cases() {
        page.gap();
        let name = times::name(plan, case.workload);
        page.paragraph("", &format!("{name}, {}", case.cache), Paint::Bold);
        let all = figures.iter().flatten().filter(|row| row.case == case);
        let scale = Scale::of(all.map(|row| row.ratio.as_ref()));
        let mut table = table(page, scale);
        for (run, figures) in runs.iter().zip(&figures) {
            let rows = figures.iter().filter(|row| row.case == case);
            for (nth, row) in rows.enumerate() {
                let told = if nth == 0 { varied(run) } else { String::new() };
                let bar = scale.cell(page, row.ratio.as_ref());
                table.row(cells(run, &told, row, bar));
            }
        }
        table.print(page);
    }
    together(page, runs);
    doubts::print(page, &runs[0], &remarks_of_all(runs, &figures), all_findings);
    page.gap();
    page.paragraph("", &ended(runs), Paint::Plain);
}

/// What only all of them show.
pub(super) fn together(page: &mut Page, runs: &[Record]) {
    let Some(first) = runs.first() else { return };
    let plan = &first.header.plan;
    even(page, plan, &break_evens(runs));
    for matrix in page_matrices(runs) {
        print_matrix(page, plan, &matrix);
    }
}

/// `a sweep of 6 runs: size=1k, 4k, …`.
pub(crate) fn told_of_runs(runs: &[Record]) -> String {
    let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for point in runs.iter().filter_map(|run| run.header.point()) {
        for (name, value) in &point.varied {
            let values = values.entry(name).or_default();
            if !values.contains(&value.as_str()) {
                values.push(value);
            }
        }
    }
    let told = values.iter().map(|(name, values)| format!("{name} {}", values.join(", ")));
    let count = runs[0].header.point().map_or(runs.len(), |point| point.of);
    let begun = if count == runs.len() { String::new() } else { format!("{} of ", runs.len()) };
    format!("a sweep of {begun}{count} runs: {}", told.collect::<Vec<_>>().join("; "))
}

/// `size=4k threads=2`.
pub(crate) fn varied(run: &Record) -> String {
    let varied = run.header.point().into_iter().flat_map(|point| &point.varied);
    varied.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

fn table(page: &Page, scale: Scale) -> Table {
    let run = Column { name: "run", unit: "", side: Side::Left, gives: &[20, 12] };
    let mut columns = vec![run, TARGET];
    columns.extend([
        Column::number("time", "µs/blob"),
        Column::number("p99", "µs"),
        Column::number("rate", "MB/s"),
    ]);
    let bar = columns.len() + 1;
    columns.extend(bar::beside(times::compared_columns(), scale.column(page)));
    let gladly = if page.bars() { vec![bar] } else { vec![] };
    Table::new(columns).sparing(gladly, vec![4, 3])
}

fn cells(run: &Record, varied: &str, row: &Figures, bar: Option<Cell>) -> Vec<Cell> {
    let label = run.header.plan.targets.get(row.target).map_or("", |target| &target.label);
    let mut cells: Vec<Cell> = [
        varied.to_owned(),
        label.to_owned(),
        figure_or_none(row.us_per_op.map(|time| time.point)),
        figure_or_none(row.latency.map(|latency| latency.p99_us)),
        figure_or_none(row.mb_per_s.map(|rate| rate.point)),
    ]
    .iter()
    .map(Cell::new)
    .collect();
    cells.extend(bar::beside(times::compared(row), bar));
    cells
}

/// A table for each case.
fn even(page: &mut Page, plan: &Plan, rows: &[TargetBreakEven]) {
    let baseline = plan.targets.get(plan.baseline).map_or("", |target| &target.label);
    for rows in rows.chunk_by(|one, next| (one.case, &one.beside) == (next.case, &next.beside)) {
        page.gap();
        let first = &rows[0];
        let name = about(plan, first.case.workload, first.case.cache.as_str(), &first.beside);
        let title = format!("break-even, {name}: the size of blobs at which {baseline} overtakes");
        page.paragraph("", &title, Paint::Bold);
        let even = Column { name: "", unit: "", side: Side::Left, gives: &[20] };
        let mut table = Table::new(vec![Column { name: "", ..TARGET }, even]);
        for row in rows {
            table.row(vec![Cell::new(&row.target), Cell::new(told(row, baseline))]);
        }
        table.print(page);
    }
}

/// `read, warm, threads=2`.
pub(crate) fn about(
    plan: &Plan,
    workload: usize,
    cache: &str,
    beside: &BTreeMap<String, String>,
) -> String {
    let beside = beside.iter().map(|(name, value)| format!(", {name}={value}"));
    beside.fold(format!("{}, {cache}", times::name(plan, workload)), |told, one| told + &one)
}

pub(crate) fn told(row: &TargetBreakEven, baseline: &str) -> String {
    let [least, most] = row.sizes.map(show_size);
    if row.found.crossings.is_empty() {
        let unsure = if row.found.refuted { "" } else { "; no difference is shown at some sizes" };
        return if row.found.begins_below {
            format!("never from {least} up to {most}{unsure}")
        } else {
            format!("{baseline} is ahead at all sizes from {least} to {most}{unsure}")
        };
    }
    let crossings = row.found.crossings.iter().map(|crossing| {
        let interval = interval(crossing, &least, &most);
        let way = if crossing.upwards { "at" } else { "falls back at" };
        format!("{way} {} ({interval})", bytes(crossing.size))
    });
    crossings.collect::<Vec<_>>().join(", ")
}

fn interval(crossing: &Crossing, least: &str, most: &str) -> String {
    let low = crossing.low.map_or_else(|| format!("below {least}"), bytes);
    let high = crossing.high.map_or_else(|| format!("above {most}"), bytes);
    format!("{low} – {high}")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a size between sizes that were measured, to the byte"
)]
pub(crate) fn bytes(size: f64) -> String {
    show_size(size.round() as u64)
}

fn print_matrix(page: &mut Page, plan: &Plan, matrix: &PageMatrix) {
    let baseline = plan.targets.get(plan.baseline).map_or("", |target| &target.label);
    let name = about(plan, matrix.case.workload, matrix.case.cache.as_str(), &matrix.beside);
    page.gap();
    let title = format!(
        "{baseline}, time ÷ {}'s, {name}, by page size (down) and size of blobs (across): above 1 \
         {} is faster; * its best page size",
        matrix.family, matrix.family
    );
    page.paragraph("", &title, Paint::Bold);
    // Two lines a cell, where they do not fit on one.
    let column = |_: &u64| Column { name: "", unit: "", side: Side::Right, gives: &[12] };
    let pages = Column::number("", "");
    let mut table =
        Table::new([pages].into_iter().chain(matrix.sizes.iter().map(column)).collect());
    let heads = matrix.sizes.iter().map(|size| Cell::new(show_size(*size)).painted(Paint::Bold));
    table.row([Cell::default()].into_iter().chain(heads).collect());
    for (row, (pages, ratios)) in matrix.rows.iter().enumerate() {
        let cell = |(column, ratio): (usize, &Option<_>)| {
            let told = ratio.as_ref().map_or_else(|| NONE.to_owned(), with_interval);
            if matrix.best(column) == Some(row) {
                Cell::new(format!("*{told}")).painted(Paint::Green)
            } else {
                Cell::new(told)
            }
        };
        let cells = ratios.iter().enumerate().map(cell);
        table.row([Cell::new(pages.to_string())].into_iter().chain(cells).collect());
    }
    table.print(page);
}

/// How much was run, and why the last ended.
pub(crate) fn ended(runs: &[Record]) -> String {
    let rounds: usize = runs.iter().map(summary::rounds).sum();
    let seconds = runs.iter().filter_map(|run| run.end.as_ref()).map(|end| end.seconds).sum();
    let time = Duration::try_from_secs_f64(seconds).ok();
    let time = time.map_or_else(String::new, |time| format!(" in {}", show_duration(time)));
    let last = runs.last().map_or_else(String::new, summary::why);
    let seed = runs[0].header.plan.seed;
    let count = if runs.len() == 1 { "1 run".to_owned() } else { format!("{} runs", runs.len()) };
    format!("{count}, {rounds} rounds together{time}; the last: {last}; seed {seed}")
}
