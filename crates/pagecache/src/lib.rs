//! Warm and empty the page cache.
//!
//! What is promised:
//!
//! - [`warm`] fills the cache in the same way whatever the store: file by file in sorted order,
//!   each from start to end, through one buffer of one size. How a cache was filled changes how
//!   fast it is read later (large folios, readahead), so stores that are compared must be filled
//!   alike.
//! - [`evict`] writes back what is dirty and asks the kernel to drop the pages. The kernel may
//!   decline: pages that are mapped, locked or in use elsewhere stay. Names and inodes stay
//!   cached as well.
//!
//! A path may be a symbolic link; links found below it are not followed. Special files (sockets,
//! pipes, devices) are never opened.

mod evict;
mod walk;
mod warm;

pub use evict::evict;
pub use warm::warm;
