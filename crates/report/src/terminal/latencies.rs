//! The table of latencies below that of a mix or a schedule: a row for each target and kind of operation.

use model::{Operation, Workload, record::Record, units::show_count};

use super::{
    number::figure,
    page::Page,
    table::{Cell, Column, Side, Table},
    times::TARGET,
};
use crate::{Figures, latencies};

pub(super) fn print(page: &mut Page, record: &Record, rows: &[Figures]) {
    let plan = &record.header.plan;
    let workload = plan.workloads.get(rows[0].case.workload);
    let mixed = |w: &Workload| {
        matches!(w.work.operation(), Some(Operation::Mix(_))) || w.work.rate().is_some()
    };
    if !workload.is_some_and(mixed) {
        return;
    }
    let mut table = Table::new(columns());
    let mut empty = true;
    for row in rows {
        let label = plan.targets.get(row.target).map_or("", |target| &target.label);
        for (index, of) in latencies(record, row.case, row.target).into_iter().enumerate() {
            let p = of.percentiles();
            let us = [p.p50_us, p.p90_us, p.p99_us, p.p999_us, p.p9999_us, p.max_us].map(figure);
            let head = [
                if index == 0 { label.to_owned() } else { String::new() },
                of.action.map_or("all", |action| action.as_str()).to_owned(),
                show_count(of.histogram.len()),
            ];
            table.row(head.iter().chain(&us).map(Cell::new).collect());
            empty = false;
        }
    }
    if !empty {
        page.gap();
        table.print(page);
    }
}

fn columns() -> Vec<Column> {
    let kind = Column { name: "latency of", unit: "", side: Side::Left, gives: &[] };
    let mut columns = vec![TARGET, kind, Column::number("timed", "")];
    let us = ["p50", "p90", "p99", "p99.9", "p99.99", "max"];
    columns.extend(us.map(|name| Column::number(name, "µs")));
    columns
}
