//! A system without calls for the page cache.

use std::{fs::File, io};

use crate::unsupported;

/// A mapping that is never created.
#[derive(Debug)]
pub(crate) enum Mapping {}

impl Mapping {
    pub(crate) fn new(_: &File, _: u64, _: u64) -> io::Result<Self> {
        Err(unsupported("mapping files"))
    }

    pub(crate) fn mincore(&self) -> io::Result<Vec<u8>> {
        match *self {}
    }

    pub(crate) fn invalidate(&self) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn lock(&self) -> io::Result<()> {
        match *self {}
    }
}

pub(crate) fn lock_all() -> io::Result<()> {
    Err(unsupported("locking pages"))
}

pub(crate) fn lock_limit() -> Option<u64> {
    None
}

pub(crate) fn populate(_: usize, _: usize) -> io::Result<()> {
    Err(crate::unsupported("mapping pages ahead"))
}
