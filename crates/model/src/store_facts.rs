//! What is known of a store: its settings, its size, and in how many pieces it is stored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Durability, Settings};

/// What is known of a store once it is ready to be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreFacts {
    /// Index into the plan's targets.
    pub target: usize,
    /// All settings as read back from the engine.
    pub in_effect: Settings,
    /// The durability class they give.
    pub durability: Durability,
    /// Sum of its files' lengths.
    pub apparent_bytes: u64,
    /// What they occupy on disk.
    pub allocated_bytes: u64,
    /// Where the file system is mounted that its files are on; absent: it has no files, or the system
    /// does not report that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount: Option<String>,
    /// Memory that it may take for itself: the cache of its own that each session or the store
    /// has, or all of its data where that is not on a disk; absent: not known.
    pub memory_bytes: Option<u64>,
    /// The server that does its work; absent: a library in the workers' own processes does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Server>,
    /// Making the scratch store; absent for one that was there, also from an earlier run of a sweep.
    pub fill_ns: Option<u64>,
    /// Reading every value once before the rounds, through the target's own path, checked.
    pub check_ns: u64,
}

/// A server that is asked over a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Server {
    /// Started for the store; what it takes of the machine counts.
    Started,
    /// It was there already.
    Existing,
}

/// What files take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileBytes {
    /// Sum of their lengths.
    pub apparent: u64,
    /// What they occupy on disk.
    pub allocated: u64,
}

/// Where the values of a store are after a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fragments {
    /// Values in it.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Its files that have bytes.
    pub files: u64,
    /// Pieces of these files on the device; neighbours count as one. Absent: the file system does
    /// not report them.
    pub extents: Option<u64>,
    /// What the engine reports; absent: nothing.
    pub arrangement: Option<Arrangement>,
}

/// How an engine arranges its values in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrangement {
    /// Each has a file of its own.
    FileEach,
    /// In pages of one file.
    Pages {
        /// All of them.
        pages: u64,
        /// Those that hold nothing.
        free: u64,
        /// Runs of neighbouring pages that hold the values, added up; a value that has no page of
        /// its own is one. Absent: not reported.
        runs: Option<u64>,
    },
}

impl Fragments {
    /// Pieces of a value, on average: of its own file on the device, or runs of pages in
    /// its database.
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
