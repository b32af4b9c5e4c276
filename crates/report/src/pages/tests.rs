//! A tiny experiment, as docs/adding-an-experiment.md describes one: its own words and its page are
//! all that a report needs.

use checks::Figures;
use model::{Plan, record::Record};

use super::run_in;
use crate::{
    Machine,
    charts::Part,
    experiment::ExperimentReport,
    table::{Block, Detail, Line, Lines},
};

struct Tiny;

impl ExperimentReport for Tiny {
    fn data(&self, plan: &Plan) -> String {
        format!("tiny data, seed {}", plan.seed)
    }

    fn data_for_comparison(&self) -> String {
        "tiny data".to_owned()
    }

    fn question(&self, part: &Part<'_>) -> String {
        format!("How tiny is {}?", part.baseline())
    }

    fn page(&self, record: &Record, figures: &[Figures], _detail: Detail) -> Vec<Block> {
        let rows = format!("{} of {}", figures.len(), self.data(&record.header.plan));
        vec![Lines::new("", [Line::new("", rows)]).into()]
    }
}

#[test]
fn a_tiny_experiment_needs_nothing_but_its_words_and_its_page() {
    let text = include_bytes!("../../tests/records/format-3.jsonl");
    let (records, _) = crate::read(text.as_slice()).unwrap();
    let part = Part::new(&[Machine { file: None, records: &records }], None);
    let baseline = part.baseline();
    assert_eq!(Tiny.question(&part), format!("How tiny is {baseline}?"));
    assert!(Tiny.charts(&part).is_empty() && Tiny.claims(&records[0]).is_empty());
    let blocks = run_in(&Tiny, &records[0], Detail::default());
    let rows = format!("{} of tiny data, seed {}", part.first().figures.len(), part.plan().seed);
    let own: Block = Lines::new("", [Line::new("", rows)]).into();
    assert!(blocks.contains(&own), "{blocks:?}");
    assert!(blocks.len() > 2, "the answer, the findings and the ending are around it: {blocks:?}");
}
