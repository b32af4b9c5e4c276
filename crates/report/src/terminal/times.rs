//! The table of a workload: how fast each target was.

use model::{Batch, Plan, Workload, record::Record, units::show_count};
use stats::Estimate;

use super::{
    number::{NONE, faster_or_slower, figure, figure_or_none, with_interval},
    page::{Page, Paint},
    table::{Cell, Column, Side, Table},
};
use crate::{Figures, Judgement};

/// Narrowed a little first, then before the ratios are, then as far as it must be.
pub(super) const TARGET: Column =
    Column { name: "target", unit: "", side: Side::Left, gives: &[20, 12, 8] };

pub(super) fn print(page: &mut Page, record: &Record, figures: &[Figures]) {
    let plan = &record.header.plan;
    for rows in figures.chunk_by(|one, next| one.workload == next.workload) {
        page.gap();
        page.paragraph("", &title(plan, rows[0].workload), Paint::Bold);
        table(plan, rows).print(page);
    }
}

/// What a workload is called where only a word fits.
pub(super) fn name(plan: &Plan, workload: usize) -> String {
    let Some(Workload { operation, .. }) = plan.workloads.get(workload) else {
        return format!("workload {}", workload + 1);
    };
    let namesakes = plan.workloads.iter().filter(|other| other.operation == *operation).count();
    if namesakes == 1 { operation.to_string() } else { format!("{operation} {}", workload + 1) }
}

/// `read: 5,000 operations, random permutation, 1 thread, one commit`.
fn title(plan: &Plan, index: usize) -> String {
    let Some(workload) = plan.workloads.get(index) else { return name(plan, index) };
    let threads = match workload.threads {
        1 => "1 thread".to_owned(),
        n => format!("{n} threads"),
    };
    let batch = match workload.batch {
        Batch::All => "all in one batch".to_owned(),
        Batch::Of(n) => format!("{} a batch", show_count(n)),
    };
    let (name, count) = (name(plan, index), show_count(workload.count));
    format!("{name}: {count} operations, {}, {batch}, {threads}", workload.order)
}

/// With one target there is nothing to compare with: its time has the interval then.
fn table(plan: &Plan, rows: &[Figures]) -> Table {
    let alone = plan.targets.len() == 1;
    let mut columns = measured_columns();
    if !alone {
        columns.extend(compared_columns());
    }
    let mut table = Table::new(columns);
    for row in rows {
        let label = plan.targets.get(row.target).map_or("", |target| &target.label);
        let mut cells = measured(label, row, if alone { with_interval } else { point });
        if !alone {
            cells.extend(compared(row));
        }
        table.row(cells);
    }
    table
}

fn point(estimate: &Estimate) -> String {
    figure(estimate.point)
}

fn number(name: &'static str, unit: &'static str) -> Column {
    Column { name, unit, side: Side::Right, gives: &[] }
}

fn measured_columns() -> Vec<Column> {
    vec![
        TARGET,
        number("time", "µs/blob"),
        number("rate", "MB/s"),
        number("p50", "µs"),
        number("p99", "µs"),
        number("CPU", "µs/blob"),
    ]
}

/// Their least widths are those of their longest words.
fn compared_columns() -> [Column; 2] {
    [
        Column { name: "time ÷", unit: "baseline's", side: Side::Right, gives: &[usize::MAX, 13] },
        Column { name: "verdict", unit: "", side: Side::Left, gives: &[15] },
    ]
}

fn measured(label: &str, row: &Figures, time: fn(&Estimate) -> String) -> Vec<Cell> {
    let cpu = row.cpu.map(|cpu| cpu.user_us_per_op + cpu.system_us_per_op);
    [
        label.to_owned(),
        row.us_per_op.as_ref().map_or_else(|| NONE.to_owned(), time),
        figure_or_none(row.mb_per_s.map(|rate| rate.point)),
        figure_or_none(row.latency.map(|latency| latency.p50_us)),
        figure_or_none(row.latency.map(|latency| latency.p99_us)),
        figure_or_none(cpu),
    ]
    .iter()
    .map(Cell::new)
    .collect()
}

fn compared(row: &Figures) -> [Cell; 2] {
    let mark = if row.judgement == Judgement::DurabilityDiffers { "*" } else { "" };
    let ratio = match (&row.ratio, row.judgement) {
        (Some(ratio), _) => format!("{mark}{}", with_interval(ratio)),
        (None, Judgement::Baseline) => "1".to_owned(),
        (None, _) => NONE.to_owned(),
    };
    [Cell::new(ratio), verdict(row)]
}

fn verdict(row: &Figures) -> Cell {
    let by = || row.ratio.map_or_else(String::new, |ratio| faster_or_slower(ratio.point));
    match row.judgement {
        Judgement::Baseline => Cell::new("baseline"),
        Judgement::Faster => Cell::new(by()).painted(Paint::Green),
        Judgement::Slower => Cell::new(by()).painted(Paint::Red),
        Judgement::NoDifference => Cell::new("no difference shown"),
        Judgement::DurabilityDiffers => Cell::new("not compared: durability"),
        Judgement::TooFewRounds => Cell::new("too few rounds"),
        Judgement::NotMeasured => Cell::new(NONE),
    }
}
