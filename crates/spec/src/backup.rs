//! What a user can ask `storemark backup` for.

use model::Durability;

use crate::{
    common::{Output, Running},
    options::options,
    value::{GivenValue, Name, Size, given_value},
};

options! {
    /// Backs up a copy of a folder into scratch repositories, whose catalogues are in different
    /// stores: a full backup, an unchanged one, one after 1 % of the files have changed, statistics, a
    /// check of everything and a restore. It is not encrypted, and measures stores: for backups use
    /// restic, borg, rustic or kopia
    pub struct BackupSpec {
        targets = "The folder to back up, then the stores of catalogues; no folder: a generated one; \
                   no stores: SQLite with a WAL and with a rollback journal";

        /// Files of the generated folder, or those that a replay is made for; default: 2000
        files: Option<GivenValue<Size>> = "N" [help_heading = "Data"],
        /// Repeat the operations of the catalogue alone, without the files: recorded from such a
        /// backup, and repeated for as many copies of the folder as make --files
        replay: bool [help_heading = "Workload"],
        /// Set each catalogue up for this class: none, consistent or durable; default: durable, as
        /// packs are
        durability: Option<GivenValue<Durability>> = "CLASS" [help_heading = "Workload"],
        ..running: Running,
        ..shown: Output,
    }
}

impl BackupSpec {
    /// The stores of catalogues that are measured when the user names none.
    pub const TARGETS: [&str; 2] = ["sqlite:", "sqlite:?journal=truncate"];

    /// Returns the folder, if the first of the targets is one, and the stores.
    pub fn folder_and_stores(&self) -> (Option<&Name>, &[Name]) {
        match self.targets.split_first() {
            Some((first, stores)) if !is_store(first) => (Some(first), stores),
            _ => (None, &self.targets),
        }
    }

    /// Returns the number of files of a generated folder, or of a replay, if it was given.
    pub fn files(&self) -> Option<u64> {
        given_value(&self.files)
    }

    /// Returns the durability class that every catalogue is set up for.
    pub fn durability(&self) -> Durability {
        given_value(&self.durability).unwrap_or(Durability::Durable)
    }
}

/// Returns whether `name` has the form of a target: an engine's name, a colon, and perhaps
/// settings.
fn is_store(name: &Name) -> bool {
    let text = name.as_ref().to_string_lossy();
    let word = text.split(':').next().unwrap_or_default();
    text.contains(':') && !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric())
}
