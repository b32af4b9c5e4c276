//! What a crawl visits and does.

use std::ffi::OsString;

use crate::Span;

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
    /// Whether pages stay in memory as long as what [`Crawl::finish`] returns.
    pub(super) fn holds(&self) -> bool {
        matches!(self.action, Action::Lock | Action::Map)
    }

    /// Whether no file is needed open after its pages were counted.
    pub(super) fn only_counts(&self) -> bool {
        self.action == Action::Count && !self.shows_files
    }
}
