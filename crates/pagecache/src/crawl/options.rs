//! What a crawl visits and does, and what it found.

use std::ffi::OsString;

use crate::{Locked, Names, Pages, Span};

/// What a crawl does to each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Counts its pages.
    Count,
    /// Reads it into memory.
    Warm,
    /// Drops it from memory.
    Evict,
    /// Loads it and locks it in memory.
    Lock,
    /// Maps it, for [`crate::lock_all`] to lock later.
    Map,
}

/// What to visit, and what to do there.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is independent of the others")]
pub struct CrawlOptions {
    /// What is done to each file.
    pub action: Action,
    /// Whether [`super::Visitor::file`] is called.
    pub shows_files: bool,
    /// The part of each file that counts.
    pub span: Span,
    /// Larger files are skipped.
    pub max_size: Option<u64>,
    /// Symbolic links are followed.
    pub follow: bool,
    /// Other file systems than that of a root are skipped.
    pub one_file_system: bool,
    /// A file counts again for each of its names.
    pub hard_links: bool,
    /// Shell patterns for names of files and folders that are skipped.
    pub ignore: Vec<OsString>,
    /// Shell patterns for names of files; if there are some, other files are skipped.
    pub only: Vec<OsString>,
}

impl CrawlOptions {
    /// Whether pages stay in memory as long as what [`super::Crawl::finish`] returns.
    pub(super) fn holds(&self) -> bool {
        matches!(self.action, Action::Lock | Action::Map)
    }

    /// Whether no file is needed open after its pages were counted.
    pub(super) fn only_counts(&self) -> bool {
        self.action == Action::Count && !self.shows_files
    }
}

/// What was found.
#[derive(Debug, Default)]
pub struct CrawlReport {
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
