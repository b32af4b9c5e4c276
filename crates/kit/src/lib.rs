//! What engines of all kinds share, whether they are linked in or talk to a server: errors that
//! several return, locks, the end of a scan, metadata as bytes, and the SQL of rows.

#![warn(missing_docs)]

pub mod first;
pub mod lock;
pub mod meta;
pub mod refusal;
pub mod sql;
