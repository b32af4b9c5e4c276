//! In how many pieces files lie on the device (the ioctl FIEMAP, see
//! <https://docs.kernel.org/filesystems/fiemap.html>).

use std::{fs::File, io, path::Path, path::PathBuf};

use fiemap::{Fiemap, FiemapExtent, FiemapExtentFlags, FiemapFlags};
use model::Result;
use rustix::io::Errno;

use super::space::walk;

/// Files, and the pieces they lie in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    /// Files that have bytes.
    pub files: u64,
    /// Pieces of all of them together, neighbours on the device counted as one; absent where the
    /// file system does not tell of every file.
    pub extents: Option<u64>,
}

/// The files at and below `paths`. What is still to be placed is written out first.
pub fn extents(paths: &[PathBuf]) -> Result<Extents> {
    let mut found = Extents { files: 0, extents: Some(0) };
    for path in paths {
        walk(path, &mut |path, meta| {
            if meta.is_file() && meta.len() > 0 {
                let here = of_file(path)?;
                found.files += 1;
                found.extents = found.extents.zip(here).map(|(sum, here)| sum + here);
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// Where on the device a piece cannot be told, or is not what its length says (compressed).
const NOWHERE: FiemapExtentFlags =
    FiemapExtentFlags::UNKNOWN.union(FiemapExtentFlags::DELALLOC).union(FiemapExtentFlags::ENCODED);

/// Pieces of one file; `None`: not told.
fn of_file(path: &Path) -> io::Result<Option<u64>> {
    let mut pieces = 0;
    let mut end = None;
    for extent in Fiemap::with_flags(File::open(path)?, FiemapFlags::SYNC) {
        match extent {
            Ok(extent) if extent.fe_flags.intersects(NOWHERE) => return Ok(None),
            Ok(FiemapExtent { fe_physical, fe_length, .. }) => {
                pieces += u64::from(end != Some(fe_physical));
                end = Some(fe_physical + fe_length);
            }
            Err(error) if is_silent(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(pieces))
}

/// Whether the file system, or what stands for the kernel, has no such call.
fn is_silent(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::OPNOTSUPP | Errno::NOTTY | Errno::NOSYS | Errno::INVAL | Errno::PERM)
    )
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{create_dir, write},
        os::unix::fs::FileExt,
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
        // Not told, or both of them: never none.
        assert!(found.extents.is_none_or(|extents| extents >= 2), "{found:?}");
    }

    #[test]
    fn a_hole_is_no_piece_and_what_is_behind_it_is() {
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

    /// tmpfs has no device for a file to lie on.
    #[test]
    fn a_file_system_in_memory_does_not_tell() {
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
