//! The figures that only one experiment has.

pub(crate) mod age;
pub(crate) mod backup;
pub(crate) mod life;
pub(crate) mod queue;
pub(crate) mod roles;
pub(crate) mod rows;
