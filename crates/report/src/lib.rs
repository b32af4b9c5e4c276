//! Figures, tables and pages of records, recomputed from the records alone each time.
//!
//! [`read()`] reads records. `figures` computes what `checks` does not, [`studies`] has what was
//! published, `tables` declares a [`table::Table`] for each question, and `pages` puts tables,
//! sentences and findings in order. The forms only print them: `terminal`, `markdown`, [`html()`];
//! [`csv()`] has the trials, [`ReportData`] and [`ComparisonData`] are JSON.
#![warn(missing_docs)]

mod answer;
mod charts;
mod compare;
/// Trials as comma-separated values.
pub mod csv;
mod experiment;
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
pub use charts::Machine;
pub use checks::{
    BackgroundTotal, Figures, MergedFinding, Percentiles, Point, Schedule, Stall, Timeline,
    Verdict, all_findings, figures, timelines,
};
use checks::{Series, facts, per, percentiles, sum};
pub use compare::{
    Change, ComparedCase, ComparedFinding, Comparison, Unlike, as_runs, comparison,
    environment_differences, gate_rows, plan_differences,
};
pub use csv::{csv, csv_columns};
pub use experiment::{
    age::figures::{AgeGroup, AgeRow, AgeSpace, age_groups, age_spaces},
    backup::figures::{BackupFigures, backup_figures},
    life::figures::{LifeFigures, LifeSpace, life_figures, life_spaces},
    queue::figures::{TaskFigures, task_figures},
    rows::figures::{RowCell, RowFigures, RowGroup, row_groups},
};
pub use figures::{
    explained::{Difference, Explained, differences, explained},
    hosts::{HostFigures, host_figures},
    latencies::{Latencies, latencies},
    requests::{RequestFigures, requests},
    scaling::{Scaling, ScalingPoint, scalings},
    stores::{StoreFigures, stores},
    study::{Against, Here, StudyFigure, study_figures},
    sweep::{PageMatrix, TargetBreakEven, break_evens, page_matrices},
    workers::{Rates, Waits, rates, waits},
};
pub use hdr::{HDR_HEAD, hdr};
pub use html::{HTML_HEAD, html, html_study, no_charts};
pub use json::{ComparisonData, ReportData};
pub use pages::study_claims;
pub use read::{read, read_header};
pub use studies::StudyStep;
pub use terminal::Style;
