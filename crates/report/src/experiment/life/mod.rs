//! The life of stores: what each step takes, and what the store occupies then.

mod charts;
pub(crate) mod tables;

use checks::{Figures, life_figures, life_spaces};
use model::{LifeData, Plan, record::Record};

use super::{ExperimentReport, about, compared_values, details, question};
use crate::{
    charts::{Make, Part, cases},
    table::{Block, Detail},
    words,
};

impl ExperimentReport for LifeData {
    fn data(&self, _plan: &Plan) -> String {
        words::describe_values(
            &self.summary,
            self.summary.count,
            &words::describe_source(&self.dataset),
        )
    }

    fn data_for_comparison(&self) -> String {
        let values = compared_values(&self.dataset, self.summary.count, self.summary.bytes);
        format!("{values}, {} days", self.days)
    }

    fn question(&self, part: &Part<'_>) -> String {
        let one = |label: &str| format!("What does {label} cost over its whole life?");
        question(part.plan(), one, "What do these stores cost over their whole lives?")
    }

    fn page(&self, record: &Record, figures: &[Figures], detail: Detail) -> Vec<Block> {
        let mut blocks = vec![about(record, None)];
        let rows = life_figures(record, figures);
        blocks.extend((!rows.is_empty()).then(|| tables::life(record, &rows).into()));
        blocks.extend(tables::life_spaces(record, &life_spaces(record)).map(Block::from));
        blocks.extend(details(record, figures, detail));
        blocks
    }

    fn charts(&self, _part: &Part<'_>) -> &'static [Make] {
        &[cases::compared, charts::charts]
    }
}
