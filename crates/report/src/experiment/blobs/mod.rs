//! Blobs: values under keys, in one run or in a sweep.

use checks::{Figures, cases, requests, stores};
use itertools::Itertools;
use model::{BlobsData, Plan, record::Record};

use super::{ExperimentReport, about, compared_values, explained, fastest_question};
use crate::{
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

impl ExperimentReport for BlobsData {
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

    fn data_for_comparison(&self) -> String {
        compared_values(&self.dataset, self.available, self.summary.bytes)
    }

    fn question(&self, part: &Part<'_>) -> String {
        let works = part.plan().workloads.iter().map(|workload| workload.work.at_any_rate().name());
        fastest_question(part, &format!("these blobs ({})", works.unique().format(", ")))
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
