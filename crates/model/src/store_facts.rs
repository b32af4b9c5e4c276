//! Facts about a store: its settings, its size, and in how many pieces it is stored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Durability, Settings};

/// The facts about a store that is ready to be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreFacts {
    /// The index into the plan's targets.
    pub target: usize,
    /// All settings as read back from the engine.
    pub in_effect: Settings,
    /// The durability class that the settings give.
    pub durability: Durability,
    /// The sum of its files' lengths.
    pub apparent_bytes: u64,
    /// The bytes that its files occupy on disk.
    pub allocated_bytes: u64,
    /// The mount point of the file system that its files are on; `None` if it has no files, or the
    /// system does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount: Option<String>,
    /// The memory that it may take for itself: the cache of its own that each session or the store
    /// has, or all of its data if that is not on a disk; `None` if it is not known.
    pub memory_bytes: Option<u64>,
    /// The server that does its work; `None` if a library in the workers' own processes does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Server>,
    /// The time of filling the scratch store; `None` if the store existed, also from an earlier run
    /// of a sweep.
    pub fill_ns: Option<u64>,
    /// The time of reading and checking every value once before the rounds, through the target's
    /// own path.
    pub check_ns: u64,
    /// What is special about a table of the user's own; `None` for other stores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<TableFacts>,
}

/// What a reader of the figures has to know of a table of the user's own, or of a part of a store that has
/// others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableFacts {
    /// The values that were looked at for `texts`: all, or the first of many.
    pub values: u64,
    /// How many of these are texts, in a column that has bytes as well.
    pub texts: u64,
    /// The triggers and foreign keys that the copy which is written to does not have.
    pub not_in_copy: Vec<String>,
    /// Whether other tables are in its files, so that their sizes are not its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shares_files: bool,
    /// The bytes of these files that it takes, with its indexes; `None` if they are not known, or if it has
    /// the files alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_bytes: Option<u64>,
}

/// The origin of a server that is reached over a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Server {
    /// The server was started for the store; what it uses of the machine counts.
    Started,
    /// The server existed already.
    Existing,
}

/// The bytes of some files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileBytes {
    /// The sum of their lengths.
    pub apparent: u64,
    /// The bytes that they occupy on disk.
    pub allocated: u64,
}

/// How fragmented the values of a store are after a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fragments {
    /// The number of values.
    pub objects: u64,
    /// The bytes of the values.
    pub bytes: u64,
    /// The number of files that are not empty.
    pub files: u64,
    /// The pieces of these files on the device; neighbours count as one. `None` if the file system
    /// does not report them.
    pub extents: Option<u64>,
    /// How the engine arranges its values; `None` if it does not report that.
    pub arrangement: Option<Arrangement>,
}

/// The arrangement of an engine's values in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrangement {
    /// Each value has a file of its own.
    FileEach,
    /// The values are in pages of one file.
    Pages {
        /// The number of all pages.
        pages: u64,
        /// The number of pages that hold nothing.
        free: u64,
        /// The runs of neighbouring pages that hold the values, added up; a value that has no page
        /// of its own is one run. `None` if they are not reported.
        runs: Option<u64>,
    },
}

impl Fragments {
    /// Returns the mean number of pieces of a value: of its own file on the device, or runs of
    /// pages in its database. `None` if they are not known, or there are no values.
    pub fn per_object(&self) -> Option<f64> {
        let pieces = match self.arrangement? {
            Arrangement::FileEach => self.extents?,
            Arrangement::Pages { runs, .. } => runs?,
        };
        (self.objects > 0).then(|| pieces as f64 / self.objects as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_an_object_are_those_of_its_file_or_in_its_database() {
        let per_object = |extents, arrangement| {
            Fragments { objects: 4, bytes: 100, files: 4, extents, arrangement }.per_object()
        };
        let pages = |runs| Some(Arrangement::Pages { pages: 9, free: 2, runs });
        assert_eq!(per_object(Some(6), Some(Arrangement::FileEach)), Some(1.5));
        assert_eq!(per_object(None, Some(Arrangement::FileEach)), None);
        assert_eq!(per_object(Some(6), pages(Some(10))), Some(2.5));
        assert_eq!(per_object(Some(6), pages(None)), None);
        assert_eq!(per_object(Some(6), None), None);
        assert_eq!(Fragments::default().per_object(), None);
    }
}
