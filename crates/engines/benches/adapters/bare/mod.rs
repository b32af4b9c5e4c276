//! The loops that a careful engineer would write by hand, one file for each library. They know
//! nothing of engines; a failure ends the run.

#[cfg(unix)]
pub(crate) mod files;
#[cfg(feature = "fjall")]
pub(crate) mod fjall;
#[cfg(unix)]
pub(crate) mod hybrid;
pub(crate) mod lmdb;
pub(crate) mod memory;
#[cfg(unix)]
pub(crate) mod pack;
pub(crate) mod redb;
#[cfg(feature = "rocksdb")]
pub(crate) mod rocksdb;
#[cfg(feature = "s3")]
pub(crate) mod s3;
pub(crate) mod sqlite;
#[cfg(all(unix, feature = "valkey"))]
pub(crate) mod valkey;

use std::path::{Path, PathBuf};

use crate::data::Data;

/// Where the bare loop has its own copy of the adapter's store at `path`.
fn own_copy(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".bare");
    name.into()
}

/// What both sides of a row do in one round.
pub(crate) struct Work<'a> {
    pub(crate) data: &'a Data,
    pub(crate) keys: &'a [i64],
    /// Names the pass, so that an update never writes what is there already.
    pub(crate) salt: u64,
}

/// A bare loop over all keys.
pub(crate) trait Bare {
    /// Reads each value into `buffer`, writes each payload, or does what else the row is about; returns
    /// the bytes of the values.
    fn pass(&mut self, work: &Work<'_>, buffer: &mut [u8]) -> usize;
}
