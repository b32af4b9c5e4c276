//! Experiments: each has its own data, its own kind of work and its own figures, in a module of its
//! name. The enums are what a record holds.

mod age;
pub mod backup;
mod blobs;
pub mod life;
mod queue;
mod roles;
mod rows;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::{
    age::{AgeData, AgeMeasured, AgeWork},
    backup::{BackupData, BackupMeasured},
    blobs::{BlobWork, BlobsData},
    life::{BackupBytes, LifeData, LifeMeasured},
    queue::{QueueData, QueueMeasured},
    roles::{Growth, MaintenanceMeasured, Role, RoleMeasured, RoleWork, Roles, RolesData},
    rows::{RowsData, RowsMeasured, RowsWork},
};
use crate::{DatasetSpec, DatasetSummary, Error, Operation, Order, Passes, Result, SampledFrom};

/// An experiment with its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Experiment {
    /// `storemark run`: values under keys.
    Blobs(BlobsData),
    /// `storemark rows`: a table of two integers.
    Rows(RowsData),
    /// `storemark queue`: tasks that are created, changed and deleted.
    #[serde(rename = "tasks")]
    Queue(QueueData),
    /// `storemark age`: objects that are replaced again and again.
    #[serde(rename = "ageing")]
    Age(AgeData),
    /// `storemark backup`: a folder is backed up, and restored.
    Backup(BackupData),
    /// `storemark life`: values are looked up, changed over a month and deleted.
    Life(LifeData),
    /// `storemark run --roles`: sessions with different work use a store at the same time.
    Roles(RolesData),
}

/// The work of a trial, by experiment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// Operations on values.
    Blobs(BlobWork),
    /// An operation on all rows.
    Rows(RowsWork),
    /// Each task goes through all of its steps.
    #[serde(rename = "tasks")]
    Queue,
    /// Reads at a storage age, or the writes that lead to it.
    #[serde(rename = "ageing")]
    Age(AgeWork),
    /// A step in the life of a repository.
    Backup(backup::BackupStep),
    /// A step in the life of a store.
    Life(life::LifeStep),
    /// The operations of a role.
    Roles(RoleWork),
}

/// The figures of a trial that depend on the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Measured {
    /// Passes over values.
    Blobs(Passes),
    /// Operations on rows.
    Rows(RowsMeasured),
    /// Tasks that went through all steps.
    #[serde(rename = "tasks")]
    Queue(QueueMeasured),
    /// A pass over objects at a storage age.
    #[serde(rename = "ageing")]
    Age(AgeMeasured),
    /// A step of a backup.
    Backup(BackupMeasured),
    /// A step in the life of a store.
    Life(LifeMeasured),
    /// A role in a pass.
    Roles(RoleMeasured),
}

/// Converts what an experiment has into the variant of it.
macro_rules! from {
    ($($part:ty => $enum:ident::$variant:ident,)*) => {
        $(impl From<$part> for $enum {
            fn from(part: $part) -> Self {
                Self::$variant(part)
            }
        })*
    };
}
from! {
    BlobsData => Experiment::Blobs,
    RowsData => Experiment::Rows,
    QueueData => Experiment::Queue,
    AgeData => Experiment::Age,
    BackupData => Experiment::Backup,
    LifeData => Experiment::Life,
    RolesData => Experiment::Roles,
    BlobWork => Work::Blobs,
    RowsWork => Work::Rows,
    AgeWork => Work::Age,
    backup::BackupStep => Work::Backup,
    life::LifeStep => Work::Life,
    RoleWork => Work::Roles,
    Passes => Measured::Blobs,
    RowsMeasured => Measured::Rows,
    QueueMeasured => Measured::Queue,
    AgeMeasured => Measured::Age,
    BackupMeasured => Measured::Backup,
    LifeMeasured => Measured::Life,
    RoleMeasured => Measured::Roles,
}

impl Default for Measured {
    fn default() -> Self {
        Self::Blobs(Passes::default())
    }
}

impl Experiment {
    /// Returns the subcommand that runs the experiment.
    pub fn command(&self) -> &'static str {
        match self {
            Self::Blobs(_) | Self::Roles(_) => "run",
            Self::Rows(_) => "rows",
            Self::Queue(_) => "queue",
            Self::Age(_) => "age",
            Self::Backup(_) => "backup",
            Self::Life(_) => "life",
        }
    }

    /// Returns the values of a run; `None` for other experiments.
    pub fn blobs(&self) -> Option<&BlobsData> {
        if let Self::Blobs(data) = self { Some(data) } else { None }
    }

    /// Returns the rows; `None` for other experiments.
    pub fn rows(&self) -> Option<&RowsData> {
        if let Self::Rows(data) = self { Some(data) } else { None }
    }

    /// Returns the tasks of a queue; `None` for other experiments.
    pub fn queue(&self) -> Option<&QueueData> {
        if let Self::Queue(data) = self { Some(data) } else { None }
    }

    /// Returns the values of a store's life; `None` for other experiments.
    pub fn life(&self) -> Option<&LifeData> {
        if let Self::Life(data) = self { Some(data) } else { None }
    }

    /// Returns the roles with their values; `None` for other experiments.
    pub fn roles(&self) -> Option<&RolesData> {
        if let Self::Roles(data) = self { Some(data) } else { None }
    }

    /// Returns the source of the values; `None` for experiments whose data is always generated.
    pub fn dataset(&self) -> Option<&DatasetSpec> {
        match self {
            Self::Blobs(BlobsData { dataset, .. })
            | Self::Life(LifeData { dataset, .. })
            | Self::Roles(RolesData { dataset, .. }) => Some(dataset),
            _ => None,
        }
    }

    /// Returns the set of values of which the values are a sample; `None` if they are all.
    pub fn sampled_from(&self) -> Option<SampledFrom> {
        self.blobs()?.sampled_from
    }

    /// Returns the figures of the values; `None` for experiments without values.
    pub fn summary(&self) -> Option<&DatasetSummary> {
        match self {
            Self::Blobs(BlobsData { summary, .. })
            | Self::Age(AgeData { summary, .. })
            | Self::Life(LifeData { summary, .. })
            | Self::Roles(RolesData { summary, .. }) => Some(summary),
            Self::Rows(_) | Self::Queue(_) | Self::Backup(_) => None,
        }
    }

    /// Returns the number of keys in each target, touched or not; `None` for experiments without
    /// values.
    pub fn available(&self) -> Option<u64> {
        let all = |blobs: &BlobsData| blobs.available;
        self.blobs().map(all).or_else(|| Some(self.summary()?.count))
    }
}

impl Work {
    /// Returns the work on values of a run; `None` for other experiments.
    pub fn blobs(self) -> Option<BlobWork> {
        if let Self::Blobs(work) = self { Some(work) } else { None }
    }

    /// Returns the operation on rows; `None` for other experiments.
    pub fn rows(self) -> Option<RowsWork> {
        if let Self::Rows(work) = self { Some(work) } else { None }
    }

    /// Returns the step of a backup; `None` for other experiments.
    pub fn backup(self) -> Option<backup::BackupStep> {
        if let Self::Backup(step) = self { Some(step) } else { None }
    }

    /// Returns the step in the life of a store; `None` for other experiments.
    pub fn life(self) -> Option<life::LifeStep> {
        if let Self::Life(step) = self { Some(step) } else { None }
    }

    /// Returns the work of a role; `None` for other experiments.
    pub fn role(self) -> Option<RoleWork> {
        if let Self::Roles(work) = self { Some(work) } else { None }
    }

    /// Returns what passes do with values. The objects of an ageing store are touched in the order
    /// in which the dataset has them.
    ///
    /// # Errors
    ///
    /// Fails for experiments without values.
    pub fn on_values(self) -> Result<BlobWork> {
        match self {
            Self::Blobs(work) => Ok(work),
            Self::Age(AgeWork { operation, .. }) => {
                Ok(BlobWork { operation, order: Order::Permutation, rate: None })
            }
            other => Err(Error::usage(format!("{other} is no operation on values"))),
        }
    }

    /// Returns the order in which keys are touched; `None` for experiments without keys.
    pub fn order(self) -> Option<Order> {
        self.blobs().map(|work| work.order)
    }

    /// Returns the operation on values; `None` for experiments without values.
    pub fn operation(self) -> Option<Operation> {
        self.on_values().ok().map(|work| work.operation)
    }

    /// Returns the storage age; `None` if stores do not age.
    pub fn age(self) -> Option<u32> {
        if let Self::Age(AgeWork { age, .. }) = self { Some(age) } else { None }
    }

    /// Returns the rate of the schedule in operations a second; `None` if there is no schedule.
    pub fn rate(self) -> Option<f64> {
        self.blobs()?.rate
    }

    /// Returns whether each process has a database of its own; `None` for experiments without rows.
    pub fn own_databases(self) -> Option<bool> {
        self.rows().map(|work| work.own_databases)
    }

    /// Returns the same work without a schedule.
    #[must_use]
    pub fn at_any_rate(self) -> Self {
        self.blobs().map_or(self, |work| BlobWork { rate: None, ..work }.into())
    }

    /// Returns the name of the work, which says more than the word for it: `YCSB A at 500/s`,
    /// `read at age 2`.
    pub fn name(self) -> String {
        match self {
            Self::Blobs(work) => work.name(),
            Self::Age(work) => work.name(),
            Self::Rows(work) => work.name().to_owned(),
            Self::Queue | Self::Backup(_) | Self::Life(_) | Self::Roles(_) => self.to_string(),
        }
    }

    /// Returns the unit of the time of an operation.
    pub fn time_unit(self) -> &'static str {
        match (self, self.operation()) {
            (Self::Backup(_), _) => "µs/file",
            (Self::Life(_) | Self::Roles(_), _) | (_, Some(Operation::Mix(_))) => "µs/op",
            _ => "µs/blob",
        }
    }

    /// Returns whether the work changes the store.
    pub fn writes(self) -> bool {
        match self {
            Self::Blobs(BlobWork { operation, .. }) | Self::Age(AgeWork { operation, .. }) => {
                operation.writes()
            }
            Self::Rows(RowsWork { operation, .. }) => operation.writes(),
            Self::Queue => true,
            Self::Roles(work) => work.writes,
            Self::Backup(step) => step.writes(),
            Self::Life(step) => step.writes(),
        }
    }

    /// Returns whether the work changes values that exist.
    pub fn updates(self) -> bool {
        self.operation().is_some_and(Operation::updates)
    }
}

/// The word for it.
impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blobs(BlobWork { operation, .. }) | Self::Age(AgeWork { operation, .. }) => {
                operation.fmt(f)
            }
            Self::Rows(RowsWork { operation, .. }) => operation.fmt(f),
            Self::Queue => f.pad("task"),
            Self::Backup(step) => step.fmt(f),
            Self::Life(step) => step.fmt(f),
            Self::Roles(_) => f.pad("role"),
        }
    }
}
