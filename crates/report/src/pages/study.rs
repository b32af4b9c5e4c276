//! The page of a study: what was published next to what was measured here.

use std::cmp::Reverse;

use checks::{StudyFigure, figures, power_cut_figures, study_figures};
use itertools::Itertools;
use model::record::Record;
use spec::study::Study;

use super::{Detail, Page, crashed_stores, run, together, with_answer};
use crate::{
    charts::StudyStep,
    experiment::{about, experiment_report, roles::costs},
    table::{Block, Line, Lines, Table},
    tables, words,
};

/// Returns the head of a study's page: its sources, and how its set-up differs here.
pub fn study_head(study: &Study) -> Page {
    let about =
        [Line::new("source: ", &*study.source), Line::new("published: ", &*study.published_on)];
    let differs = study.differs.iter().map(|sentence| Line::new("  · ", &**sentence));
    Page::new([
        Lines::new(format!("“{}”", study.title), about).into(),
        Lines::new("What differs here:", differs).into(),
    ])
}

/// Returns the page of a step: published and measured figures, and findings. Commands other than
/// `run` show the published figures in their own tables.
pub fn study_step(done: &StudyStep<'_>, detail: Detail) -> Page {
    let gaps = done.gaps.iter().map(|gap| Line::new("! ", &**gap));
    let title = Lines::new(&*done.step.title, gaps).into();
    let rest = match done.step.command.as_str() {
        _ if done.step.cuts_power() => power_cuts(done),
        "run" => blobs(done, detail),
        _ => done.records.iter().flat_map(|record| run(record, detail)).collect(),
    };
    Page::new([title].into_iter().chain(rest))
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
    let roles = done.records.iter().zip(&figures).flat_map(|(record, rows)| costs(record, rows));
    let blocks = [about(first, None), table].into_iter().chain(together(&done.records));
    let blocks = blocks.chain(roles);
    with_answer(&done.records, &figures, blocks, detail)
}

fn power_cuts(done: &StudyStep<'_>) -> Vec<Block> {
    let published = tables::study(&power_cut_figures(done.step, &done.crashed));
    [published.into()].into_iter().chain(stores(done)).collect()
}

/// Returns the blocks on the stores under which a step cut the power.
pub(crate) fn stores(done: &StudyStep<'_>) -> Vec<Block> {
    if done.crashed.is_empty() { Vec::new() } else { crashed_stores(&done.crashed).blocks }
}

/// Returns every published figure of a step with the one measured here.
pub fn study_claims(done: &StudyStep<'_>) -> Vec<StudyFigure> {
    let StudyStep { step, records, crashed, .. } = done;
    if step.cuts_power() {
        return power_cut_figures(step, crashed);
    }
    let of_tables = |record: &Record| experiment_report(&record.header.plan).claims(record);
    let claims = study_figures(step, records).into_iter().filter(|row| row.published.is_some());
    records.iter().flat_map(of_tables).chain(claims).collect()
}

/// Returns the answer of a study: the published figures next to the measured ones, with a verdict
/// each. `claims` are those of its steps, with their numbers.
pub fn study_end(claims: &[(usize, Vec<StudyFigure>)]) -> Page {
    let blocks =
        study_answer(claims).map(|(counts, table)| [Lines::new(counts, []).into(), table.into()]);
    blocks.map_or_else(Page::default, Page::new)
}

/// Counts the claims by verdict, and returns the table of all; `None` if nothing was published.
pub(crate) fn study_answer(claims: &[(usize, Vec<StudyFigure>)]) -> Option<(String, Table)> {
    let several = claims.len() > 1;
    let of_step = |(number, rows): &(usize, Vec<StudyFigure>)| {
        let place = if several { format!("step {number}: ") } else { String::new() };
        let placed = |row: &StudyFigure| {
            let mut row = row.clone();
            row.place = format!("{place}{}", tables::shown_place(&row));
            row
        };
        rows.iter().map(placed).collect::<Vec<_>>()
    };
    let rows: Vec<_> = claims.iter().flat_map(of_step).collect();
    let counts = rows.iter().map(tables::study_verdict).counts();
    let sorted = counts.into_iter().sorted_by_key(|(verdict, count)| (Reverse(*count), *verdict));
    let counted = sorted.map(|(verdict, count)| format!("{count} {verdict}")).join(", ");
    let all = words::counted(rows.len() as u64, "published figure");
    (!rows.is_empty()).then(|| (format!("Of {all} here: {counted}"), tables::study(&rows)))
}
