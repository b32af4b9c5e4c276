//! From a record to figures, doubts and tables: from the record alone, recomputed each time.
//!
//! [`read()`] takes a record in, [`figures()`] and [`stores()`] compute, [`Judgement`] judges,
//! [`remarks()`] gathers the doubts, [`terminal()`] prints.

mod arithmetic;
mod figures;
mod histogram;
mod judgement;
mod read;
mod remarks;
mod stores;
mod terminal;

pub use figures::{CpuTime, Figures, Percentiles, figures};
pub use judgement::Judgement;
pub use read::read;
pub use remarks::{Remark, derived, remarks};
pub use stores::{Space, StoreFigures, stores};
pub use terminal::{Style, terminal};
