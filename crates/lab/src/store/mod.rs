//! Stores to be measured: how they are opened, what they hold, and what of them is in memory.

pub(crate) mod cache_state;
pub(crate) mod check;
mod ready;

pub(crate) use ready::ReadyStore;
