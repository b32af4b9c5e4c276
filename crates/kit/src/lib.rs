//! What engines of all kinds share, whether they are linked in or talk to a server: errors that
//! several return, locks, the end of a scan, metadata as bytes, the
//! SQL of rows, and tables of the user's own.

#![warn(missing_docs)]

pub mod code;
pub mod first;
pub mod key_columns;
pub mod lock;
pub mod meta;
pub mod own_table;
pub mod refusal;
pub mod sql;
