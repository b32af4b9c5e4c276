//! What a crawl counted.

use crate::{Locked, Names, Pages};

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// Regular files.
    pub files: u64,
    /// Folders that were read.
    pub directories: u64,
    /// As they were found; after an eviction, as it left them.
    pub pages: Pages,
    /// Pages that were read.
    pub touched: u64,
    /// As they were found; none if the system does not report them.
    pub names: Names,
    /// What was left out.
    pub skipped: Skipped,
    /// What stays in memory until this is dropped.
    pub locked: Vec<Locked>,
}

impl Found {
    pub(super) fn name(&mut self, was_cached: Option<bool>) {
        if let Some(cached) = was_cached {
            self.names.total += 1;
            self.names.cached += u64::from(cached);
        }
    }
}

/// What was left out, and is no failure.
#[derive(Clone, Copy, Debug, Default)]
pub struct Skipped {
    /// Symbolic links that were not followed, or lead nowhere.
    pub links: u64,
    /// Links that lead back to themselves.
    pub loops: u64,
    /// Sockets, pipes and devices.
    pub special: u64,
    /// Files above the size limit.
    pub large: u64,
    /// Files that end before the span.
    pub short: u64,
    /// What is on another file system.
    pub elsewhere: u64,
}

impl Skipped {
    /// How many of each kind, by the name of the kind.
    pub fn kinds(&self) -> [(&'static str, u64); 6] {
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
