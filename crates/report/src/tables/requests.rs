//! Requests to services that charge for them.

use checks::RequestFigures;
use model::{record::Record, units::show_amount};

use super::TARGET;
use crate::{
    table::{Column, Table},
    words,
};

/// Returns the requests by kind and what they cost; `None` if there were none.
pub(crate) fn requests(record: &Record, requests: &[RequestFigures]) -> Option<Table> {
    let plan = &record.header.plan;
    let target = |row: &RequestFigures| {
        row.passes.map_or("whole run", |(_, target)| words::label(plan, target)).to_owned()
    };
    let workload =
        |row: &RequestFigures| row.passes.map(|(workload, _)| plan.workload_name(workload));
    let has_cost = requests.iter().any(|row| row.sent.cost.is_some());
    let cost = "; the cost is that of requests and of bytes received, in the currency of prices=";
    let legend = format!(
        "puts: PUT, POST and lists; gets: GET and HEAD; the whole run: with filling, checking and \
         calibrating, without the removal of the objects at its end{}",
        if has_cost { cost } else { "" }
    );
    let table = Table::for_rows("requests to object stores", requests)
        .with(TARGET, target)
        .with(Column::text("passes"), workload)
        .with(Column::number("requests", ""), |row| row.requests)
        .with(Column::number("puts", ""), |row| row.sent.puts)
        .with(Column::number("gets", ""), |row| row.sent.gets)
        .with(Column::number("deletes", ""), |row| row.sent.deletes)
        .with(Column::number("sent", "MB"), |row| row.sent.sent_bytes as f64 / 1e6)
        .with(Column::number("received", "MB"), |row| row.sent.received_bytes as f64 / 1e6)
        .with_if(has_cost, Column::number("cost", ""), |row| row.sent.cost.map(show_amount))
        .with_legend([legend])
        .into_table();
    (!requests.is_empty()).then_some(table)
}
