//! Rows: a table of two integers, next to the published figures.

mod charts;
mod tables;

use checks::{Figures, RowGroup, StudyFigure, ratio_claim, row_groups, studies};
use itertools::Itertools;
use model::{Batch, Plan, RowsData, RowsWork, record::Record, units::show_count};

use super::{ExperimentReport, about, explained, fastest_question};
use crate::{
    charts::{Make, Part},
    table::{Block, Detail},
};

/// The largest number of targets whose two tables fit on a screen.
const ONE_SCREEN: usize = 10;

const RATIOS: &str = "-v has the ratios with their intervals and verdicts";

impl ExperimentReport for RowsData {
    fn data(&self, plan: &Plan) -> String {
        let batch = match plan.workloads.first().map(|workload| workload.batch) {
            Some(Batch::Of(batch)) => format!("{} a transaction", show_count(batch)),
            _ => "all in one transaction".to_owned(),
        };
        format!("{} rows of two integers by each process, {batch}", show_count(self.rows))
    }

    fn data_for_comparison(&self) -> String {
        format!("{} rows a process", show_count(self.rows))
    }

    fn question(&self, part: &Part<'_>) -> String {
        let works = part.plan().workloads.iter().filter_map(|workload| workload.work.rows());
        let works = works.map(RowsWork::name).unique().format(", ");
        fastest_question(part, &format!("these rows ({works})"))
    }

    fn page(&self, record: &Record, figures: &[Figures], detail: Detail) -> Vec<Block> {
        let groups = row_groups(record);
        let has_published = |group: &RowGroup| {
            group.has_published(|cell| cell.published_seconds.or(cell.published_ratio))
        };
        let published = groups.iter().any(has_published);
        let of = studies::rows();
        let of = published.then_some([&of.title, &of.source, &of.machine]);
        let mut blocks = vec![about(record, of)];
        for group in groups.iter().filter(|group| !group.targets.is_empty()) {
            let ratios = tables::row_ratios(record, group);
            let is_left_out = !detail.all && ratios.is_some() && group.targets.len() > ONE_SCREEN;
            let hint = is_left_out.then(|| RATIOS.to_owned());
            blocks.push(tables::row_seconds(record, group).with_legend(hint).into());
            blocks.extend(ratios.filter(|_| !is_left_out).map(Block::from));
            let styles = tables::row_styles(record, group).filter(|_| detail.all);
            blocks.extend(styles.map(Block::from));
        }
        if detail.all {
            blocks.push(tables::row_notes(record, published).into());
        }
        blocks.extend(explained(record, figures, detail));
        blocks
    }

    fn charts(&self, _part: &Part<'_>) -> &'static [Make] {
        &[charts::rows]
    }

    fn claims(&self, record: &Record) -> Vec<StudyFigure> {
        let mut claims = Vec::new();
        for group in row_groups(record) {
            let by = group.workload.processes_name();
            for row in &group.targets {
                claims.extend(row.cells.iter().filter_map(|cell| {
                    let name = record.header.plan.workloads[cell.case.workload].work.name();
                    let published = (cell.published_ratio?, cell.published_bounds);
                    ratio_claim(record, row.target, format!("{name}, {by}"), published, cell.ratio)
                }));
            }
        }
        claims
    }
}
