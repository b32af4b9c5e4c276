//! The space that a store occupies, in how many pieces, and the space that is free.

use std::{
    collections::HashSet,
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use model::{Error, ErrorKind, Result};

use crate::{
    files::{identity, real_path},
    os,
};

/// The bytes that files occupy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// The sum of the lengths of all regular files.
    pub apparent: u64,
    /// The bytes that files and folders occupy on disk; equal to `apparent` if the system does not
    /// report them.
    pub allocated: u64,
}

/// Returns the bytes that the files and folders at `paths` occupy, with all in them. A file reached
/// twice, by hard links or by overlapping paths, counts once; an absent one counts nothing. A path
/// itself may be a symbolic link; links below it are not followed.
///
/// # Errors
///
/// Fails if a folder below a path cannot be read.
pub fn space(paths: &[PathBuf]) -> Result<Space> {
    space_within(paths, Duration::MAX).map(|(space, _)| space)
}

/// The smallest number of files that are looked at, however long that takes.
const FEWEST: u64 = 1000;

/// Sums the bytes of files and folders as [`space`] does, of those that can be looked at in the time
/// `longest`. Also returns the number of files that were; `None` if all were.
/// Fails if a folder below a path cannot be read.
pub fn space_within(paths: &[PathBuf], longest: Duration) -> Result<(Space, Option<u64>)> {
    let (start, mut is_late) = (Instant::now(), false);
    let (mut seen, mut space, mut files) = (HashSet::new(), Space::default(), 0);
    for path in paths {
        let walked = walk(path, &mut |path, meta| {
            is_late = files >= FEWEST && start.elapsed() >= longest;
            if is_late {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let (file, allocated) = os::occupied(path, meta);
            if file.is_none_or(|file| seen.insert(file)) {
                space.apparent += if meta.is_file() { meta.len() } else { 0 };
                space.allocated += allocated;
            }
            files += u64::from(meta.is_file());
            Ok(())
        });
        if is_late {
            return Ok((space, Some(files)));
        }
        walked?;
    }
    Ok((space, None))
}

/// Counts the files below `folder` that are a file with another name there, too (hard links), among those
/// that can be looked at in the time `longest`: each takes a read if the system does not remember it.
///
/// # Errors
///
/// Fails if a folder cannot be read.
pub fn repeated_files(folder: &Path, longest: Duration) -> Result<u64> {
    let (until, mut is_late) = (Instant::now() + longest, false);
    let (mut seen, mut repeated) = (HashSet::new(), 0);
    let walked = walk(folder, &mut |path, meta| {
        is_late = Instant::now() >= until;
        if is_late {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let again = meta.is_file() && identity(path, meta).is_some_and(|file| !seen.insert(file));
        repeated += u64::from(again);
        Ok(())
    });
    if is_late { Ok(repeated) } else { walked.map(|()| repeated) }
}

/// The number of files, and of the pieces in which they are stored on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    /// The number of files that are not empty.
    pub files: u64,
    /// The pieces of all of them together, neighbours on the device counted as one; `None` if the
    /// file system does not report those of every file.
    pub extents: Option<u64>,
}

/// Counts the files at and below `paths` and their pieces. Data that has no place on the device yet
/// is written out first.
///
/// # Errors
///
/// Fails if a folder or file cannot be read.
pub fn extents(paths: &[PathBuf]) -> Result<Extents> {
    let mut found = Extents { files: 0, extents: Some(0) };
    for path in paths {
        walk(path, &mut |path, meta| {
            if meta.is_file() && meta.len() > 0 {
                let here = os::pieces(path)?;
                found.files += 1;
                found.extents = found.extents.zip(here).map(|(sum, here)| sum + here);
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// Visits `path` and, if it is a folder, every regular file and folder below it, in no order. Paths
/// that are absent, or vanish meanwhile, are skipped.
///
/// # Errors
///
/// Fails if an entry cannot be read, or `visit` fails.
pub fn walk(path: &Path, visit: &mut dyn FnMut(&Path, &Metadata) -> io::Result<()>) -> Result<()> {
    let mut left = vec![path.to_owned()];
    while let Some(next) = left.pop() {
        let mut step = || {
            let meta = if next == path { fs::metadata(path)? } else { next.symlink_metadata()? };
            if meta.is_dir() {
                for entry in fs::read_dir(&next)? {
                    left.push(entry?.path());
                }
            }
            if meta.is_dir() || meta.is_file() { visit(&next, &meta) } else { Ok(()) }
        };
        match step() {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
            done => done.map_err(|cause| Error::io(next.display(), cause))?,
        }
    }
    Ok(())
}

/// Returns the bytes that this user may still write to the file system on which `path` is, or will
/// be.
///
/// # Errors
///
/// Fails with the kind `Unsupported` if the system does not report them.
pub fn free_bytes(path: &Path) -> Result<u64> {
    let place = nearest_existing(path);
    let unknown = || Error::unsupported("free space is not known here").at(path.display());
    os::free_bytes(&place).ok_or_else(unknown)?.map_err(|e| Error::io(place.display(), e))
}

/// Returns the bytes that are free if they are fewer than `needed`, else `None`. A system that does
/// not report them is taken to have room.
///
/// # Errors
///
/// Fails if the system reports an error other than that it does not know.
pub fn shortage(path: &Path, needed: u64) -> Result<Option<u64>> {
    match free_bytes(path) {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        free => Ok(Some(free?).filter(|free| *free < needed)),
    }
}

/// Returns `path` with links resolved, or the nearest folder above it that exists.
pub(crate) fn nearest_existing(path: &Path) -> PathBuf {
    // Above an absolute path is the root, above a relative one the current folder.
    let here = Path::new(".");
    let mut places = path.ancestors().chain([here]);
    places.find_map(|place| real_path(place).ok()).unwrap_or_else(|| here.to_owned())
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
    fn hard_links_are_counted_in_the_time_that_there_is() {
        let folder = sample();
        let counted = |longest| repeated_files(&folder.path().join("store"), longest).unwrap();
        assert_eq!(counted(Duration::from_secs(60)), 1);
        assert_eq!(counted(Duration::ZERO), 0);
    }

    #[test]
    fn so_many_files_are_summed_as_there_is_time_for() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..FEWEST + 10 {
            fs::write(folder.path().join(number.to_string()), "1234").unwrap();
        }
        let sum = |longest| {
            let (space, files) = space_within(&[folder.path().to_owned()], longest).unwrap();
            (space.apparent, files)
        };
        assert_eq!(sum(Duration::MAX), ((FEWEST + 10) * 4, None));
        assert_eq!(sum(Duration::ZERO), (FEWEST * 4, Some(FEWEST)));
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

#[cfg(test)]
mod every_system_tests {
    use super::*;

    #[test]
    fn a_file_with_two_names_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("one"), vec![1; 100_000]).unwrap();
        fs::hard_link(at("one"), at("again")).unwrap();
        fs::write(at("other"), vec![1; 100_000]).unwrap();
        let space = space(&[folder.path().to_owned()]).unwrap();
        assert_eq!(space.apparent, 200_000);
        assert!(space.allocated >= 200_000, "{space:?}");
        assert_eq!(repeated_files(folder.path(), Duration::from_secs(60)).unwrap(), 1);
        let number = |name: &str| identity(&at(name), &fs::metadata(at(name)).unwrap()).unwrap();
        assert_eq!(number("one"), number("again"));
        assert_ne!(number("one"), number("other"));
        assert_eq!(number("one").0, number("other").0, "they are on one file system");
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod extent_tests {
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
        // The number is not reported, or counts both files; it is never zero.
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
