//! `storemark backup`: a folder is backed up, and restored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FileBytes, words::words};

/// The folder that is backed up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct BackupData {
    /// The folder of the user; absent: it is generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Its files.
    pub files: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// The operations of the catalogue alone are repeated, for so many copies of the folder;
    /// absent: the folder itself is backed up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<u32>,
}

/// The figures of a step of a backup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct BackupMeasured {
    /// The part of the time that the store of the catalogue took; all of it in a replay.
    pub catalogue_ns: u64,
    /// The bytes that the step added to packs.
    pub added_bytes: u64,
    /// The bytes of the catalogue afterwards; `None` if it has no files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FileBytes>,
}

words! {
    /// A step of the backup experiment: an operation on a repository.
    pub enum BackupStep {
        /// The first backup of a folder.
        Full = "full",
        /// A backup of the same folder again.
        Unchanged = "unchanged",
        /// A backup after 1 % of the files have changed.
        Changed = "1% changed",
        /// Everything in the catalogue is read and counted.
        Stats = "stats",
        /// The catalogue is checked, then the packs, then every byte.
        Selftest = "selftest",
        /// The folder is restored.
        Restore = "restore",
    }
}

impl BackupStep {
    /// Returns whether the step changes the repository.
    pub fn writes(self) -> bool {
        matches!(self, Self::Full | Self::Unchanged | Self::Changed)
    }
}
