//! The file of a database and those next to it, as far as they can be judged without SQLite.

use std::{
    fs,
    path::{Path, PathBuf},
};

use model::{Access, Error, Result};

use super::ffi::Open;
use crate::at;

/// `location` with `suffix` at its end, as SQLite names its side files.
pub(super) fn with_suffix(location: &Path, suffix: &str) -> PathBuf {
    let mut name = location.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The database and its side files, present or not.
pub(super) fn all_of(location: &Path) -> Vec<PathBuf> {
    ["", "-journal", "-wal", "-shm"].map(|suffix| with_suffix(location, suffix)).into()
}

/// Whether the side file has anything in it.
pub(super) fn is_filled(location: &Path, suffix: &str) -> bool {
    fs::metadata(with_suffix(location, suffix)).is_ok_and(|metadata| metadata.len() > 0)
}

/// The start of a database file (<https://sqlite.org/fileformat2.html#the_database_header>).
pub(super) struct Header([u8; 100]);

impl Header {
    /// That of a file that says it is an SQLite database.
    pub(super) fn of(path: &Path) -> Option<Self> {
        at::start(path).filter(|start| start.starts_with(b"SQLite format 3\0")).map(Self)
    }

    /// Write and read version are 2 in WAL mode.
    pub(super) fn is_wal(&self) -> bool {
        self.0[18] == 2 || self.0[19] == 2
    }

    /// Bytes that the file must have, if the header's page count is valid.
    fn length(&self) -> Option<u64> {
        let number = |at: usize| {
            u32::from_be_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
        };
        // 65536 does not fit in the two bytes and is written as 1.
        let page_size = match u16::from_be_bytes([self.0[16], self.0[17]]) {
            1 => 65536,
            size => u64::from(size),
        };
        (number(24) == number(92)).then(|| u64::from(number(28)) * page_size)
    }
}

/// A file that lost its end is refused: SQLite reads missing pages as zeros and may not notice.
pub(super) fn check_whole(path: &Path) -> Result<()> {
    let has = at::length(path)?;
    match Header::of(path).and_then(|header| header.length()) {
        Some(length) if has < length => Err(Error::corrupt(format!(
            "{}: is cut short: it has {has} of {length} bytes",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// How to open `path` for reading so that nothing changes. A database in WAL mode that no
/// connection has open has no side files (the last one to close removes them); it is read without
/// creating any. With side files, someone may be writing, and SQLite's locks are needed.
pub(super) fn opening(path: &Path, access: Access) -> Open {
    let alone = || ["-wal", "-shm"].iter().all(|suffix| !with_suffix(path, suffix).exists());
    match access {
        Access::Write => Open::ReadWrite,
        Access::Read if Header::of(path).is_some_and(|h| h.is_wal()) && alone() => Open::Immutable,
        Access::Read => Open::ReadOnly,
    }
}

/// A journal next to a database belongs to a transaction under way, or to one that was killed and
/// has to be rolled back, which would change the file.
pub(super) fn check_no_journal(path: &Path, access: Access) -> Result<()> {
    // PERSIST and TRUNCATE leave a journal that SQLite knows for empty by its zeroed header.
    let is_zeroed = || at::start(&with_suffix(path, "-journal")) == Some([0; 8]);
    let hot = || is_filled(path, "-journal") && !is_zeroed();
    if access == Access::Read && hot() {
        return Err(Error::usage(format!(
            "{0}: is being written to, or its writer was killed: {0}-journal is next to it; \
             opening it once with sqlite3 rolls it back",
            path.display()
        )));
    }
    Ok(())
}
