//! Tables and pages of records.
//!
//! [`read()`] reads records, and `checks` computes their figures. `tables` declares a
//! [`table::Table`] for each question, and `pages` puts tables, sentences and findings in order. The forms only print them: `terminal`, `markdown`, [`html()`];
//! [`csv()`] has the trials, [`ReportData`] and [`ComparisonData`] are JSON.
#![warn(missing_docs)]

mod answer;
mod charts;
mod compare;
/// Trials as comma-separated values.
pub mod csv;
mod experiment;
mod gate;
mod hdr;
mod history;
mod html;
mod json;
/// Pages as Markdown.
pub mod markdown;
mod number;
/// The pages of each command: tables, sentences and findings in their order.
pub mod pages;
mod read;
mod sentences;
/// Tables, and the other blocks of a page.
pub mod table;
mod tables;
mod terminal;
mod text;
mod words;

pub use answer::{Answer, answer};
pub use charts::{Machine, StudyStep};
pub use compare::{
    ComparedCase, ComparedFinding, Comparison, NamedRecords, Unlike, as_runs, comparison,
    counter_rows, environment_differences, gate_rows, plan_differences,
};
pub use csv::{csv, csv_columns};
pub use gate::{counted_row, gated_row};
pub use hdr::{HDR_HEAD, hdr};
pub use history::{
    History, HistoryGroup, HistoryLine, HistoryPoint, HistoryRecord, HistoryStep, HistoryVerdict,
    history,
};
pub use html::{
    HTML_HEAD, html, html_crash, html_crashed_stores, html_history, html_study, no_charts,
};
pub use json::{ComparisonData, HistoryData, ReportData};
pub use pages::study_claims;
pub use read::read;
pub use terminal::Style;
