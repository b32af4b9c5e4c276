//! Pages: tables, sentences and findings in the order in which they are read.

mod advice;
mod calibration;
mod crash;
mod crashed_stores;
mod doctor;
mod engines;
mod study;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use checks::{
    Figures, MergedFinding, all_findings, break_evens, cases, figures, page_matrices, scalings,
};
use model::record::Record;
use stats::FEWEST_FIGURES;

pub(crate) use self::study::{stores as stores_of_study, study_answer};
pub use self::{
    advice::advice,
    calibration::calibration,
    crash::crash,
    crashed_stores::{SERVER_STATES, crashed_stores},
    doctor::doctor,
    engines::{durability, engine, engines, targets},
    study::{study_claims, study_end, study_head, study_step},
};
pub use crate::table::Detail;
use crate::{
    Answer, Comparison, History, answer,
    compare::tables as compared,
    experiment::{ExperimentReport, experiment_report},
    history as histories, sentences,
    table::{Block, Line, Lines, Tone},
    tables, words,
};

/// A page, which every form prints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The blocks in their order.
    pub blocks: Vec<Block>,
    /// Whether it has sentences rather than tables: it is then narrower, because long lines are
    /// hard to read.
    pub prose: bool,
}

impl Page {
    fn new(blocks: impl IntoIterator<Item = Block>) -> Self {
        Self { blocks: blocks.into_iter().collect(), prose: false }
    }

    fn prose(lines: impl IntoIterator<Item = Lines>) -> Self {
        Self { blocks: lines.into_iter().map(Block::from).collect(), prose: true }
    }
}

/// Returns the page of a record. For the runs of a sweep the page compares them, after the pages of
/// the runs if all is asked for.
pub fn records(records: &[Record], detail: Detail) -> Page {
    let swept = records.first().is_some_and(|record| record.header.point.is_some());
    let each = !swept || detail.all || detail.explain;
    let runs = records.iter().filter(|_| each).flat_map(|record| run(record, detail));
    let sweep = swept.then(|| sweep(records, detail)).into_iter().flatten();
    let over_time = records.iter().filter(|_| detail.over_time);
    let over_time = over_time.flat_map(|record| self::over_time(record, detail));
    Page::new(runs.chain(sweep).chain(over_time))
}

/// Returns the page of a history; `name` is that of its folder.
pub fn history(history: &History, name: &str) -> Page {
    let head = history_head(history, name);
    let groups = history.groups.iter().flat_map(|group| {
        let changes = histories::found(group).into_iter().map(|text| Line::new("  ", text));
        let about = Line::new("", sentences::history_group(&group.machine, &group.data));
        let about = Lines::new("", [about.tone(Tone::Dim)].into_iter().chain(changes));
        [Block::from(about), histories::table(group).into()]
    });
    Page::new(head.blocks.into_iter().chain(groups))
}

/// Returns the head of a history: its counts, and what is not compared.
pub fn history_head(history: &History, name: &str) -> Page {
    let groups = history.groups.len();
    let several = (groups > 1).then(|| sentences::history_groups(groups));
    let most = history.groups.first().map_or(0, |group| group.records.len());
    let few = (most < FEWEST_FIGURES).then(|| sentences::history_few(FEWEST_FIGURES));
    let lines = [Some(histories::counts(history)), several, few].into_iter().flatten();
    Page::new([
        Lines::new(format!("history of {name}"), lines.map(|line| Line::new("", line))).into()
    ])
}

/// The number of differences that are shown unless all are asked for.
const FEW: usize = 5;

/// Returns the page that compares two records; `names` has the old one's and the new one's.
pub fn comparison(comparison: &Comparison, names: [&str; 2], detail: Detail) -> Page {
    let head = comparison_head(comparison, names, detail);
    if comparison.same {
        return head;
    }
    let case = |case| compared::compared_case(case, detail.all).into();
    let found = comparison.findings.iter();
    let found = found.map(|one| (one.severity, format!("{}: {}", one.whose, one.sentence)));
    let findings = Block::Findings { findings: found.collect(), all: detail.all };
    let blocks = head.blocks.into_iter().chain(comparison.cases.iter().map(case));
    let counters = compared::changed_counters(comparison).into_iter();
    let counters = Lines::new("Counters that changed", counters.map(|text| Line::new("· ", text)));
    let blocks = blocks.chain(counters.unless_empty().map(Block::from));
    let differences = differences(comparison, detail).map(Block::from);
    Page::new(blocks.chain(differences).chain([findings]))
}

/// Lists what differs besides the times, the first of them unless all are asked for; `None` if nothing
/// does.
fn differences(comparison: &Comparison, detail: Detail) -> Option<Lines> {
    let all = compared::differences(comparison);
    let shown = if detail.all { all.len() } else { all.len().min(FEW) };
    let hidden = all.len() - shown;
    let hint = (hidden > 0).then(|| Line::new("  ", format!("and {hidden} more (-v shows all)")));
    let lines = all.into_iter().take(shown).map(|text| Line::new("! ", text));
    Lines::new("What else differs", lines.chain(hint)).unless_empty()
}

/// Returns the head of a comparison: its counts, what times are divided by, and what the new record
/// lacks.
pub fn comparison_head(comparison: &Comparison, names: [&str; 2], detail: Detail) -> Page {
    let control = compared::control(comparison).filter(|_| !comparison.same);
    let single = compared::single_record(comparison);
    let counts = Some(compared::counts(comparison)).into_iter().chain(single).chain(control);
    let counts = counts.map(|text| Line::new("", text));
    let lost = compared::lost(comparison, detail.all).map(|text| Line::new("! ", text));
    let title = format!("{} against {}", names[1], names[0]);
    Page::new([Lines::new(title, counts.chain(lost)).into()])
}

/// Returns the blocks of a run: the answer, what was measured, the tables of the experiment,
/// findings, and how it ended.
fn run(record: &Record, detail: Detail) -> Vec<Block> {
    run_in(experiment_report(&record.header.plan), record, detail)
}

/// Returns the blocks of a run, whose experiment `report` shows.
fn run_in(report: &dyn ExperimentReport, record: &Record, detail: Detail) -> Vec<Block> {
    let figures = figures(record);
    let judged = cases(&figures).filter_map(|rows| tables::judged(record, rows)).map(Block::from);
    let tables =
        report.page(record, &figures, detail).into_iter().chain(judged).collect::<Vec<_>>();
    with_answer(std::slice::from_ref(record), &[figures], tables, detail)
}

/// Puts the answer of `runs`, of which there is at least one, the findings and how they ended around their
/// `tables`. `figures` has those of each run.
fn with_answer(
    runs: &[Record],
    figures: &[Vec<Figures>],
    tables: impl IntoIterator<Item = Block>,
    detail: Detail,
) -> Vec<Block> {
    let found = all_findings(runs, figures);
    let answer = answered(&answer(runs, figures, &found));
    let plan = &runs[0].header.plan;
    let words = |found: &MergedFinding| (found.kind.severity(), words::finding(plan, found));
    let findings = found.iter().map(words).collect();
    // The findings follow the answer, unless all details are asked for.
    let findings = Block::Findings { findings, all: detail.all };
    let [above, below] = if detail.all { [None, Some(findings)] } else { [Some(findings), None] };
    let tables = tables.into_iter().map(|block| match block {
        Block::Table(table) if !detail.all => table.brief().into(),
        block => block,
    });
    let hint = (!detail.all).then(|| Line::new("", MORE).tone(Tone::Dim));
    let ended = [Line::new("", words::ended(runs))].into_iter().chain(hint);
    let ended = Lines::new("", ended).into();
    let head = [Some(answer.into()), above].into_iter().flatten();
    head.chain(tables).chain(below).chain([ended]).collect()
}

/// The hint at further details.
const MORE: &str = "details: -v (percentiles, space, settings, all findings), --html FILE (charts)";

fn answered(answer: &Answer) -> Lines {
    let said = answer.says.iter().map(|text| Line::new("", text).tone(Tone::Bold));
    let cases = answer.cases.iter().map(|text| Line::new("  ", text));
    let more = answer.more.iter().map(|text| Line::new("", text));
    Lines::new("", said.chain(cases).chain(more))
}

/// Returns the blocks of a sweep, which has at least one run.
fn sweep(runs: &[Record], detail: Detail) -> Vec<Block> {
    let first = &runs[0];
    let plan = &first.header.plan;
    let figures: Vec<_> = runs.iter().map(figures).collect();
    let machine = Line::new("", words::machine(&first.header.environment)).tone(Tone::Dim);
    let mut blocks = vec![Lines::new(tables::sweep_title(runs), [machine]).into()];
    for case in plan.cases() {
        let runs = runs.iter().zip(&figures).map(|(run, rows)| (run, rows.as_slice()));
        let title = words::about(plan, case, &BTreeMap::new());
        blocks.push(tables::sweep(title, case, runs).into());
    }
    blocks.extend(together(runs));
    with_answer(runs, &figures, blocks, detail)
}

/// Returns the tables that only all runs together show; there is at least one run.
fn together(runs: &[Record]) -> Vec<Block> {
    let evens = tables::break_evens(&runs[0], &break_evens(runs)).into_iter();
    let matrices = page_matrices(runs);
    let matrices = matrices.iter().map(|matrix| tables::page_sizes(&runs[0], matrix));
    let scalings = tables::scalings(&runs[0], &scalings(runs));
    evens.chain(scalings).chain(matrices).map(Block::from).collect()
}

fn over_time(record: &Record, detail: Detail) -> Vec<Block> {
    let varied = words::varied(record);
    let varied = if varied.is_empty() { varied } else { format!(", {varied}") };
    let figures = figures(record);
    let cases: Vec<_> =
        cases(&figures).flat_map(|rows| tables::over_time(record, rows, detail.all)).collect();
    let noted = record.samples.iter().any(|sample| sample.over_time().is_some());
    let why = Line::new("  ", if noted { NOT_IN_STATE } else { NOTHING });
    let title = format!("over time{varied}: passes in slices of 100 ms");
    let head = Lines::new(title, cases.is_empty().then_some(why));
    [head.into()].into_iter().chain(cases).collect()
}

const NOTHING: &str = "this record has no slices: no pass with a clock took longer than a slice, or an \
                       older storemark wrote it; `storemark run --over-time` makes passes that do";

const NOT_IN_STATE: &str = "no pass with slices in this record was in its cache state";
