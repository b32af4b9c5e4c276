//! Gives the whole copy its own name.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use model::{Access, Error, ErrorKind, KeyKind, OpenOptions, Result, Settings};

use super::{
    CopyJob, Place,
    destination::{self, Existing},
};
use crate::host;

/// Renames the store at `new` to the destination, which is checked again: it may have changed since
/// the copy started. A replaced store's mode is kept.
pub(super) fn place(new: &Path, job: &CopyJob) -> Result<()> {
    let to = &job.to.path;
    let existing = destination::check(job)?;
    check_single(new, &job.to)?;
    match existing {
        Existing::Nothing => host::rename_new(new, to),
        Existing::EmptyFolder => instead_of_empty(new, to),
        Existing::File => over_file(new, &job.to),
        Existing::Folder => instead_of_folder(new, to),
    }
}

/// Makes the new name durable, and only then removes a folder that was replaced.
pub(super) fn finish(to: &Path) -> Result<()> {
    let whole = |error: Error| error.context(format!("{} is whole, but", to.display()));
    host::sync_dir(&destination::parent(to)).map_err(whole)?;
    let old = destination::old(to);
    match fs::remove_dir_all(&old) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
            Err(whole(Error::io(old.display(), cause)))
        }
        _ => Ok(()),
    }
}

/// A rename moves one file or folder; a closed store must have no other.
fn check_single(new: &Path, to: &Place) -> Result<()> {
    match side_file(to, new) {
        None => Ok(()),
        Some(file) => Err(Error::failed(format!("{} is left after closing", file.display()))),
    }
}

fn side_file(place: &Place, path: &Path) -> Option<PathBuf> {
    place.engine.files(path).into_iter().find(|file| file != path && file.exists())
}

fn instead_of_empty(new: &Path, to: &Path) -> Result<()> {
    let failed = |cause| Error::io(to.display(), cause);
    let mode = fs::metadata(to).map_err(failed)?.permissions();
    // Fails if it is no longer empty.
    fs::remove_dir(to).map_err(failed)?;
    host::rename_new(new, to)?;
    fs::set_permissions(to, mode).map_err(failed)
}

fn over_file(new: &Path, to: &Place) -> Result<()> {
    tidy(to)?;
    let failed = |cause| Error::io(to.path.display(), cause);
    let mode = fs::metadata(&to.path).map_err(failed)?.permissions();
    fs::set_permissions(new, mode).map_err(failed)?;
    fs::rename(new, &to.path).map_err(failed)
}

/// Lets the engine merge the old store's other files (a write-ahead log, say), which would be taken
/// for a part of the new one.
fn tidy(to: &Place) -> Result<()> {
    if side_file(to, &to.path).is_none() {
        return Ok(());
    }
    let settings = Settings::default();
    let options = OpenOptions { settings, access: Access::Write, keys: KeyKind::Integers };
    let store = to.engine.open(&to.path, &options)?;
    store.settle()?;
    store.close()?;
    match side_file(to, &to.path) {
        None => Ok(()),
        Some(file) => Err(Error::new(
            ErrorKind::Exists,
            format!("{} is in use: {} exists", to.path.display(), file.display()),
        )),
    }
}

/// At every moment the old folder or the new one is whole, under its own name or next to it.
fn instead_of_folder(new: &Path, to: &Path) -> Result<()> {
    let old = destination::old(to);
    let failed = |cause| Error::io(to.display(), cause);
    let mode = fs::metadata(to).map_err(failed)?.permissions();
    host::rename_new(to, &old)?;
    host::rename_new(new, to).inspect_err(|_| {
        // If this fails too, the next copy names the old folder.
        let _ = host::rename_new(&old, to);
    })?;
    fs::set_permissions(to, mode).map_err(failed)
}
