//! Prints a record for a person at a terminal.

mod ages;
mod checkup;
mod doubts;
mod engines;
mod explain;
mod head;
mod limited;
mod number;
mod page;
mod rows;
mod settings;
mod space;
mod summary;
mod table;
mod text;
mod times;
mod workers;

use model::{DatasetSpec, record::Record};

use crate::{figures, has_ages, remarks, row_groups, stores};
pub use checkup::checkup;
pub use engines::{engine, engines};
use page::Page;

/// Narrower terminals wrap what was laid out for this many columns.
const NARROWEST: usize = 80;

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal; no line is wider, unless it has fewer than 80.
    pub width: u16,
    /// Whether the terminal shows colours.
    pub color: bool,
    /// Print every finding, not only the weightiest.
    pub all_findings: bool,
    /// Print what goes along with the differences.
    pub explain: bool,
}

/// A record as a person reads it: what was compared and where, a table for each workload, what
/// explains it, the stores, doubts, and how the run ended.
pub fn terminal(record: &Record, style: &Style) -> String {
    if matches!(record.header.plan.dataset, DatasetSpec::Rows { .. }) {
        return of_rows(record, *style);
    }
    if has_ages(record) {
        return of_ages(record, *style);
    }
    let figures = figures(record);
    let stores = stores(record);
    let mut page = page(*style);
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

/// The page of `storemark rows`.
fn of_rows(record: &Record, style: Style) -> String {
    let mut page = page(style);
    rows::print(&mut page, record, &row_groups(record), style.all_findings);
    if style.explain {
        explain::print(&mut page, record, &figures(record));
    }
    doubts::print(&mut page, record, &remarks(record, &figures(record)), style.all_findings);
    summary::print(&mut page, record);
    page.into_text()
}

/// The page of `storemark age`.
fn of_ages(record: &Record, style: Style) -> String {
    let figures = figures(record);
    let mut page = page(style);
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
    let mut page = page(*style);
    head::print(&mut page, record);
    page.into_text()
}

fn page(style: Style) -> Page {
    Page::new(usize::from(style.width).max(NARROWEST), style.color)
}
