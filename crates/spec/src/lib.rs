//! What a user can ask storemark for. A [`RunSpec`] has the options of an experiment: the command line
//! fills one, a [`PlanFile`] is read into one, a record has the options of one, and a step of a
//! [`study`] is one.
//!
//! This crate does no I/O.

#![warn(missing_docs)]

mod age;
mod backup;
mod blobs;
mod common;
mod generated;
mod life;
mod options;
mod plan_file;
mod queue;
mod rows;
mod run_spec;
mod shared_setting;
pub mod study;
mod sweep;
mod value;

pub use age::AgeSpec;
pub use backup::BackupSpec;
pub use blobs::{BlobsSpec, ClientOptions, Extras};
pub use common::{
    ColdStart, ExplainOption, GateOptions, HdrOption, Output, PageOption, Placing, Running,
    ScratchAndSeed, Talk,
};
pub use generated::{DataSource, GeneratedOptions};
pub use life::LifeSpec;
pub use plan_file::{PLAN_HEAD, PlanFile};
pub use queue::{QueueSpec, TaskLoad};
pub use rows::{RowsDefault, RowsSpec};
pub use run_spec::{Options, Rewrite, RunSpec};
pub use shared_setting::SharedSetting;
pub use sweep::{Run, combinations};
pub use value::{
    GivenValue, Integer, Kind, Name, Rate, Share, Size, Text, Time, UpTo, given_value, given_values,
};
