//! The steps of a backup, which `storemark backup` measures.

use crate::words::words;

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
