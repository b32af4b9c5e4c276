//! `storemark life`: values are looked up, changed over a month and deleted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{DatasetSpec, DatasetSummary, FileBytes, words::words};

/// The values of a store's life.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct LifeData {
    /// The source of the values.
    pub dataset: DatasetSpec,
    /// The values in figures.
    pub summary: DatasetSummary,
    /// Days, each with changes of 1 % of the values.
    pub days: u32,
}

/// The figures of a step in the life of a store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct LifeMeasured {
    /// The bytes of the closed store afterwards; `None` if it has no files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FileBytes>,
    /// The bytes that an incremental backup must copy after the changes of a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<BackupBytes>,
}

/// The bytes of a store's files that an incremental backup must copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackupBytes {
    /// The bytes for a backup of whole files: those that are new, or have another length or time of
    /// change.
    pub files: u64,
    /// The bytes for a backup of blocks of 4 KiB: those that hold other bytes than before.
    pub blocks: u64,
}

words! {
    /// A step of the life experiment: what happens to a store besides reading and writing values,
    /// in this order.
    pub enum LifeStep {
        /// The length of each value, in random order.
        Stat = "stat",
        /// All keys with the lengths of their values, in key order.
        List = "list",
        /// The store is opened and one value is read.
        Open = "open",
        /// The changes of a day: 1 % of the values are replaced.
        Day = "1% changed",
        /// The changes of the other days.
        Month = "more days",
        /// Half of the values are deleted.
        Half = "delete half",
        /// The engine gives their space back to the file system.
        Reclaim = "reclaim",
        /// The other values are deleted.
        Rest = "delete rest",
    }
}

impl LifeStep {
    /// Returns whether the step changes the store.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Stat | Self::List | Self::Open)
    }
}
