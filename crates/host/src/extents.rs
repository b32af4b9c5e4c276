//! In how many pieces files are stored on the device (Linux: the ioctl FIEMAP, see
//! <https://docs.kernel.org/filesystems/fiemap.html>).

use std::path::PathBuf;

use model::Result;

use crate::space::walk;

/// Files and the pieces in which they are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    /// Files that have bytes.
    pub files: u64,
    /// Pieces of all of them together, neighbours on the device counted as one; absent if the file
    /// system does not report those of every file.
    pub extents: Option<u64>,
}

/// Counts the files at and below `paths` and their pieces. What has no place yet is written out
/// first.
pub fn extents(paths: &[PathBuf]) -> Result<Extents> {
    let mut found = Extents { files: 0, extents: Some(0) };
    for path in paths {
        walk(path, &mut |path, meta| {
            if meta.is_file() && meta.len() > 0 {
                let here = pieces(path)?;
                found.files += 1;
                found.extents = found.extents.zip(here).map(|(sum, here)| sum + here);
            }
            Ok(())
        })?;
    }
    Ok(found)
}

#[cfg(target_os = "linux")]
use linux::pieces;

#[cfg(not(target_os = "linux"))]
fn pieces(_: &std::path::Path) -> std::io::Result<Option<u64>> {
    Ok(None)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{fs::File, io, path::Path};

    use fiemap::{Fiemap, FiemapExtent, FiemapExtentFlags, FiemapFlags};
    use rustix::io::Errno;

    /// The place of such a piece is unknown, or its length is not that on the device (compressed).
    const NOWHERE: FiemapExtentFlags = FiemapExtentFlags::UNKNOWN
        .union(FiemapExtentFlags::DELALLOC)
        .union(FiemapExtentFlags::ENCODED);

    /// Pieces of one file; `None`: not reported.
    pub(super) fn pieces(path: &Path) -> io::Result<Option<u64>> {
        let mut pieces = 0;
        let mut end = None;
        for extent in Fiemap::with_flags(File::open(path)?, FiemapFlags::SYNC) {
            match extent {
                Ok(extent) if extent.fe_flags.intersects(NOWHERE) => return Ok(None),
                Ok(FiemapExtent { fe_physical, fe_length, .. }) => {
                    pieces += u64::from(end != Some(fe_physical));
                    end = Some(fe_physical + fe_length);
                }
                Err(error) if is_unsupported(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(Some(pieces))
    }

    /// Whether the file system, or a sandbox in place of the kernel, has no such call.
    fn is_unsupported(error: &io::Error) -> bool {
        matches!(
            Errno::from_io_error(error),
            Some(Errno::OPNOTSUPP | Errno::NOTTY | Errno::NOSYS | Errno::INVAL | Errno::PERM)
        )
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::{
        fs::{File, create_dir, write},
        os::unix::fs::FileExt,
        path::Path,
    };

    use super::*;

    #[test]
    fn only_files_with_bytes_count_and_absent_paths_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        write(at("empty"), "").unwrap();
        create_dir(at("sub")).unwrap();
        write(at("sub/one"), [1; 5000]).unwrap();
        write(at("two"), [2; 5000]).unwrap();
        let found = extents(&[folder.path().to_owned(), at("absent")]).unwrap();
        assert_eq!(found.files, 2);
        // Not reported, or both of them: never none.
        assert!(found.extents.is_none_or(|extents| extents >= 2), "{found:?}");
    }

    #[test]
    fn a_hole_is_no_piece_and_what_follows_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hole");
        let file = File::create(&path).unwrap();
        file.set_len(1 << 20).unwrap();
        let pieces = || extents(std::slice::from_ref(&path)).unwrap().extents;
        let hole = pieces();
        assert!(hole.is_none_or(|pieces| pieces == 0), "{hole:?}");
        file.write_all_at(&[7; 4096], 1 << 19).unwrap();
        let written = pieces();
        assert!(written.is_none_or(|pieces| pieces == 1), "{written:?}");
        assert_eq!(hole.is_none(), written.is_none());
    }

    /// tmpfs has no device on which a file could be stored.
    #[test]
    fn a_file_system_in_memory_reports_no_pieces() {
        let memory = Path::new("/dev/shm");
        let kind = crate::filesystems(&[memory.to_owned()]).first().map(|f| f.kind.clone());
        let Ok(folder) = tempfile::tempdir_in(memory) else {
            assert!(!memory.is_dir() || write(memory.join("x"), "").is_err());
            return;
        };
        write(folder.path().join("file"), [7; 4096]).unwrap();
        let found = extents(&[folder.path().to_owned()]).unwrap();
        assert_eq!(found.files, 1);
        assert!(found.extents.is_none_or(|pieces| pieces == 1), "{found:?}");
        assert!(found.extents.is_none() || kind.as_deref() != Some("tmpfs"), "{found:?}");
    }
}
