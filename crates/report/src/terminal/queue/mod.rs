//! The page of queues: the time of a task beside the published one, its ratio, the latency of each
//! step, and what else it took.

mod costs;
mod latencies;
mod notes;
mod sites;
mod times;

use model::{
    Experiment,
    record::Record,
    units::{show_count, show_size},
};

use super::{
    head,
    number::{NONE, figure},
    page::{Page, Paint},
    table::{Cell, Column, Side},
};
use crate::{
    QueueFigures,
    published::tasks::{MACHINE, SOURCE, TITLE},
};

const TARGET: Column = Column { name: "target", unit: "", side: Side::Left, gives: &[30, 20, 12] };

pub(super) fn print(page: &mut Page, record: &Record, rows: &[QueueFigures], all: bool) {
    page.paragraph("", &title(record), Paint::Bold);
    head::machine_line(page, record);
    let published = rows.iter().any(|row| row.published_ms.is_some());
    if published {
        let source = format!("published: “{TITLE}”, {SOURCE} ({MACHINE})");
        page.paragraph("", &source, Paint::Dim);
    }
    if !rows.is_empty() {
        times::print(page, record, rows, published);
        sites::print(page, record, rows);
        latencies::print(page, record, rows);
        costs::print(page, record, rows);
    }
    notes::print(page, record, published, all);
}

/// `100 workers, 20 tasks each: created, status changed, output of 33 bytes rewritten 10 times,
/// deleted`.
pub(crate) fn title(record: &Record) -> String {
    let plan = &record.header.plan;
    let workers = plan.workloads.first().map_or(0, |workload| workload.threads);
    let Experiment::Tasks { tasks, rewrites, output } = plan.experiment else {
        return String::new();
    };
    let plural = |n: u64| if n == 1 { "" } else { "s" };
    format!(
        "{} worker{}, {} task{} each: created, status changed, output of {} rewritten {} time{}, \
         deleted",
        show_count(workers.into()),
        plural(workers.into()),
        show_count(tasks),
        plural(tasks),
        show_size(output),
        show_count(rewrites),
        plural(rewrites)
    )
}

fn label(record: &Record, row: &QueueFigures) -> Cell {
    Cell::new(&record.header.plan.targets[row.figures.target].label)
}

/// A figure from elsewhere, dimmed so that it is not taken for one of this machine.
fn from_elsewhere(value: Option<f64>) -> Cell {
    Cell::new(value.map_or_else(|| NONE.to_owned(), figure)).painted(Paint::Dim)
}
