//! The stores that storemark measures: one module for each engine, [`registry`] the only list.

mod at;
mod files;
mod lock;
mod memory;
mod null;
mod pack;
mod refusal;
pub mod registry;
mod row;
mod slowed;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod table;

pub use files::{LeftOut, Several, files_left_out};
pub use slowed::Slowed;
