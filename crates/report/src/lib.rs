//! From a record to figures, doubts and tables: from the record alone, recomputed each time.
//!
//! [`read()`] takes a record in, [`figures()`], [`stores()`] and [`explained()`] compute,
//! [`Judgement`] judges, [`differences()`] names what goes along with that, [`remarks()`] gathers
//! the doubts, [`terminal()`] prints, [`html()`] makes a page with charts.

mod ages;
mod arithmetic;
mod difference;
mod environments;
mod explain;
mod figures;
mod histogram;
mod html;
mod judgement;
mod latencies;
mod merging;
mod over_time;
mod plans;
mod published;
mod queue;
mod read;
mod remarks;
mod rows;
mod steadiness;
mod stores;
mod study;
mod sweep;
mod terminal;
mod together;
mod unlike;

pub use ages::{AgeGroup, AgeRow, AgeSpace, age_groups, age_spaces, has_ages};
pub use difference::{Aspect, Difference, differences};
pub use environments::environment_differences;
pub use explain::{Explained, explained};
pub use figures::{CpuTime, Figures, Percentiles, Schedule, figures};
pub use html::{HTML_HEAD, Machine, html, html_study};
pub use judgement::Judgement;
pub use latencies::{Latencies, latencies};
pub use over_time::{Chores, Point, Stall, Timeline, timelines};
pub use plans::plan_differences;
pub use published::{
    Published, published,
    tasks::{PublishedQueue, published_queues},
};
pub use queue::{QueueFigures, queue_figures};
pub use read::{read, read_header};
pub use remarks::{Remark, advice, derived, remarks};
pub use rows::{RowCell, RowFigures, RowGroup, row_groups};
pub use stores::{Space, StoreFigures, stores};
pub use study::{Against, Held, Here, held};
pub use sweep::{PageMatrix, TargetBreakEven, break_evens, page_matrices};
pub use terminal::{
    StudyStep, Style, checkup, engine, engines, head, page, study_head, study_step, terminal,
};
pub use together::{Rates, Together, Waits, together};
pub use unlike::Unlike;
