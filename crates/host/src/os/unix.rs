//! Functions of macOS and the BSDs where Linux reports more.

use std::{io, path::Path};

use model::{Cost, Filesystem};

pub(crate) use super::posix::*;

/// Returns what the whole process spent, as these systems do not report it for a thread.
pub(crate) fn spent_by_thread() -> Cost {
    spent()
}

pub(crate) fn filesystem(_: &Path) -> Option<Filesystem> {
    None
}

/// Returns nothing: what plays these systems is not known.
pub(crate) fn emulator() -> Option<String> {
    None
}

#[cfg(target_vendor = "apple")]
pub(crate) fn rename_new(from: &Path, to: &Path) -> Option<io::Result<()>> {
    rename_with(from, to, rustix::fs::RenameFlags::NOREPLACE)
}

#[cfg(target_vendor = "apple")]
pub(crate) fn exchange(one: &Path, other: &Path) -> Option<io::Result<()>> {
    rename_with(one, other, rustix::fs::RenameFlags::EXCHANGE)
}

#[cfg(target_vendor = "apple")]
fn rename_with(from: &Path, to: &Path, flags: rustix::fs::RenameFlags) -> Option<io::Result<()>> {
    use rustix::{
        fs::{CWD, renameat_with},
        io::Errno,
    };

    match renameat_with(CWD, from, CWD, to, flags) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => None,
        done => Some(done.map_err(Into::into)),
    }
}

#[cfg(not(target_vendor = "apple"))]
pub(crate) fn rename_new(_: &Path, _: &Path) -> Option<io::Result<()>> {
    None
}

#[cfg(not(target_vendor = "apple"))]
pub(crate) fn exchange(_: &Path, _: &Path) -> Option<io::Result<()>> {
    None
}
