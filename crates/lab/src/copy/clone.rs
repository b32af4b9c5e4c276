//! Copies a store file by file, so that the copy has the same layout.

use std::{fs, path::Path};

use model::{Blobs, Error, Result};

use crate::{Progress, Stop, host};

/// Copies the files of a store, side files and all.
pub(crate) fn clone_store(
    engine: &dyn Blobs,
    from: &Path,
    to: &Path,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<()> {
    progress.stage(&format!("copying {}", from.display()), None);
    for (from, to) in engine.files(from).iter().zip(engine.files(to)) {
        if from.exists() {
            clone(from, &to, stop)?;
        }
    }
    Ok(())
}

/// Copies a file, or a folder with the files and folders in it.
fn clone(from: &Path, to: &Path, stop: &Stop) -> Result<()> {
    stop.check()?;
    let wrong = |e| Error::io(from.display(), e);
    let kind = fs::symlink_metadata(from).map_err(wrong)?.file_type();
    if kind.is_file() {
        host::copy_file(from, to)?;
        writable(to)?;
    } else if kind.is_dir() {
        fs::create_dir(to).map_err(|e| Error::io(to.display(), e))?;
        for entry in fs::read_dir(from).map_err(wrong)? {
            let name = entry.map_err(wrong)?.file_name();
            clone(&from.join(&name), &to.join(&name), stop)?;
        }
    }
    Ok(())
}

/// A copy of a read-only file is read-only too; a scratch copy must not be.
fn writable(path: &Path) -> Result<()> {
    let wrong = |e| Error::io(path.display(), e);
    let mut permissions = fs::metadata(path).map_err(wrong)?.permissions();
    if !permissions.readonly() {
        return Ok(());
    }
    #[expect(clippy::permissions_set_readonly_false, reason = "in a folder of mode 0700")]
    permissions.set_readonly(false);
    fs::set_permissions(path, permissions).map_err(wrong)
}
