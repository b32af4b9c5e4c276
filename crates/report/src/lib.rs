//! Figures, tables and pages of records, recomputed from the records alone each time.
//!
//! [`read()`] reads records. `figures` computes what `checks` does not, [`studies`] has what was
//! published, `tables` declares a [`table::Table`] for each question, and `pages` puts tables,
//! sentences and findings in order. The forms only print them: `terminal`, `markdown`, [`html()`];
//! [`csv()`] has the trials, [`ReportData`] and [`ComparisonData`] are JSON.
#![warn(missing_docs)]

mod answer;
/// Trials as comma-separated values.
pub mod csv;
mod figures;
mod hdr;
mod html;
mod json;
/// Pages as Markdown.
pub mod markdown;
mod number;
/// The pages of each command: tables, sentences and findings in their order.
pub mod pages;
mod read;
/// The published experiments.
pub mod studies;
/// Tables, and the other blocks of a page.
pub mod table;
mod tables;
mod terminal;
mod text;
mod words;

pub use answer::{Answer, answer, limits::quoted};
pub use checks::{
    BackgroundTotal, Figures, MergedFinding, Percentiles, Point, Schedule, Stall, Timeline,
    Verdict, all_findings, figures, timelines,
};
use checks::{Series, facts, per, percentiles, sum};
pub use csv::{csv, csv_columns};
pub use figures::{
    ages::{AgeGroup, AgeRow, AgeSpace, age_groups, age_spaces},
    backup::{BackupFigures, backup_figures},
    comparison::{Change, ComparedCase, ComparedFinding, Comparison, comparison},
    explained::{Difference, Explained, differences, explained},
    hosts::{HostFigures, host_figures},
    latencies::{Latencies, latencies},
    life::{LifeFigures, LifeSpace, life_figures, life_spaces},
    requests::{RequestFigures, requests},
    rows::{RowCell, RowFigures, RowGroup, row_groups},
    scaling::{Scaling, ScalingPoint, scalings},
    several::as_runs,
    stores::{StoreFigures, stores},
    study::{Against, Here, StudyFigure, study_claims, study_figures},
    sweep::{PageMatrix, TargetBreakEven, break_evens, page_matrices},
    tasks::{TaskFigures, task_figures},
    unlike::{Unlike, environment_differences, plan_differences},
    workers::{Rates, Waits, rates, waits},
};
pub use hdr::{HDR_HEAD, hdr};
pub use html::{HTML_HEAD, Machine, html, html_study, no_charts};
pub use json::{ComparisonData, ReportData};
pub use pages::StudyStep;
pub use read::{read, read_header};
pub use tables::gate_rows;
pub use terminal::Style;
