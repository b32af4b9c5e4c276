//! A file for each command, or for commands of one family.

pub(crate) mod advise;
pub(crate) mod backup;
pub(crate) mod cache;
pub(crate) mod calibrate;
pub(crate) mod clean;
pub(crate) mod commits;
pub(crate) mod conformance;
pub(crate) mod copy;
#[cfg(target_os = "linux")]
pub(crate) mod crash;
pub(crate) mod doctor;
pub(crate) mod engines;
mod gate;
pub(crate) mod help;
pub(crate) mod measure;
pub(crate) mod records;
mod run_stats;
pub(crate) mod sqlite;
pub(crate) mod stat;
pub(crate) mod study;
pub(crate) mod worker;
