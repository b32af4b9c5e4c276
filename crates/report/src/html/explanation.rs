//! What goes along with the differences, a table for each case.

use maud::{Markup, html};

use super::{
    machine::{Job, Part, Run},
    table::{Column, Table},
};
use crate::{Explained, Figures, explained, terminal::number::figure_or_none};

/// Name, unit and figure of a column.
type Shown = (&'static str, &'static str, fn(&Explained) -> Option<f64>);

const SHOWN: [Shown; 15] = [
    ("user", "µs", |row| row.user_us),
    ("kernel", "µs", |row| row.system_us),
    ("off CPU", "µs", |row| row.off_cpu_us),
    ("minor faults", "", |row| row.minor_faults),
    ("major faults", "", |row| row.major_faults),
    ("switches", "", |row| row.switches),
    ("read calls", "", |row| row.read_calls),
    ("write calls", "", |row| row.write_calls),
    ("read", "B/B", |row| row.read_bytes),
    ("written", "B/B", |row| row.written_bytes),
    ("from device", "B/B", |row| row.device_read),
    ("to device", "B/B", |row| row.device_written),
    ("cached before", "%", |row| row.cached_before.map(|share| share * 100.0)),
    ("cached after", "%", |row| row.cached_after.map(|share| share * 100.0)),
    ("memory", "MB", |row| row.memory_mb),
];

pub(super) fn markup(part: &Part<'_>) -> Markup {
    let run = |run: Run<'_>| run.cases().map(|rows| table(part, run, rows)).collect::<Vec<_>>();
    let tables: Vec<Table> = match part.job() {
        Job::Run => part.runs().flat_map(run).collect(),
        _ => vec![],
    };
    html! {
        @if !tables.is_empty() {
            section {
                h2 { "What goes along with the differences" }
                p {
                    "For each operation: processor time, time off the processor, page faults, switches and \
                     calls; for each byte of the values: bytes moved. This tells what goes along with a \
                     difference, not what causes it."
                }
                details {
                    summary { "Tables" }
                    @for table in &tables { (table.markup()) }
                }
            }
        }
    }
}

fn table(part: &Part<'_>, run: Run<'_>, rows: &[Figures]) -> Table {
    let columns = SHOWN.iter().map(|(name, unit, _)| Column::number(*name, unit));
    let caption = part.on(run.case(rows[0].case), run.side);
    let mut table =
        Table::new(caption, [Column::text("target")].into_iter().chain(columns).collect());
    for row in explained(run.record, rows) {
        let cells = SHOWN.iter().map(|(_, _, of)| figure_or_none(of(&row)));
        table.row([run.label(row.target).to_owned()].into_iter().chain(cells).collect());
    }
    table
}
