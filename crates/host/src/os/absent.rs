//! What only Linux reports.

use std::{io, path::Path};

pub(crate) fn process_ns(_: u32) -> Option<u64> {
    None
}

/// There are no such files.
#[derive(Debug)]
pub(crate) struct ThreadFile;

impl ThreadFile {
    pub(crate) fn open(_: &str) -> Self {
        Self
    }

    pub(crate) fn read<'b>(&self, _: &'b mut [u8]) -> Option<&'b str> {
        None
    }
}

pub(crate) fn sync_filesystem(_: &Path) -> Option<io::Result<()>> {
    None
}

pub(crate) fn pieces(_: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}
