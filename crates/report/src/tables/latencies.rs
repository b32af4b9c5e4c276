//! Latencies of a mix or a schedule: a row for each target and kind of operation.

use model::{Operation, Workload, record::Record};

use super::TARGET;
use crate::{
    Figures,
    table::{Column, Table},
    words::label,
};

/// Absent: other workloads have theirs in the table of times.
pub(crate) fn latencies(record: &Record, rows: &[Figures]) -> Option<Table> {
    let plan = &record.header.plan;
    let split = |w: &Workload| {
        matches!(w.work.operation(), Some(Operation::Mix(_))) || w.work.rate().is_some()
    };
    plan.workloads.get(rows[0].case.workload).filter(|workload| split(workload))?;
    let table = latency_table(record, rows);
    (!table.rows.is_empty()).then_some(table)
}

/// Of any workload.
pub(crate) fn latency_table(record: &Record, rows: &[Figures]) -> Table {
    let plan = &record.header.plan;
    let all = rows.iter().flat_map(|row| {
        let label = label(plan, row.target);
        crate::latencies(record, row.case, row.target).into_iter().map(move |of| (label, of))
    });
    let all: Vec<_> = all.map(|(label, of)| (label, of.percentiles(), of)).collect();
    Table::of("", &all)
        .with(TARGET, |(label, ..)| *label)
        .with(Column::text("latency of"), |(_, _, of)| of.action.map_or("all", |a| a.as_str()))
        .with(Column::number("timed", ""), |(_, _, of)| of.histogram.len())
        .with(Column::number("p50", "µs"), |(_, p, _)| p.p50)
        .with(Column::number("p90", "µs"), |(_, p, _)| p.p90)
        .with(Column::number("p99", "µs"), |(_, p, _)| p.p99)
        .with(Column::number("p99.9", "µs"), |(_, p, _)| p.p999)
        .with(Column::number("p99.99", "µs"), |(_, p, _)| p.p9999)
        .with(Column::number("max", "µs"), |(_, p, _)| p.max)
        .done()
}
