//! See, warm, evict and lock the page cache.
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("file"), [7; 10_000])?;
//! # let store = folder.path();
//! let files = storemark_pagecache::Files::below([store])?;
//! files.warm()?;
//! match files.names() {
//!     Ok(names) => println!("{} of {} names are cached", names.cached, names.total),
//!     Err(error) => println!("{error}"),
//! }
//! match files.pages() {
//!     Ok(pages) => println!("{} of {} pages are in memory", pages.resident, pages.total),
//!     Err(error) => println!("{error}"),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`Files`] is the way in for a store or any tree: listed once, then seen and changed as a
//! whole. [`open`], [`Pages::count`], [`residency_map`], [`warm`], [`evict`] and [`Locked`] do the
//! same to one file, or to a [`Span`] of it. [`Crawl`] walks trees as `storemark cache` does.
//!
//! What is promised:
//!
//! - **Seeing changes nothing.** Pages are counted with cachestat(2), where the kernel has it,
//!   and mincore(2) elsewhere. mincore reports every page of a file resident that the caller
//!   neither owns nor may write, so such a file is never asked about: its pages are `unknown`.
//! - **Names** are asked for with openat2(2) and `RESOLVE_CACHED`, which fails rather than load
//!   anything. Opening a file does load its name: look at names first.
//! - **Warming** fills the cache in the same way whatever the store: file by file in sorted
//!   order, each from start to end, through one buffer of one size. How a cache was filled
//!   changes how fast it is read later (large folios, readahead), so stores that are compared
//!   must be filled in the same way.
//! - **Evicting** writes back what is dirty and asks the kernel to drop the pages. The kernel may
//!   decline: pages that are mapped, locked or in use elsewhere stay, and on a file system that
//!   lives in memory all do. Names and inodes stay cached as well; only [`drop_all`] drops them.
//! - **A snapshot** has what was in memory at one time: [`Files::evict_others`] drops what was read since
//!   then, so that reads of a store larger than memory can be repeated.
//! - Files that shrink or vanish meanwhile count as what is left of them.
//!
//! A path may be a symbolic link; links found below it are not followed. Special files (sockets,
//! pipes, devices) are never opened.
//!
//! | | Linux | macOS, `FreeBSD` | elsewhere |
//! | --- | --- | --- | --- |
//! | pages | cachestat, mincore | mincore | `Unsupported` |
//! | dirty pages, names, [`drop_all`] | yes | `None`, `Unsupported` | `None`, `Unsupported` |
//! | warm | yes | yes | yes |
//! | evict | fadvise | msync, fadvise | `Unsupported` |
//! | lock | mlock, mlockall | mlock; mlockall on `FreeBSD` | `Unsupported` |

#![warn(missing_docs)]

#[cfg(unix)]
mod crawl;
mod files;
mod lock;
mod mapped;
mod names;
mod pages;
mod snapshot;
mod sys;
mod warm;

#[cfg(unix)]
pub use crawl::{Action, Crawl, CrawlOptions, CrawlReport, Problem, Root, Skipped, Visitor};
pub use files::Files;
pub use lock::{Locked, lock_all};
pub use mapped::populate;
pub use names::{Names, Opened, can_see_names, name_is_cached, open};
pub use pages::{Pages, Span, page_size, residency_map};
pub use snapshot::Snapshot;
pub use warm::{BUFFER, Evictor, can_drop_all, can_evict, drop_all, evict, warm};

/// Adds the path that `error` is about.
fn with_path(path: &std::path::Path, error: &std::io::Error) -> std::io::Error {
    std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Returns the error of a request that the system does not have.
fn unsupported(what: &str) -> std::io::Error {
    let message = format!("{what} is not possible on {}", std::env::consts::OS);
    std::io::Error::new(std::io::ErrorKind::Unsupported, message)
}

/// Returns whether `error` means that a listed file was removed.
fn has_gone(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}
