//! Doubts about a run, drawn from its record: some can be told before the rounds, some only
//! after.

mod after;
mod age;
mod before;
mod filesystems;
mod machine;
mod memory;
mod queue;
mod reads;
mod rows;
mod servers;
mod state;
#[cfg(test)]
pub(crate) mod tests;
mod trial;
mod updates;

pub(crate) use after::after;
pub(crate) use age::age;
pub(crate) use before::before;
pub(crate) use filesystems::{flush_too_fast, unusual};
pub(crate) use machine::{governor, virtual_machine};
pub(crate) use queue::queue;
pub(crate) use rows::rows;
pub(crate) use trial::{sample, trial};
