//! What was counted.

use std::{io, path::Path};

use pagecache::{Names, Pages};

use crate::output;

#[derive(Default)]
pub(super) struct Tally {
    pub(super) files: u64,
    pub(super) directories: u64,
    /// As they were found; after an eviction, as it left them.
    pub(super) pages: Pages,
    /// Pages that were read.
    pub(super) touched: u64,
    /// As they were found; none are asked for where the system does not tell.
    pub(super) names: Names,
    pub(super) skipped: Skipped,
    pub(super) problems: Problems,
}

impl Tally {
    pub(super) fn name(&mut self, was_cached: Option<bool>) {
        if let Some(cached) = was_cached {
            self.names.total += 1;
            self.names.cached += u64::from(cached);
        }
    }
}

/// What was left out, and is no failure.
#[derive(Default)]
pub(super) struct Skipped {
    pub(super) links: u64,
    pub(super) loops: u64,
    pub(super) special: u64,
    pub(super) large: u64,
    pub(super) short: u64,
    pub(super) elsewhere: u64,
}

impl Skipped {
    /// How many of each kind, by the name of the kind.
    pub(super) fn kinds(&self) -> [(&'static str, u64); 6] {
        [
            ("symbolic links", self.links),
            ("symbolic link loops", self.loops),
            ("special files", self.special),
            ("too large", self.large),
            ("end before the range", self.short),
            ("on other file systems", self.elsewhere),
        ]
    }
}

/// What could not be looked at.
#[derive(Default)]
pub(super) struct Problems {
    pub(super) count: u64,
    first: String,
}

impl Problems {
    /// Counts a problem; says it at once if it is to be `named`.
    pub(super) fn add(&mut self, path: &Path, error: &io::Error, named: bool) {
        let line = format!("{}: {error}", path.display());
        if named {
            output::say(&line);
        }
        if self.count == 0 {
            self.first = line;
        }
        self.count += 1;
    }

    /// One line for all of them, if there are any.
    pub(super) fn line(&self, named: bool) -> Option<String> {
        match self.count {
            0 => None,
            1 if !named => Some(self.first.clone()),
            count if named => Some(format!("{count} of the paths failed")),
            count => Some(format!("{} (and {} more, which -v names)", self.first, count - 1)),
        }
    }
}
