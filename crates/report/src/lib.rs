//! From a record to figures, doubts and tables: from the record alone, recomputed each time.
//!
//! [`read()`] takes a record in, [`figures()`], [`stores()`] and [`explained()`] compute,
//! [`Judgement`] judges, [`differences()`] names what goes along with that, [`remarks()`] gathers
//! the doubts, [`terminal()`] prints.

mod ages;
mod arithmetic;
mod difference;
mod explain;
mod figures;
mod histogram;
mod judgement;
mod published;
mod read;
mod remarks;
mod rows;
mod steadiness;
mod stores;
mod terminal;
mod together;

pub use ages::{AgeGroup, AgeRow, AgeSpace, age_groups, age_spaces, has_ages};
pub use difference::{Aspect, Difference, differences};
pub use explain::{Explained, explained};
pub use figures::{CpuTime, Figures, Percentiles, figures};
pub use judgement::Judgement;
pub use published::{Published, published};
pub use read::read;
pub use remarks::{Remark, advice, derived, remarks};
pub use rows::{RowCell, RowFigures, RowGroup, row_groups};
pub use stores::{Space, StoreFigures, stores};
pub use terminal::{Style, checkup, engine, engines, head, terminal};
pub use together::{Rates, Together, Waits, together};
