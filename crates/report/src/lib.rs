//! From a record to figures, doubts and tables: from the record alone, recomputed each time.
//!
//! [`read()`] takes a record in, [`figures()`], [`stores()`] and [`explained()`] compute,
//! [`Judgement`] judges, [`comparison()`] compares two records, [`differences()`] names what goes along
//! with that, [`remarks()`] gathers the doubts, [`terminal()`] prints, [`html()`] makes a page with
//! charts.

mod ages;
mod comparison;
mod data;
mod difference;
mod environments;
mod explain;
mod html;
mod latencies;
mod markdown;
mod merging;
mod plans;
mod published;
mod queue;
mod read;
mod rows;
mod sheet;
mod stores;
mod study;
mod sweep;
mod terminal;
mod together;
mod unlike;

pub use ages::{AgeGroup, AgeRow, AgeSpace, age_groups, age_spaces, has_ages};
pub use checks::{
    Chores, CpuTime, Figures, Judgement, Percentiles, Point, Remark, Schedule, Stall, Timeline,
    advice, derived, figures, remarks, timelines,
};
use checks::{
    Place, histogram, p99s, percentiles, ratio_between, ratios, remarks_of_all, times,
    usable_samples,
};
pub use comparison::{Change, ComparedCase, ComparedDoubt, Comparison, Whose, comparison};
pub use data::{ComparisonData, ReportData};
pub use difference::{Aspect, Difference, differences};
pub use environments::environment_differences;
pub use explain::{Explained, explained};
pub use html::{HTML_HEAD, Machine, html, html_study};
pub use latencies::{Latencies, latencies};
pub use markdown::{comparison_markdown, report_markdown};
pub use plans::plan_differences;
pub use published::{
    Published, published,
    tasks::{PublishedQueue, published_queues},
};
pub use queue::{QueueFigures, queue_figures};
pub use read::{read, read_header};
pub use rows::{RowCell, RowFigures, RowGroup, row_groups};
pub use sheet::{csv, csv_columns};
pub use stores::{Space, StoreFigures, stores};
pub use study::{Against, Held, Here, held};
pub use sweep::{PageMatrix, TargetBreakEven, break_evens, page_matrices};
pub use terminal::{
    StudyStep, Style, checkup, comparison_page, durability, engine, engines, head, over_time, page,
    study_head, study_step, targets, terminal, worse_rows,
};
pub use together::{Rates, Together, Waits, together};
pub use unlike::Unlike;
