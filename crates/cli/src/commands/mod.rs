//! One file per command.

pub(crate) mod age;
pub(crate) mod cache;
pub(crate) mod calibrate;
pub(crate) mod copy;
pub(crate) mod doctor;
pub(crate) mod engines;
mod export_hdr;
pub(crate) mod init;
mod labels;
pub(crate) mod queue;
mod records;
pub(crate) mod report;
pub(crate) mod rows;
pub(crate) mod run;
mod run_stats;
pub(crate) mod stat;
pub(crate) mod study;
pub(crate) mod verify;
pub(crate) mod worker;
