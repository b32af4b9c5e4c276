//! Experiments: each has its own data, its own kind of work and its own figures.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    DatasetSpec, DatasetSummary, Generated, Operation, Order, SampledFrom, backup, life, rows,
};

/// An experiment with its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Experiment {
    /// `storemark run`: values under keys.
    Blobs {
        /// The source of the values.
        dataset: DatasetSpec,
        /// The data in figures, restricted to the keys that the run touches.
        summary: DatasetSummary,
        /// Keys in each target, touched or not.
        available: u64,
        /// The set of values of which these are a sample, stratified by size; absent: these are all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sampled_from: Option<SampledFrom>,
        /// Keys that rounds choose from, drawn at random and checked; absent: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        drawn: Option<u64>,
    },
    /// `storemark rows`: a table of two integers.
    Rows {
        /// Rows that each process inserts.
        rows: u64,
    },
    /// `storemark queue`: tasks that are created, changed and deleted.
    Tasks {
        /// Tasks that each worker processes, one after the other.
        tasks: u64,
        /// The number of times that the output of each task is rewritten.
        rewrites: u64,
        /// Bytes of an output.
        output: u64,
    },
    /// `storemark age`: objects that are replaced again and again.
    Ageing {
        /// The objects.
        data: Generated,
        /// The objects at age 0 in figures.
        summary: DatasetSummary,
    },
    /// `storemark backup`: a folder is backed up, and restored.
    Backup {
        /// The folder of the user; absent: it is generated.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
        /// Its files.
        files: u64,
        /// Bytes of them.
        bytes: u64,
        /// The operations of the catalogue alone are repeated, for so many copies of the folder;
        /// absent: the folder itself is backed up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        copies: Option<u32>,
    },
    /// `storemark life`: values are looked up, changed over a month and deleted.
    Life {
        /// The source of the values.
        dataset: DatasetSpec,
        /// The values in figures.
        summary: DatasetSummary,
        /// Days, each with changes of 1 % of the values.
        days: u32,
    },
}

impl Experiment {
    /// Returns the subcommand that runs the experiment.
    pub fn command(&self) -> &'static str {
        match self {
            Self::Blobs { .. } => "run",
            Self::Rows { .. } => "rows",
            Self::Tasks { .. } => "queue",
            Self::Ageing { .. } => "age",
            Self::Backup { .. } => "backup",
            Self::Life { .. } => "life",
        }
    }

    /// Returns the figures of the values; `None` for experiments without values.
    pub fn summary(&self) -> Option<&DatasetSummary> {
        match self {
            Self::Blobs { summary, .. }
            | Self::Ageing { summary, .. }
            | Self::Life { summary, .. } => Some(summary),
            Self::Rows { .. } | Self::Tasks { .. } | Self::Backup { .. } => None,
        }
    }

    /// Returns the number of keys in each target, touched or not; `None` for experiments without
    /// values.
    pub fn available(&self) -> Option<u64> {
        match self {
            Self::Blobs { available, .. } => Some(*available),
            _ => self.summary().map(|summary| summary.count),
        }
    }
}

/// The work of a trial, by experiment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// Operations on values.
    Blobs {
        /// The operation for each key.
        operation: Operation,
        /// In which order keys are touched.
        order: Order,
        /// Operations a second that all workers together start on schedule; absent: each starts
        /// when the one before it has finished.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate: Option<f64>,
    },
    /// An operation on all rows.
    Rows {
        /// What is done.
        operation: rows::RowOperation,
        /// Each process has its own database; otherwise all processes share one.
        own_databases: bool,
    },
    /// Each task goes through all of its steps.
    Tasks,
    /// Reads at a storage age, or the writes that lead to it.
    Ageing {
        /// What is done with each object.
        operation: Operation,
        /// The storage age: bytes of replaced objects over bytes of live ones.
        age: u32,
    },
    /// A step in the life of a repository.
    Backup(backup::BackupStep),
    /// A step in the life of a store.
    Life(life::LifeStep),
}

impl Work {
    /// Returns the order in which keys are touched; `None` for experiments without keys.
    pub fn order(self) -> Option<Order> {
        if let Self::Blobs { order, .. } = self { Some(order) } else { None }
    }

    /// Returns the operation on values; `None` for experiments without values.
    pub fn operation(self) -> Option<Operation> {
        match self {
            Self::Blobs { operation, .. } | Self::Ageing { operation, .. } => Some(operation),
            Self::Rows { .. } | Self::Tasks | Self::Backup(_) | Self::Life(_) => None,
        }
    }

    /// Returns the storage age; `None` if stores do not age.
    pub fn age(self) -> Option<u32> {
        if let Self::Ageing { age, .. } = self { Some(age) } else { None }
    }

    /// Returns the rate of the schedule in operations a second; `None` if there is no schedule.
    pub fn rate(self) -> Option<f64> {
        if let Self::Blobs { rate, .. } = self { rate } else { None }
    }

    /// Returns whether the work changes the store.
    pub fn writes(self) -> bool {
        match self {
            Self::Blobs { operation, .. } | Self::Ageing { operation, .. } => operation.writes(),
            Self::Rows { operation, .. } => operation.writes(),
            Self::Tasks => true,
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
            Self::Blobs { operation, .. } | Self::Ageing { operation, .. } => operation.fmt(f),
            Self::Rows { operation, .. } => operation.fmt(f),
            Self::Tasks => f.pad("task"),
            Self::Backup(step) => step.fmt(f),
            Self::Life(step) => step.fmt(f),
        }
    }
}
