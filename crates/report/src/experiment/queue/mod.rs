//! The queue: tasks that are created, changed and deleted, next to the published figures.

mod charts;
mod tables;

use checks::{Figures, StudyFigure, TaskFigures, ratio_claim, studies, task_figures};
use model::{
    Plan, QueueData,
    record::Record,
    units::{show_count, show_size},
};

use super::{ExperimentReport, about, explained, fastest_question};
use crate::{
    charts::{Make, Part},
    table::{Block, Detail},
    words::counted,
};

impl ExperimentReport for QueueData {
    fn data(&self, plan: &Plan) -> String {
        let workers = plan.workloads.first().map_or(0, |workload| workload.threads);
        format!(
            "{}, {} each: created, status changed, output of {} rewritten {}, deleted",
            counted(workers.into(), "worker"),
            counted(self.tasks, "task"),
            show_size(self.output),
            counted(self.rewrites, "time")
        )
    }

    fn data_for_comparison(&self) -> String {
        let [tasks, rewrites, output] = [self.tasks, self.rewrites, self.output].map(show_count);
        format!("{tasks} tasks a worker, {rewrites} rewrites of {output} bytes")
    }

    fn question(&self, part: &Part<'_>) -> String {
        fastest_question(part, "these tasks")
    }

    fn page(&self, record: &Record, figures: &[Figures], detail: Detail) -> Vec<Block> {
        let rows = task_figures(record);
        let published = rows.iter().any(|row| row.published_ms.is_some());
        let of = studies::tasks();
        let of = published.then_some([&of.title, &of.source, &of.machine]);
        let mut blocks = vec![about(record, of)];
        if !rows.is_empty() {
            blocks.push(tables::tasks(record, &rows).into());
            blocks.extend(tables::task_sites(record, &rows).map(Block::from));
        }
        if detail.all {
            if !rows.is_empty() {
                blocks.extend(tables::task_steps(record, &rows).map(Block::from));
                blocks.push(tables::task_costs(record, &rows).into());
            }
            blocks.push(tables::task_notes(record, published).into());
        }
        blocks.extend(explained(record, figures, detail));
        blocks
    }

    fn charts(&self, _part: &Part<'_>) -> &'static [Make] {
        &[charts::tasks]
    }

    fn claims(&self, record: &Record) -> Vec<StudyFigure> {
        let claim = |row: &TaskFigures| {
            let (target, published) = (row.figures.target, (row.published_ratio?, None));
            ratio_claim(record, target, "a task".to_owned(), published, row.figures.ratio)
        };
        task_figures(record).iter().filter_map(claim).collect()
    }
}
