//! The system calls behind a folder of files. Names are relative to the folder and end in a
//! zero byte.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

use model::Meta;

#[cfg(not(unix))]
pub(super) use other::{File, Root, path};
#[cfg(unix)]
pub(super) use unix::{File, Root, path};

/// What the system reports about a regular file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub(super) length: u64,
    pub(super) meta: Meta,
}

/// How a file gets new contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    /// Truncated when it is opened, then written: what most programs do.
    Inplace,
    /// Written over its old bytes, and cut only if it was longer.
    Overwrite,
    /// Written to a temporary file, then renamed over it.
    Rename,
}

/// What is flushed to the device, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sync {
    None,
    /// A file's bytes, before it is closed.
    File,
    /// A file's bytes, mode and time before it is closed, and its folder at the commit.
    Full,
}
