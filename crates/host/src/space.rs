//! What a store takes up.

use std::{
    collections::HashSet,
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
};

use model::{Error, Result};

/// Bytes of files and folders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// Sum of the lengths of all regular files.
    pub apparent: u64,
    /// What files and folders occupy on disk; where the system does not tell, as `apparent`.
    pub allocated: u64,
}

/// What the files and folders at `paths` take up, with all in them. A file reached twice, by
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
/// What is absent, or vanishes meanwhile, is passed over.
pub(super) fn walk(
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
    fn each_file_counts_once_and_links_lead_nowhere() {
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
}
