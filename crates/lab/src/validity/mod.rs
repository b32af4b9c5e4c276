//! Doubts about a run, drawn from its record: some can be told before the rounds, some only
//! after.

mod after;
mod before;

pub(crate) use after::after;
pub(crate) use before::before;
