//! Stubs of functions that only Linux supports: they return that nothing is known.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

pub(crate) fn process_ns(_: u32) -> Option<u64> {
    None
}

pub(crate) fn release_freed_memory() {}

/// A file of the calling thread, which these systems do not have.
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

pub(crate) fn access_list(_: &Path) -> io::Result<Option<Vec<u8>>> {
    Ok(None)
}

pub(crate) fn access_list_of(_: &File) -> io::Result<Option<Vec<u8>>> {
    Ok(None)
}

pub(crate) fn remove_access_lists(_: &Path) {}

pub(crate) fn pieces(_: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}

/// Opens of files, which only Linux reports.
pub(crate) struct Opens;

impl Opens {
    pub(crate) fn below(_: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn answer(&self, _: impl FnMut(&File) -> bool) {}
}

pub(crate) fn through(_: &File) -> PathBuf {
    PathBuf::new()
}

pub(crate) fn ask_server(_: &Path, _: &[u8], _: Option<&File>) -> io::Result<String> {
    Err(io::ErrorKind::Unsupported.into())
}
