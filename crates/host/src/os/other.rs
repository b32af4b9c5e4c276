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

/// Returns the mode that Unix usually gives: what is backed up here may be restored there.
pub(crate) fn mode(meta: &Metadata) -> u32 {
    if meta.is_dir() { 0o755 } else { 0o644 }
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

pub(crate) fn exchange(_: &Path, _: &Path) -> Option<io::Result<()>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_owner_may_write_to_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "x").unwrap();
        let mode_of = |path: &Path| mode(&path.metadata().unwrap());
        assert_eq!([mode_of(folder.path()), mode_of(&file)], [0o755, 0o644]);
    }
}
