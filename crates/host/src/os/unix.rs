//! What macOS and the BSDs do where Linux reports more.

use std::{io, path::Path};

use model::Cost;

pub(crate) use super::posix::*;

/// Not reported for a thread.
pub(crate) fn spent_by_thread() -> Cost {
    spent()
}

#[cfg(target_vendor = "apple")]
pub(crate) fn rename_new(from: &Path, to: &Path) -> Option<io::Result<()>> {
    use rustix::{
        fs::{CWD, RenameFlags, renameat_with},
        io::Errno,
    };

    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => None,
        done => Some(done.map_err(Into::into)),
    }
}

#[cfg(not(target_vendor = "apple"))]
pub(crate) fn rename_new(_: &Path, _: &Path) -> Option<io::Result<()>> {
    None
}
