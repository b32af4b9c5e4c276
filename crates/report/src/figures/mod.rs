//! What is computed from records besides the figures of `checks`.

pub(crate) mod ages;
pub(crate) mod comparison;
pub(crate) mod environments;
pub(crate) mod explained;
pub(crate) mod latencies;
pub(crate) mod plans;
pub(crate) mod rows;
pub(crate) mod stores;
pub(crate) mod study;
pub(crate) mod sweep;
pub(crate) mod tasks;
pub(crate) mod unlike;
pub(crate) mod workers;
