//! A copy of a folder, file by file, while others write to it.

use std::{fs, io, path::Path};

/// Copies `from` to `to`, where nothing exists. A file that is gone when its turn comes is left out: a
/// writer has renamed or deleted it.
pub(super) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        let copied = match entry.file_type() {
            Ok(kind) if kind.is_dir() => copy_folder(&entry.path(), &to),
            Ok(kind) if kind.is_file() => fs::copy(entry.path(), &to).map(drop),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        match copied {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            copied => copied?,
        }
    }
    Ok(())
}
