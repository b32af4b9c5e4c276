//! The nouns of storemark: what is measured, with what, and the results.
//!
//! This crate does no I/O and depends on no sibling. All other crates use its types:
//! a [`TypedTarget`] names an [`Engine`] with a location and settings; an engine opens a
//! [`Store`]; each worker takes its own [`Session`]; a [`Plan`] says what runs; each trial
//! leaves a [`Sample`]; what may be wrong with a figure is a [`Finding`]; all of it is in a [`record`].

#![warn(missing_docs)]

mod access_list;
mod cache;
mod cache_state;
mod counter;
mod crash;
mod crashed_store;
mod dataset;
mod doctor;
mod durability;
mod engine;
mod environment;
mod error;
mod experiment;
mod finding;
mod idle;
mod key;
mod maintenance;
mod mix;
mod order;
mod over_time;
mod passes;
mod plan;
mod plugin;
pub mod record;
mod requests;
pub mod rows;
mod sample;
mod secret;
mod setting;
mod store;
mod store_facts;
mod target;
pub mod tasks;
mod text;
pub mod units;
mod unix_time;
mod variables;
mod windows_name;
mod words;

pub use access_list::mode_without_list;
pub use cache::{Cache, Residency};
pub use cache_state::State;
pub use counter::Counter;
pub use crash::{BrokenState, CrashModel, CrashResult, CutState, ModelResult};
pub use crashed_store::CrashedStore;
pub use dataset::{DatasetSpec, DatasetSummary, Generated, SampledFrom};
pub use doctor::{Disk, DoctorReport, Fitness, Folder, Noise, Program, Reach, Volume};
pub use durability::Durability;
pub use engine::{
    Account, Blobs, Capabilities, Cleaned, CopiedValues, Declaration, DurabilitySettings, Engine,
    EngineFacts, Fill, FoundValues, Leftover, Rows, Servers, Tasks, Try,
};
pub use environment::{Cpu, Environment, Filesystem, Flush, Library, Memory};
pub use error::{Error, ErrorKind, Result};
pub use experiment::{
    AgeData, AgeMeasured, AgeWork, BackupBytes, BackupData, BackupMeasured, BlobWork, BlobsData,
    Experiment, Growth, LifeData, LifeMeasured, MaintenanceMeasured, Measured, QueueData,
    QueueMeasured, Role, RoleMeasured, RoleWork, Roles, RolesData, RowsData, RowsMeasured,
    RowsWork, Work, backup, life,
};
pub use finding::{Finding, FindingKind, RatioInterval, Severity, Suggestion};
pub use idle::Idle;
pub use key::{Key, KeyKind, Meta, OwnedKey, ValueType};
pub use maintenance::{Maintenance, Meanwhile};
pub use mix::{Action, LONGEST_SCAN, Mix, Operation, Ycsb};
pub use order::Order;
pub use over_time::{BackgroundWork, Longest, OverTime, SLICE_NS, Slice};
pub use passes::{First, Latency, Paced, Passes};
pub use plan::{
    Batch, COPY_OF, Case, Inconclusive, Judge, LIBRARY, LostHost, MemoryLimit, Owner, Plan,
    PlannedTarget, Rounds, StudyPart, WORKER, Workload,
};
pub use plugin::{PLUGIN, PluginAbilities, PluginDurability, PluginFacts, PluginSetting, STORE};
pub use requests::{
    BYTES_RECEIVED, BYTES_SENT, COST, DELETES, GETS, PUTS, RequestCeiling, Requests,
    count_requests, limit_requests, requests_sent,
};
pub use sample::{Cost, Device, HostClock, HostPart, Io, Load, Sample, Worker};
pub use secret::{Secret, without_password, without_passwords};
pub use setting::{Accepts, Facet, Setting, Settings};
pub use store::{
    Access, BUSY_ERRORS, BUSY_RETRIES, Entry, EntryKind, FinishedWork, How, Item, LOCK_WAIT_NS,
    LOCK_WAITS, Mode, OpenOptions, Parts, Put, Removed, Scan, Session, Store, Visit, Visitor,
    copy_value,
};
pub use store_facts::{Arrangement, FileBytes, Fragments, Server, StoreFacts, TableFacts};
pub use target::{TypedTarget, scratch_label, settings_text, shell_quoted};
pub use text::{Shown, harmless, is_hostile};
pub use unix_time::{system_time, unix_time};
pub use variables::{Variables, give_variables, variable, variables};
pub use windows_name::windows_name_problem;
pub use words::{did_you_mean, nearest, no_such};
