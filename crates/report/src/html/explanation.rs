//! What coincides with the differences, tables for each case.

use maud::{Markup, html};
use model::Experiment;

use super::{part::Part, table};
use crate::{table::Table, tables};

pub(super) fn markup(part: &Part<'_>) -> Markup {
    // A sweep has too many cases, and other experiments have tables of their own.
    let blobs = matches!(part.plan().experiment, Experiment::Blobs { .. });
    let runs = part.runs().filter(|_| blobs && !part.is_sweep());
    let tables = runs.flat_map(|run| {
        let tables = run.cases().flat_map(move |rows| tables::explained(run.record, rows));
        tables.map(move |table| Table { title: run.on(&table.title), ..table })
    });
    let tables: Vec<_> = tables.collect();
    html! {
        @if !tables.is_empty() {
            section {
                h2 { "What coincides with the differences" }
                p {
                    "For each operation: processor time, time off the processor, page faults, switches and \
                     calls; for each byte of the values: bytes moved. These figures show what coincides with \
                     a difference, not what causes it."
                }
                details {
                    summary { "Tables" }
                    @for table in &tables { (table::markup(table)) }
                }
            }
        }
    }
}
