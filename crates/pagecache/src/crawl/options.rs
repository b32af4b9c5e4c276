//! The options of a crawl, and its report.

use std::ffi::OsString;

use crate::{Locked, Names, Pages, Span};

/// The action of a crawl on each file.
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

/// The options of a crawl: what it visits, and what it does there.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is independent of the others")]
pub struct CrawlOptions {
    /// The action on each file.
    pub action: Action,
    /// Whether [`super::Visitor::file`] is called.
    pub shows_files: bool,
    /// The part of each file that counts.
    pub span: Span,
    /// The size in bytes above which files are skipped; `None` if there is no limit.
    pub max_size: Option<u64>,
    /// Whether symbolic links are followed.
    pub follow: bool,
    /// Whether other file systems than that of a root are skipped.
    pub one_file_system: bool,
    /// Whether a file counts again for each of its names.
    pub hard_links: bool,
    /// The shell patterns for names of files and folders that are skipped.
    pub ignore: Vec<OsString>,
    /// The shell patterns for names of files; if there are any, other files are skipped.
    pub only: Vec<OsString>,
}

impl CrawlOptions {
    /// Returns whether pages stay in memory as long as the result of [`super::Crawl::finish`].
    pub(super) fn holds(&self) -> bool {
        matches!(self.action, Action::Lock | Action::Map)
    }

    /// Returns whether no file is needed open after its pages were counted.
    pub(super) fn only_counts(&self) -> bool {
        self.action == Action::Count && !self.shows_files
    }
}

/// The counts of a crawl, and what it holds in memory.
#[derive(Debug, Default)]
pub struct CrawlReport {
    /// The number of regular files.
    pub files: u64,
    /// The number of folders that were read.
    pub directories: u64,
    /// The pages as they were found; after an eviction, as it left them.
    pub pages: Pages,
    /// The number of pages that were read.
    pub touched: u64,
    /// The names as they were found; none if the system does not report them.
    pub names: Names,
    /// The entries that were left out.
    pub skipped: Skipped,
    /// The parts of files that stay in memory until this is dropped.
    pub locked: Vec<Locked>,
}

/// The numbers of entries that were left out without being a failure.
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
    /// Entries on another file system.
    pub elsewhere: u64,
}

impl Skipped {
    /// Returns the number of each kind, after the name of the kind.
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
