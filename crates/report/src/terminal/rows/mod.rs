//! The page of rows: for each group of processes the times beside the published ones, the ratios,
//! and what the styles make of a store.

mod notes;
mod ratios;
mod seconds;
mod styles;

pub(super) use notes::settings;

use model::{Batch, Experiment, Work, Workload, record::Record, units::show_count};

use super::{
    head,
    number::{NONE, figure},
    page::{Page, Paint},
    table::{Cell, Column, Side},
};
use crate::{
    RowGroup,
    published::{DATE, MACHINE, TITLE},
};

const TARGET: Column = Column { name: "target", unit: "", side: Side::Left, gives: &[30, 20, 12] };

pub(super) fn print(page: &mut Page, record: &Record, groups: &[RowGroup], all: bool) {
    page.paragraph("", &title(record), Paint::Bold);
    head::machine_line(page, record);
    let published = groups.iter().any(RowGroup::has_published);
    if published {
        let source = format!("published: “{TITLE}”, {DATE} ({MACHINE})");
        page.paragraph("", &source, Paint::Dim);
    }
    for group in groups.iter().filter(|group| !group.targets.is_empty()) {
        page.gap();
        page.paragraph("", &processes(&group.workload), Paint::Bold);
        seconds::print(page, record, group);
        waits(page, record, group);
        if record.header.plan.targets.len() > 1 {
            ratios::print(page, record, group);
            styles::print(page, record, group);
        }
    }
    notes::print(page, record, published, all);
}

/// `200,000 rows of two integers by each process, 100,000 a transaction`.
pub(crate) fn title(record: &Record) -> String {
    let plan = &record.header.plan;
    let Experiment::Rows { rows } = plan.experiment else { return String::new() };
    let rows = show_count(rows);
    let batch = match plan.workloads.first().map(|workload| workload.batch) {
        Some(Batch::Of(batch)) => format!("{} a transaction", show_count(batch)),
        _ => "all in one transaction".to_owned(),
    };
    format!("{rows} rows of two integers by each process, {batch}")
}

/// `1 process`, `4 processes, a database each`, `4 processes on one database`.
pub(crate) fn processes(workload: &Workload) -> String {
    match (workload.processes, workload.work) {
        (1, _) => "1 process".to_owned(),
        (n, Work::Rows { own_databases: true, .. }) => {
            format!("{n} processes, a database each")
        }
        (n, _) => format!("{n} processes on one database"),
    }
}

/// What waiting for others came to: never left out, as it is part of the times.
fn waits(page: &mut Page, record: &Record, group: &RowGroup) {
    for row in group.targets.iter().filter(|row| !row.waits.is_empty()) {
        let told: Vec<_> =
            row.waits.iter().map(|(name, n)| counted(n.unsigned_abs(), name)).collect();
        let label = &record.header.plan.targets[row.target].label;
        page.paragraph("  ", &format!("{label}: {} in all rounds", told.join(", ")), Paint::Dim);
    }
}

/// `2 busy retries`, `1 busy retry`.
fn counted(count: u64, name: &str) -> String {
    let one = || match name.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => name.trim_end_matches('s').to_owned(),
    };
    let name = if count == 1 { one() } else { name.to_owned() };
    format!("{} {name}", show_count(count))
}

impl RowGroup {
    fn has_published(&self) -> bool {
        self.targets.iter().any(|row| row.published.is_some())
    }
}

fn label(record: &Record, target: usize) -> Cell {
    Cell::new(&record.header.plan.targets[target].label)
}

/// A figure from elsewhere, dimmed so that it is not taken for one of this machine.
fn from_elsewhere(value: Option<f64>) -> Cell {
    Cell::new(value.map_or_else(|| NONE.to_owned(), figure)).painted(Paint::Dim)
}
