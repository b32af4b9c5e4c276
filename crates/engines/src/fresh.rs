//! Creates a store where nothing exists yet, and leaves nothing there after a failure.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use model::{Error, Result, Store};

/// Creates a store in a new file, open to read and write.
pub(crate) fn file<S: Store + 'static>(
    location: &Path,
    create: impl FnOnce(File) -> Result<S>,
) -> Result<Box<dyn Store>> {
    let file = File::options().read(true).write(true).create_new(true).open(location);
    let created = create(file.map_err(|e| Error::io(location.display(), e))?);
    if created.is_err() {
        let _ = fs::remove_file(location);
    }
    Ok(Box::new(created?))
}

pub(crate) fn folder<S: Store + 'static>(
    location: &Path,
    create: impl FnOnce() -> Result<S>,
) -> Result<Box<dyn Store>> {
    fs::create_dir(location).map_err(|e| Error::io(location.display(), e))?;
    let created = create();
    if created.is_err() {
        let _ = fs::remove_dir_all(location);
    }
    Ok(Box::new(created?))
}

/// Removes the `files` that exist.
pub(crate) fn remove(files: impl IntoIterator<Item = PathBuf>) -> Result<()> {
    let mut existing = files.into_iter().filter(|file| file.exists());
    existing.try_for_each(|file| fs::remove_file(&file).map_err(|e| Error::io(file.display(), e)))
}
