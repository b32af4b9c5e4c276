//! In how many pieces the bytes of a store are stored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
