//! Room on the file system.

use std::path::Path;
#[cfg(any(unix, test))]
use std::path::PathBuf;

use model::{ErrorKind, Result};

/// Bytes that this user may still write to the file system on which `path` is, or will be.
#[cfg(unix)]
pub fn free_bytes(path: &Path) -> Result<u64> {
    let place = nearest_existing(path);
    let told = rustix::fs::statvfs(&place)
        .map_err(|cause| model::Error::io(place.display(), cause.into()))?;
    Ok(told.f_bavail.saturating_mul(told.f_frsize))
}

/// Not told here.
#[cfg(not(unix))]
pub fn free_bytes(path: &Path) -> Result<u64> {
    Err(model::Error::unsupported(format!("{}: free space is not known here", path.display())))
}

/// Bytes that are free where fewer than `needed` are. A system that does not tell is taken to have
/// room.
pub fn shortage(path: &Path, needed: u64) -> Result<Option<u64>> {
    match free_bytes(path) {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        free => Ok(Some(free?).filter(|free| *free < needed)),
    }
}

/// `path` with links resolved, or the nearest folder above it that exists.
#[cfg(any(unix, test))]
pub(super) fn nearest_existing(path: &Path) -> PathBuf {
    // Above an absolute path stands the root, above a relative one the current folder.
    let here = Path::new(".");
    path.ancestors()
        .chain([here])
        .find_map(|place| place.canonicalize().ok())
        .unwrap_or_else(|| here.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_path_stands_for_the_folder_above() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        assert_eq!(nearest_existing(&folder.path().join("a/b/c")), real);
        assert_eq!(nearest_existing(folder.path()), real);
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        assert_eq!(nearest_existing(Path::new("no-such-folder/x")), here);
    }

    #[test]
    #[cfg(unix)]
    fn there_is_room_somewhere() {
        let folder = tempfile::tempdir().unwrap();
        let free = free_bytes(&folder.path().join("not/there/yet")).unwrap();
        assert!(free > 0);
        assert_eq!(shortage(folder.path(), 0).unwrap(), None);
        assert!(shortage(folder.path(), u64::MAX).unwrap().is_some());
    }
}
