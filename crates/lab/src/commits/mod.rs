//! Commits that are known by their seed, and the check of what a store holds of them after a power cut.
//! One process writes them, another one checks a copy of the store.

mod check;
mod history;
mod judge;
mod write;

use std::{ops::Range, path::PathBuf};

use model::{Access, Blobs, KeyKind, OpenOptions, Settings};

pub use check::check_commits;
pub use judge::CommitsFound;
#[cfg(target_os = "linux")]
pub(crate) use write::READ_BACK;
pub use write::write_commits;

/// A store, and the commits that are made to it.
pub struct CommitsRequest {
    /// The engine of the store.
    pub engine: &'static dyn Blobs,
    /// The checked settings that it is opened with.
    pub settings: Settings,
    /// The path of the store.
    pub location: PathBuf,
    /// The seed of keys, values and order.
    pub seed: u64,
    /// The commits, from 1: those before the first one are in the store already.
    pub commits: Range<u64>,
}

impl CommitsRequest {
    fn options(&self) -> OpenOptions {
        let (settings, access) = (self.settings.clone(), Access::Write);
        OpenOptions { settings, access, keys: KeyKind::Names }
    }

    /// Returns the number of commits that the store has before the first one.
    fn commits_before(&self) -> u64 {
        self.commits.start.saturating_sub(1)
    }
}
