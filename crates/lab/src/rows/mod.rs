//! `storemark rows`: a table of two integers is filled, summed and changed, by one process or
//! several, in shuffled rounds.

mod crew;
mod message;
mod request;
mod rounds;
mod running;
mod trial;
mod worker;

pub use request::{RowTarget, RowsRequest};
pub use rounds::rows;
pub use worker::rows_worker;
