//! Flushing to the device.

use std::{fs::File, path::Path};

use model::{Error, Result};

/// Flushes all that was written to the file or folder at `path`: of a folder, on Linux the whole
/// file system that holds it, elsewhere each file below it. What is absent has nothing to flush.
#[cfg(target_os = "linux")]
pub fn sync(path: &Path) -> Result<()> {
    let place = super::disk::nearest_existing(path);
    let flush = |file: File| {
        if place.is_file() { file.sync_all() } else { Ok(rustix::fs::syncfs(file)?) }
    };
    File::open(&place)
        .and_then(flush)
        .map_err(|cause| Error::io(format!("cannot flush {}", place.display()), cause))
}

/// Flushes all that was written to the file or folder at `path`: of a folder, on Linux the whole
/// file system that holds it, elsewhere each file below it. What is absent has nothing to flush.
#[cfg(not(target_os = "linux"))]
pub fn sync(path: &Path) -> Result<()> {
    super::space::walk(path, &mut |path, meta| {
        // Folders can be flushed on Unix only.
        if meta.is_file() || cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    })
}

/// Makes what was created, renamed or removed in the folder at `path` durable.
#[cfg(unix)]
pub fn sync_dir(path: &Path) -> Result<()> {
    File::open(path)
        .and_then(|folder| folder.sync_all())
        .map_err(|cause| Error::io(format!("cannot flush {}", path.display()), cause))
}

/// Folders cannot be flushed here; the file system orders such changes by itself.
#[cfg(not(unix))]
pub fn sync_dir(path: &Path) -> Result<()> {
    path.metadata().map(drop).map_err(|cause| Error::io(path.display(), cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_folders_and_absent_stores_are_flushed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "x").unwrap();
        sync(&file).unwrap();
        sync(folder.path()).unwrap();
        sync(&folder.path().join("absent")).unwrap();
        sync_dir(folder.path()).unwrap();
    }

    #[test]
    fn an_absent_folder_cannot_be_made_durable() {
        let folder = tempfile::tempdir().unwrap();
        let error = sync_dir(&folder.path().join("absent")).unwrap_err();
        assert_eq!(error.kind(), model::ErrorKind::Missing);
    }
}
