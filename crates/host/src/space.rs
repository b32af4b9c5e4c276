//! The space that a store occupies, and the space that is left.

use std::{
    collections::HashSet,
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
};

use model::{Error, ErrorKind, Result};

/// Bytes of files and folders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// Sum of the lengths of all regular files.
    pub apparent: u64,
    /// What files and folders occupy on disk; if the system does not report it, as `apparent`.
    pub allocated: u64,
}

/// Returns what the files and folders at `paths` occupy, with all in them. A file reached twice, by
/// hard links or by overlapping paths, counts once; an absent one counts nothing. A path itself
/// may be a symbolic link; those found on the way are not followed.
pub fn space(paths: &[PathBuf]) -> Result<Space> {
    let mut seen = HashSet::new();
    let mut space = Space::default();
    for path in paths {
        walk(path, &mut |_, meta| {
            if identity(meta).is_none_or(|file| seen.insert(file)) {
                space.apparent += if meta.is_file() { meta.len() } else { 0 };
                space.allocated += allocated(meta);
            }
            Ok(())
        })?;
    }
    Ok(space)
}

/// Visits `path` and, if it is a folder, every regular file and folder below it, in no order.
/// What is absent, or vanishes meanwhile, is skipped.
pub(crate) fn walk(
    path: &Path,
    visit: &mut dyn FnMut(&Path, &Metadata) -> io::Result<()>,
) -> Result<()> {
    let mut left = vec![path.to_owned()];
    while let Some(next) = left.pop() {
        match step(&next, next == path, &mut left, visit) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
            done => done.map_err(|cause| Error::io(next.display(), cause))?,
        }
    }
    Ok(())
}

fn step(
    path: &Path,
    follow: bool,
    left: &mut Vec<PathBuf>,
    visit: &mut dyn FnMut(&Path, &Metadata) -> io::Result<()>,
) -> io::Result<()> {
    let meta = if follow { fs::metadata(path)? } else { fs::symlink_metadata(path)? };
    if meta.is_dir() {
        for entry in fs::read_dir(path)? {
            left.push(entry?.path());
        }
    }
    if meta.is_dir() || meta.is_file() { visit(path, &meta) } else { Ok(()) }
}

/// Device and inode.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "absent on other systems")]
fn identity(meta: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}

/// `st_blocks` counts 512 bytes, whatever the block size of the file system.
#[cfg(unix)]
fn allocated(meta: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    meta.blocks() * 512
}

#[cfg(not(unix))]
fn allocated(meta: &Metadata) -> u64 {
    if meta.is_file() { meta.len() } else { 0 }
}

/// Returns the bytes that this user may still write to the file system on which `path` is, or will
/// be.
#[cfg(unix)]
pub fn free_bytes(path: &Path) -> Result<u64> {
    let place = nearest_existing(path);
    let space =
        rustix::fs::statvfs(&place).map_err(|cause| Error::io(place.display(), cause.into()))?;
    Ok(space.f_bavail.saturating_mul(space.f_frsize))
}

/// Returns an error: free space is not reported here.
#[cfg(not(unix))]
pub fn free_bytes(path: &Path) -> Result<u64> {
    Err(Error::unsupported(format!("{}: free space is not known here", path.display())))
}

/// Returns the bytes that are free if they are fewer than `needed`. A system that does not report
/// them is taken to have room.
pub fn shortage(path: &Path, needed: u64) -> Result<Option<u64>> {
    match free_bytes(path) {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        free => Ok(Some(free?).filter(|free| *free < needed)),
    }
}

/// `path` with links resolved, or the nearest folder above it that exists.
#[cfg(any(unix, test))]
pub(crate) fn nearest_existing(path: &Path) -> PathBuf {
    // Above an absolute path is the root, above a relative one the current folder.
    let here = Path::new(".");
    path.ancestors()
        .chain([here])
        .find_map(|place| place.canonicalize().ok())
        .unwrap_or_else(|| here.to_owned())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn sample() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("store/deep")).unwrap();
        fs::write(at("store/a"), [1; 10_000]).unwrap();
        fs::write(at("store/deep/b"), [2; 500]).unwrap();
        fs::hard_link(at("store/a"), at("store/deep/again")).unwrap();
        fs::write(at("outside"), [3; 7]).unwrap();
        symlink("../outside", at("store/link")).unwrap();
        symlink("store", at("way")).unwrap();
        folder
    }

    #[test]
    fn each_file_counts_once_and_links_are_not_followed() {
        let folder = sample();
        let space = space(&[folder.path().join("store")]).unwrap();
        assert_eq!(space.apparent, 10_500);
    }

    #[test]
    fn overlapping_and_absent_paths_add_nothing() {
        let folder = sample();
        let at = |name: &str| folder.path().join(name);
        let once = space(&[at("store")]).unwrap();
        assert_eq!(space(&[at("store/a"), at("store"), at("absent"), at("way")]).unwrap(), once);
        assert_eq!(space(&[at("absent")]).unwrap(), Space::default());
    }

    #[test]
    fn holes_are_apparent_but_not_allocated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse");
        fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
        let space = space(&[path]).unwrap();
        assert_eq!(space.apparent, 1 << 30);
        assert!(space.allocated < 1 << 20, "{space:?}");
    }

    #[test]
    fn an_absent_path_is_on_the_file_system_of_the_folder_above() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        assert_eq!(nearest_existing(&folder.path().join("a/b/c")), real);
        assert_eq!(nearest_existing(folder.path()), real);
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        assert_eq!(nearest_existing(Path::new("no-such-folder/x")), here);
    }

    #[test]
    fn too_little_free_space_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let free = free_bytes(&folder.path().join("not/there/yet")).unwrap();
        assert!(free > 0);
        assert_eq!(shortage(folder.path(), 0).unwrap(), None);
        assert!(shortage(folder.path(), u64::MAX).unwrap().is_some());
    }
}
