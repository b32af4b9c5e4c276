//! Removes a folder with all in it, and nothing else.

use std::{
    fs::{self, ReadDir},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    thread,
};

use crate::{mounts, os, text::entries};

/// The number of files that are removed at once. If the file system informs the device of each
/// block that becomes free (ext4's `discard`), removing a file waits for that: a millisecond for
/// one after the other, 35 times as many in the same time for so many at once.
const AT_ONCE: usize = 16;

/// Removes the file, link or folder at `path`, with all in it. Folders that their owner may not
/// change, as copied ones can be, are made writable if they prevent it.
///
/// # Errors
///
/// Fails if anything is mounted in it, which is left as it is.
pub(crate) fn remove_all(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.is_dir() {
        return fs::remove_file(path);
    }
    let mounted = mounts::below(&path.canonicalize()?);
    if !mounted.is_empty() {
        return remove_around(&mounted, &path.canonicalize()?);
    }
    remove_files(path);
    fs::remove_dir_all(path).or_else(|_| {
        make_writable(path);
        fs::remove_dir_all(path)
    })
}

/// Removes what is in `folder` except the folders `mounted`.
///
/// # Errors
///
/// Fails if `folder` is mounted, or anything in it remains.
fn remove_around(mounted: &[PathBuf], folder: &Path) -> io::Result<()> {
    if mounted.iter().any(|point| point == folder) {
        let why = format!("a file system is mounted on {}", folder.display());
        return Err(io::Error::new(ErrorKind::ResourceBusy, why));
    }
    let mut removed = Ok(());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let is_folder = entry.file_type()?.is_dir();
        let one = if is_folder { remove_around(mounted, &path) } else { fs::remove_file(path) };
        removed = removed.and(one);
    }
    removed.and_then(|()| fs::remove_dir(folder))
}

/// Removes the files and links below `folder`, many at once. What remains is reported when the
/// folder is removed.
fn remove_files(folder: &Path) {
    let files = Mutex::new(Files(Vec::from_iter(fs::read_dir(folder))));
    let next = || files.lock().unwrap_or_else(PoisonError::into_inner).next();
    let remove = || std::iter::from_fn(next).for_each(|file| drop(fs::remove_file(file)));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            let _ = thread::Builder::new().spawn_scoped(scope, remove);
        }
    });
}

/// An iterator over everything but folders in the folders that are open, and below them.
struct Files(Vec<ReadDir>);

impl Iterator for Files {
    type Item = PathBuf;

    fn next(&mut self) -> Option<PathBuf> {
        loop {
            match self.0.last_mut()?.next() {
                None | Some(Err(_)) => drop(self.0.pop()),
                Some(Ok(entry)) if entry.file_type().is_ok_and(|kind| kind.is_dir()) => {
                    self.0.extend(fs::read_dir(entry.path()));
                }
                Some(Ok(entry)) => return Some(entry.path()),
            }
        }
    }
}

/// Gives the owner access to `folder` and all folders below it. What fails here fails again, and is
/// reported, when it is removed.
fn make_writable(folder: &Path) {
    let _ = os::set_mode(folder, 0o700);
    let folders = entries(folder).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.for_each(|entry| make_writable(&entry.path()));
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    // For root, who may do anything, this proves little.
    #[test]
    fn read_only_folders_are_no_obstacle() {
        use std::os::unix::fs::PermissionsExt;

        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("folder");
        fs::create_dir_all(folder.join("closed/deeper")).unwrap();
        fs::write(folder.join("closed/deeper/file"), "x").unwrap();
        for closed in ["closed/deeper", "closed"] {
            fs::set_permissions(folder.join(closed), fs::Permissions::from_mode(0o555)).unwrap();
        }
        remove_all(&folder).unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn folders_full_of_files_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("folder");
        for name in ["a/b/c", "d", "e/f"] {
            fs::create_dir_all(folder.join(name)).unwrap();
            (0..300).for_each(|n| fs::write(folder.join(name).join(n.to_string()), "x").unwrap());
        }
        remove_all(&folder).unwrap();
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_link_is_removed_and_not_its_target() {
        let parent = tempfile::tempdir().unwrap();
        let (file, link) = (parent.path().join("file"), parent.path().join("link"));
        fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        remove_all(&link).unwrap();
        assert!(file.exists() && !link.is_symlink());
    }
}
