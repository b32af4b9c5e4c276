//! What plans, workloads, findings and endings are called, the same in every form.

mod data;
mod ending;
mod finding;
mod verdict;
mod workload;

pub(crate) use self::{
    data::{data, machine, what_and_where},
    ending::ended,
    finding::finding,
    verdict::{change_verdict, verdict},
    workload::{about, case, case_title, label, processes, target, workload, workload_name},
};

use std::collections::BTreeMap;

use model::record::Record;

/// `size=4k threads=2`: what varies in a sweep, with its values in this run; else empty.
pub(crate) fn varied(record: &Record) -> String {
    let none = BTreeMap::new();
    pairs(record.header.point.as_ref().map_or(&none, |point| &point.varied), "=", " ")
}

/// `size 4k, threads 2`.
pub(crate) fn pairs(values: &BTreeMap<String, String>, equals: &str, between: &str) -> String {
    let all = values.iter().map(|(name, value)| format!("{name}{equals}{value}"));
    all.collect::<Vec<_>>().join(between)
}

/// `1 worker`, `2 workers`.
pub(crate) fn counted(count: u64, name: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {name}{plural}", model::units::show_count(count))
}

/// `a, b, c and 2 more`.
pub(crate) fn listed(items: &[String], most: usize) -> String {
    let named = items.iter().take(most).cloned().collect::<Vec<_>>().join(", ");
    match items.len().saturating_sub(most) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
