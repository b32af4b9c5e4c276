//! Ageing: stores whose objects are replaced again and again.

mod charts;
mod tables;

use checks::{Figures, age_groups, age_spaces};
use model::{AgeData, Plan, record::Record};

use super::{ExperimentReport, about, compared_generated, details, question};
use crate::{
    charts::{Make, Part},
    table::{Block, Detail},
    words,
};

impl ExperimentReport for AgeData {
    fn data(&self, _plan: &Plan) -> String {
        words::describe_values(
            &self.summary,
            self.summary.count,
            &format!(" from seed {}", self.data.seed),
        )
    }

    fn data_for_comparison(&self) -> String {
        compared_generated(&self.data)
    }

    fn question(&self, part: &Part<'_>) -> String {
        let one = |label: &str| format!("Does {label} get slower as it ages?");
        question(part.plan(), one, "Which store stays fast as it ages?")
    }

    fn page(&self, record: &Record, figures: &[Figures], detail: Detail) -> Vec<Block> {
        let mut blocks = vec![about(record, None)];
        let groups = age_groups(record, figures);
        blocks.extend(groups.iter().map(|group| tables::ages(record, group).into()));
        let spaces = tables::age_spaces(record, &age_spaces(record)).filter(|_| detail.all);
        blocks.extend(spaces.map(Block::from));
        blocks.extend(details(record, figures, detail));
        blocks
    }

    fn charts(&self, _part: &Part<'_>) -> &'static [Make] {
        &[charts::charts]
    }
}
