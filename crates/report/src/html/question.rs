//! The title of a page: the question that it answers.

use itertools::Itertools;
use model::{BlobWork, Experiment, Operation, Plan, RowsWork, Work, rows};

use super::part::Part;
use crate::{answer::and, words};

/// Returns the title of a page: `Which store reads and updates these blobs fastest?`
pub(super) fn page_title(part: &Part<'_>) -> String {
    let plan = part.plan();
    let what = match plan.experiment {
        Experiment::Blobs(_) => "these blobs",
        Experiment::Rows(_) => "these rows",
        Experiment::Queue(_) => "these tasks",
        Experiment::Age(_) => return ageing(plan),
        Experiment::Backup(_) => return backup(plan),
        Experiment::Life(_) => return life(plan),
    };
    let sizes = part.varies("size");
    match plan.targets.as_slice() {
        [one] => format!("How fast does {} {} {what}?", one.label, verbs(plan, "")),
        _ if sizes => format!("Which store {} {what} fastest, at which size?", verbs(plan, "s")),
        _ => format!("Which store {} {what} fastest?", verbs(plan, "s")),
    }
}

fn ageing(plan: &Plan) -> String {
    match plan.targets.as_slice() {
        [one] => format!("Does {} get slower as it ages?", one.label),
        _ => "Which store stays fast as it ages?".to_owned(),
    }
}

fn backup(plan: &Plan) -> String {
    match plan.targets.as_slice() {
        [one] => format!("What does a backup take with its catalogue in {}?", one.label),
        _ => "Which store is the fastest catalogue of a backup?".to_owned(),
    }
}

fn life(plan: &Plan) -> String {
    match plan.targets.as_slice() {
        [one] => format!("What does {} cost over its whole life?", one.label),
        _ => "What do these stores cost over their whole lives?".to_owned(),
    }
}

/// Lists the verbs of the workloads, each once: `reads and updates`, `runs YCSB A and YCSB B on`.
fn verbs(plan: &Plan, s: &str) -> String {
    let verbs = plan.workloads.iter().filter_map(|workload| verb(workload.work)).unique();
    let mut all: Vec<_> = verbs.map(|verb| format!("{verb}{s}")).collect();
    let mixes = (0..plan.workloads.len()).filter(|at| verb(plan.workloads[*at].work).is_none());
    // The same mix has this name at every rate.
    let without_rate = |at| {
        let name = words::workload_name(plan, at);
        name.split(" at ").next().unwrap_or_default().to_owned()
    };
    let names: Vec<_> = mixes.map(without_rate).unique().collect();
    all.extend((!names.is_empty()).then(|| format!("run{s} {} on", and(&names))));
    and(&all)
}

/// Returns the verb of a workload; `None` for a mix of operations.
fn verb(work: Work) -> Option<&'static str> {
    Some(match work {
        Work::Blobs(BlobWork { operation: Operation::Mix(_), .. }) => return None,
        Work::Blobs(BlobWork { operation: Operation::Update, .. })
        | Work::Rows(RowsWork { operation: rows::RowOperation::Add, .. }) => "update",
        Work::Blobs(BlobWork { operation: Operation::Insert, .. })
        | Work::Rows(RowsWork { operation: rows::RowOperation::Insert, .. }) => "insert",
        Work::Rows(RowsWork { operation: rows::RowOperation::Sum, .. }) => "sum",
        Work::Blobs(BlobWork { operation: Operation::Read, .. }) | Work::Age(_) => "read",
        Work::Queue => "complete",
        Work::Backup(_) => "back up",
        Work::Life(_) => "keep",
    })
}
