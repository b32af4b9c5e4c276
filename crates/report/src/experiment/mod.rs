//! What a report shows of each experiment: a folder for each, with its figures, tables, charts and
//! words. [`experiment_report`] is the only list of them.

pub(crate) mod age;
pub(crate) mod backup;
mod blobs;
pub(crate) mod life;
pub(crate) mod queue;
pub(crate) mod roles;
pub(crate) mod rows;

use checks::{Figures, StudyFigure, cases, stores};
use model::{DatasetSpec, Experiment, Generated, Plan, record::Record, units::show_count};

use crate::{
    charts::{Make, Part},
    sentences,
    table::{Block, Detail, Line, Lines, Tone},
    tables,
    words::{machine, sized},
};

/// What a report shows of an experiment, whose data `self` is.
pub(crate) trait ExperimentReport {
    /// Describes the data of a plan, and where it comes from.
    fn data(&self, plan: &Plan) -> String;

    /// Returns the text by which a comparison of records shows their data and decides whether it is
    /// the same. The seed and the location are not in it.
    fn data_for_comparison(&self) -> String;

    /// Returns the question that a page answers.
    fn question(&self, part: &Part<'_>) -> String;

    /// Returns the blocks of a record: what was measured, the tables and what explains them.
    fn page(&self, record: &Record, figures: &[Figures], detail: Detail) -> Vec<Block>;

    /// Returns what makes the charts of a part, in their order; the first one shows the answer.
    fn charts(&self, _part: &Part<'_>) -> &'static [Make] {
        &[]
    }

    /// Returns the published figures in the experiment's own tables, with those measured here.
    fn claims(&self, _record: &Record) -> Vec<StudyFigure> {
        Vec::new()
    }
}

pub(crate) fn experiment_report(plan: &Plan) -> &dyn ExperimentReport {
    match &plan.experiment {
        Experiment::Blobs(data) => data,
        Experiment::Rows(data) => data,
        Experiment::Queue(data) => data,
        Experiment::Age(data) => data,
        Experiment::Backup(data) => data,
        Experiment::Life(data) => data,
        Experiment::Roles(data) => data,
    }
}

/// Describes what was measured and where, and the title, source and machine of what was published.
pub(crate) fn about(record: &Record, published: Option<[&String; 3]>) -> Block {
    let plan = &record.header.plan;
    let published = published
        .map(|[title, source, machine]| format!("published: “{title}”, {source} ({machine})"));
    let lines = [machine(&record.header.environment)].into_iter().chain(published);
    let lines = lines.map(|line| Line::new("", line).tone(Tone::Dim));
    Lines::new(experiment_report(plan).data(plan), lines).into()
}

/// Returns what explains the figures of each case, if that is asked for.
fn explained(record: &Record, figures: &[Figures], detail: Detail) -> Vec<Block> {
    let of_case = |rows| {
        let tables = tables::explained(record, rows).map(Block::from);
        tables.into_iter().chain(tables::explained_sentences(record, rows).map(Block::from))
    };
    cases(figures).filter(|_| detail.explain).flat_map(of_case).collect()
}

/// Returns what explains the figures of an experiment whose trials create their stores, and the
/// settings of those.
fn details(record: &Record, figures: &[Figures], detail: Detail) -> Vec<Block> {
    // Some cases are measured in one state, and what is not measured explains nothing.
    let measured: Vec<_> = figures.iter().filter(|row| row.rounds > 0).cloned().collect();
    let settings = tables::settings(record, &stores(record)).filter(|_| detail.all);
    explained(record, &measured, detail).into_iter().chain(settings.map(Block::from)).collect()
}

/// Returns a question about one target, whose label it contains, or about several.
fn question(plan: &Plan, one: impl Fn(&str) -> String, several: &str) -> String {
    match plan.targets.as_slice() {
        [target] => one(&target.label),
        _ => several.to_owned(),
    }
}

/// Returns the question which target is fastest for `what`.
fn fastest_question(part: &Part<'_>, what: &str) -> String {
    let several = if part.varies("size") {
        sentences::which_is_fastest_by_size(what)
    } else {
        sentences::which_is_fastest(what)
    };
    question(part.plan(), |label| sentences::how_fast(label, what), &several)
}

/// Describes values that are compared: the settings of generated ones, else their number and bytes.
fn compared_values(dataset: &DatasetSpec, count: u64, bytes: u64) -> String {
    match dataset {
        DatasetSpec::Generated(data) => compared_generated(data),
        DatasetSpec::Directory { .. } => format!("a folder of {}", sized(count, bytes)),
        DatasetSpec::Targets => format!("what the targets hold, {}", sized(count, bytes)),
    }
}

/// Describes generated values for a comparison, without their seed.
fn compared_generated(data: &Generated) -> String {
    let [count, size, variance] = [data.count, data.size, data.variance].map(show_count);
    let random = match data.random_percent {
        100 => String::new(),
        percent => format!(", {percent} % of them random"),
    };
    format!("{count} generated blobs of {size} ± {variance} bytes{random}")
}
