//! Blobs: values under keys, in one run or in a sweep.

use checks::{Figures, cases, requests, stores};
use itertools::Itertools;
use model::{BlobsData, Operation, Plan, record::Record};

use super::{Room, about, compared_values, explained, fastest_question};
use crate::{
    answer::and,
    charts::{Make, Part, cases, over_time, parts, space, study, sweep},
    table::{Block, Detail},
    tables, words,
};

const CHARTS: &[Make] = &[
    study::study,
    cases::compared,
    cases::loads,
    parts::charts,
    cases::latencies,
    over_time::charts,
    space::by_state,
];
const SWEEP: &[Make] = &[
    study::study,
    sweep::break_evens,
    sweep::scaling,
    sweep::compared,
    sweep::page_sizes,
    cases::loads,
    space::by_run,
];

impl Room for BlobsData {
    fn data(&self, _plan: &Plan) -> String {
        let source = words::describe_source(&self.dataset);
        match self.sampled_from {
            None => words::describe_values(&self.summary, self.available, &source),
            Some(all) => {
                let source = format!("{source}, a sample stratified by size");
                words::describe_values(&self.summary, all.count, &source)
            }
        }
    }

    fn compared_data(&self) -> String {
        compared_values(&self.dataset, self.available, self.summary.bytes)
    }

    fn question(&self, part: &Part<'_>) -> String {
        fastest_question(part, |s| verbs(part.plan(), s), "these blobs")
    }

    fn page(&self, record: &Record, figures: &[Figures], detail: Detail) -> Vec<Block> {
        let mut blocks = vec![about(record, None)];
        for rows in cases(figures) {
            blocks.push(tables::times(record, rows).into());
            blocks.extend(tables::hosts(record, rows).map(Block::from));
            let latencies = tables::latencies(record, rows).filter(|_| detail.all);
            blocks.extend(latencies.map(Block::from));
        }
        blocks.extend(explained(record, figures, detail));
        if detail.all {
            let stores = stores(record);
            blocks.push(tables::stores(record, &stores).into());
            blocks.extend(tables::requests(record, &requests(record)).map(Block::from));
            blocks.extend(tables::settings(record, &stores).map(Block::from));
        }
        blocks
    }

    fn charts(&self, part: &Part<'_>) -> &'static [Make] {
        if part.is_sweep() { SWEEP } else { CHARTS }
    }
}

/// Lists the verbs of the workloads, each once: `reads`, `updates`, `runs YCSB A and YCSB B on`.
fn verbs(plan: &Plan, s: &str) -> Vec<String> {
    let verbs = plan.workloads.iter().filter_map(|workload| verb(workload.work.operation()?));
    let mut all: Vec<_> = verbs.unique().map(|verb| format!("{verb}{s}")).collect();
    let is_mix = |at: &usize| plan.workloads[*at].work.operation().and_then(verb).is_none();
    // The same mix has this name at every rate.
    let without_rate = |at| {
        let name = plan.workload_name(at);
        name.split(" at ").next().unwrap_or_default().to_owned()
    };
    let mixes = (0..plan.workloads.len()).filter(is_mix);
    let names: Vec<_> = mixes.map(without_rate).unique().collect();
    all.extend((!names.is_empty()).then(|| format!("run{s} {} on", and(&names))));
    all
}

/// Returns the verb of an operation; `None` for a mix of operations.
fn verb(operation: Operation) -> Option<&'static str> {
    match operation {
        Operation::Mix(_) => None,
        Operation::Read => Some("read"),
        Operation::Update => Some("update"),
        Operation::Insert => Some("insert"),
    }
}
