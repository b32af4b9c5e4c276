//! Functions for a system without the users, modes and limits of Unix.

use std::{
    fs::{DirBuilder, Metadata},
    io,
    path::Path,
};

pub(crate) fn user_id() -> Option<u32> {
    None
}

pub(crate) fn owner(_: &Metadata) -> (u32, u32) {
    (0, 0)
}

/// Returns a mode with which everyone may do everything.
pub(crate) fn mode(_: &Metadata) -> u32 {
    0o777
}

pub(crate) fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

pub(crate) fn chown(_: &Path, _: Option<u32>, _: Option<u32>) -> io::Result<()> {
    Ok(())
}

pub(crate) fn create_private() {}

pub(crate) fn set_creation_mode(_: &mut DirBuilder, _: u32) {}

pub(crate) fn is_writable(_: &Path) -> bool {
    true
}

pub(crate) fn address_space() -> Option<u64> {
    None
}

pub(crate) fn own_bytes() -> Option<u64> {
    None
}

pub(crate) fn exchange(_: &Path, _: &Path) -> Option<io::Result<()>> {
    None
}
