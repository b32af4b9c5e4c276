//! The table of each host's work, if clients ran on several.

use checks::{Figures, HostFigures, host_figures};
use model::record::Record;

use super::TARGET;
use crate::{
    table::{Cell, Column, Room, Table, Value},
    words::label,
};

/// Returns the table of the hosts of a case; `None` if this machine worked alone.
pub(crate) fn hosts(record: &Record, rows: &[Figures]) -> Option<Table> {
    let plan = &record.header.plan;
    let all = rows.iter().flat_map(|row| {
        host_figures(record, row).into_iter().map(|of| (label(plan, row.target), of))
    });
    let all: Vec<(&str, HostFigures)> = all.collect();
    let title = format!("{}, by host", plan.case_name(rows.first()?.case));
    let table = Table::for_rows(title, &all)
        .with(TARGET, |(target, _)| *target)
        .with(Column::text("host"), |(_, of)| of.host.clone().unwrap_or_else(|| "all".to_owned()))
        .with(Column::number("rate", "/s"), |(_, of)| Cell::from(Value::Rate(of.rate)))
        .with(Column::number("p50", "µs").room(Room::Spare(1)), |(_, of)| Some(of.latency?.p50))
        .with(Column::number("p99", "µs"), |(_, of)| Some(of.latency?.p99))
        .with(Column::number("p99.9", "µs").room(Room::Spare(0)), |(_, of)| Some(of.latency?.p999))
        .with(Column::number("clock", "ms"), |(_, of)| of.offset_ms.map(|ms| format!("{ms:+.3}")))
        .with(Column::number("known to", "ms"), |(_, of)| {
            of.uncertainty_ms.map(|ms| format!("±{ms:.3}"))
        })
        .into_table()
        .with_legend(Some(LEGEND.to_owned()));
    (!all.is_empty()).then_some(table)
}

const LEGEND: &str = "all: the rate while all hosts worked, and the percentiles of their merged \
                      histograms; clock: how far it is ahead of this machine's, which starts are \
                      corrected for";
