//! Prints a record for a person at a terminal.

pub(crate) mod ages;
mod bar;
mod checkup;
mod comparison;
pub(crate) mod doubts;
mod engines;
mod explain;
pub(crate) mod head;
mod latencies;
mod limited;
pub(crate) mod number;
mod over_time;
mod page;
pub(crate) mod queue;
pub(crate) mod rows;
mod settings;
mod space;
pub(crate) mod study;
pub(crate) mod summary;
pub(crate) mod sweep;
mod table;
mod text;
pub(crate) mod times;
mod topics;
mod workers;

use model::{Experiment, record::Record};

use crate::{figures, queue_figures, remarks, row_groups, stores};
pub use checkup::checkup;
pub(crate) use comparison::{asides, verdict_words as change_words};
pub use comparison::{comparison as comparison_page, worse_rows};
pub(crate) use doubts::sentence as remark_sentence;
pub use engines::{engine, engines};
pub(crate) use head::what_and_where;
pub(crate) use number::{figure_or_none, interval_or_none};
pub use over_time::over_time;
use page::Page;
pub use study::{StudyStep, study_head, study_step};
pub(crate) use summary::ended as run_ended;
pub(crate) use text::harmless;
pub(crate) use times::{judged as verdict_words, name as workload_name};
pub use topics::{durability, targets};

/// Narrower terminals wrap what was laid out for this many columns.
const NARROWEST: usize = 80;

/// The same for the tables of records, which leave columns out.
const NARROWEST_TABLE: usize = 60;

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Style {
    /// Columns of the terminal; no line is wider, unless it has fewer than 60 or,
    /// for other pages than those of records, fewer than 80.
    pub width: u16,
    /// Whether the terminal shows colours.
    pub color: bool,
    /// Whether it shows block characters: bars stand beside ratios then.
    pub bars: bool,
    /// Print every finding, not only the weightiest.
    pub all_findings: bool,
    /// Print what goes along with the differences.
    pub explain: bool,
}

/// A record as a person reads it: what was compared and where, a table for each workload, what
/// explains it, the stores, doubts, and how the run ended.
pub fn terminal(record: &Record, style: &Style) -> String {
    match record.header.plan.experiment {
        Experiment::Rows { .. } => return of_rows(record, *style),
        Experiment::Tasks { .. } => return of_queue(record, *style),
        Experiment::Ageing { .. } => return of_ages(record, *style),
        Experiment::Blobs { .. } => {}
    }
    let figures = figures(record);
    let stores = stores(record);
    let mut page = blank(*style);
    head::print(&mut page, record);
    times::print(&mut page, record, &figures);
    if style.explain {
        explain::print(&mut page, record, &figures);
    }
    space::print(&mut page, record, &stores);
    settings::print(&mut page, record, &stores);
    doubts::print(&mut page, record, &remarks(record, &figures), style.all_findings);
    summary::print(&mut page, record);
    page.into_text()
}

/// The page of a record; of the runs of a sweep, one that compares them, with their own pages before
/// it where all is asked for.
pub fn page(records: &[Record], style: &Style) -> String {
    let swept = records.first().is_some_and(|record| record.header.point().is_some());
    let each = !swept || style.all_findings || style.explain;
    let mut pages: Vec<String> = Vec::new();
    if each {
        pages.extend(records.iter().map(|record| terminal(record, style)));
    }
    if swept {
        let mut page = blank(*style);
        sweep::print(&mut page, records, style.all_findings);
        pages.push(page.into_text());
    }
    pages.join("\n")
}

/// The page of `storemark rows`.
fn of_rows(record: &Record, style: Style) -> String {
    let mut page = blank(style);
    rows::print(&mut page, record, &row_groups(record), style.all_findings);
    conclude(page, record, style)
}

/// The page of `storemark queue`.
fn of_queue(record: &Record, style: Style) -> String {
    let mut page = blank(style);
    queue::print(&mut page, record, &queue_figures(record), style.all_findings);
    conclude(page, record, style)
}

/// What stands below either: what explains it, doubts, and how the run ended.
fn conclude(mut page: Page, record: &Record, style: Style) -> String {
    let figures = figures(record);
    if style.explain {
        explain::print(&mut page, record, &figures);
    }
    doubts::print(&mut page, record, &remarks(record, &figures), style.all_findings);
    summary::print(&mut page, record);
    page.into_text()
}

/// The page of `storemark age`.
fn of_ages(record: &Record, style: Style) -> String {
    let figures = figures(record);
    let mut page = blank(style);
    head::print(&mut page, record);
    ages::print(&mut page, record, &figures);
    if style.explain {
        // Writes are measured in one state, and what is not measured explains nothing.
        let measured: Vec<_> = figures.iter().filter(|row| row.rounds > 0).cloned().collect();
        explain::print(&mut page, record, &measured);
    }
    settings::print(&mut page, record, &stores(record));
    doubts::print(&mut page, record, &remarks(record, &figures), style.all_findings);
    summary::print(&mut page, record);
    page.into_text()
}

/// What [`terminal`] begins with: what was compared, and where.
pub fn head(record: &Record, style: &Style) -> String {
    let mut page = blank(*style);
    head::print(&mut page, record);
    page.into_text()
}

fn blank(style: Style) -> Page {
    let width = usize::from(style.width).max(NARROWEST_TABLE);
    Page::new(width, style.color).with_bars(style.bars)
}
