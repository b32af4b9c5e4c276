//! Emptying the cache.

use std::{io, path::Path};

/// Writes back and drops the cached pages of the file at `path`, or of every regular file below
/// it, as far as the kernel agrees. `Unsupported` where the system has no such request.
#[cfg(target_os = "linux")]
pub fn evict(path: &Path) -> io::Result<()> {
    use std::fs::File;

    use rustix::fs::{Advice, fadvise};

    crate::walk::files(path, &mut |file| {
        let file = File::open(file)?;
        // Dirty pages cannot be dropped.
        file.sync_all()?;
        // Without a length: to the end.
        Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
    })
}

/// Writes back and drops the cached pages of the file at `path`, or of every regular file below
/// it, as far as the kernel agrees. `Unsupported` where the system has no such request.
#[cfg(not(target_os = "linux"))]
pub fn evict(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_bytes_are_there_afterwards() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "bytes").unwrap();
        match evict(root.path()) {
            Ok(()) => assert_eq!(fs::read(&file).unwrap(), b"bytes"),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::Unsupported),
        }
    }

    #[test]
    fn an_absent_path_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        assert!(evict(&root.path().join("absent")).is_err());
    }
}
