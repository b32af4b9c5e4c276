//! The page of a study: what was published next to what was measured here.

use std::cmp::Reverse;

use itertools::Itertools;
use model::{
    record::Record,
    study::{Study, StudyCommand},
};

use super::{Detail, Page, about, around, run, together};
use crate::{
    StudyFigure, figures, study_figures,
    table::{Block, Line, Lines, Table},
    tables, words,
};

/// What a step gave.
pub struct StudyStep<'a> {
    pub step: &'a StudyCommand,
    /// Its records; none if it could not be run.
    pub records: Vec<Record>,
    /// What of it was not measured, and why; a sentence each.
    pub gaps: Vec<String>,
}

/// What a study is, and how its set-up differs here.
pub fn study_head(study: &Study) -> Page {
    let about =
        [Line::new("source: ", &*study.source), Line::new("published: ", &*study.published_on)];
    let differs = study.differs.iter().map(|sentence| Line::new("  · ", &**sentence));
    Page::of([
        Lines::new(format!("“{}”", study.title), about).into(),
        Lines::new("What differs here:", differs).into(),
    ])
}

/// A step: published and measured figures, and findings. What other commands than `run` measure has
/// the published figures on its own page.
pub fn study_step(done: &StudyStep<'_>, detail: Detail) -> Page {
    let gaps = done.gaps.iter().map(|gap| Line::new("! ", &**gap));
    let title = Lines::new(&*done.step.title, gaps).into();
    let rest = match done.step.command.as_str() {
        "run" => blobs(done, detail),
        _ => done.records.iter().flat_map(|record| run(record, detail)).collect(),
    };
    Page::of([title].into_iter().chain(rest))
}

fn blobs(done: &StudyStep<'_>, detail: Detail) -> Vec<Block> {
    let rows = study_figures(done.step, &done.records);
    let published = rows.iter().filter(|row| row.published.is_some()).count();
    let left_out = done.step.claims.len().saturating_sub(published);
    let left_out = (left_out > 0)
        .then(|| format!("published figures of runs that this sweep leaves out: {left_out}"));
    let table = tables::study(&rows).with_notes(left_out).into();
    let Some(first) = done.records.first() else { return vec![table] };
    let figures: Vec<_> = done.records.iter().map(figures).collect();
    let blocks = [about(first, None), table].into_iter().chain(together(&done.records));
    around(&done.records, &figures, blocks, detail)
}

/// What was published next to what was measured, a verdict each: the answer of a study. `claims` are
/// those of its steps, with their numbers.
pub fn study_end(claims: &[(usize, Vec<StudyFigure>)]) -> Page {
    let blocks =
        study_answer(claims).map(|(counts, table)| [Lines::new(counts, []).into(), table.into()]);
    blocks.map_or_else(Page::default, Page::of)
}

/// How many claims hold, and all of them; absent: nothing was published.
pub(crate) fn study_answer(claims: &[(usize, Vec<StudyFigure>)]) -> Option<(String, Table)> {
    let several = claims.len() > 1;
    let of_step = |(number, rows): &(usize, Vec<StudyFigure>)| {
        let place = if several { format!("step {number}: ") } else { String::new() };
        let placed = |row: &StudyFigure| {
            let mut row = row.clone();
            row.place = format!("{place}{}", row.place());
            row
        };
        rows.iter().map(placed).collect::<Vec<_>>()
    };
    let rows: Vec<_> = claims.iter().flat_map(of_step).collect();
    let counts = rows.iter().map(tables::study_verdict).counts();
    let counts = counts.into_iter().sorted_by_key(|(verdict, count)| (Reverse(*count), *verdict));
    let mut counts = counts.map(|(verdict, count)| format!("{count} {verdict}"));
    let all = words::counted(rows.len() as u64, "published figure");
    let counts = format!("Of {all} here: {}", counts.join(", "));
    (!rows.is_empty()).then(|| (counts, tables::study(&rows)))
}
