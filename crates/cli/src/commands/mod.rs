//! One file per command.

pub(crate) mod cache;
pub(crate) mod calibrate;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod copy;
pub(crate) mod doctor;
pub(crate) mod engines;
mod export_hdr;
pub(crate) mod help;
pub(crate) mod init;
pub(crate) mod man;
pub(crate) mod measure;
mod records;
pub(crate) mod report;
mod run_stats;
pub(crate) mod stat;
pub(crate) mod study;
pub(crate) mod verify;
pub(crate) mod worker;
