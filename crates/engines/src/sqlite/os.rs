//! The system's report about locks on a file.

use std::path::Path;

/// Returns whether a process, this one included, has locked the byte at `offset` of a file. The file is not
/// opened: closing it would give up all locks that this process has on it.
///
/// `/proc/locks` has a line for each lock, which ends with device and inode, first and last byte:
/// `1: POSIX  ADVISORY  READ 4242 fe:00:77 128 128`. Some file systems report another device there than a file
/// has, so that inodes alone are compared.
#[cfg(target_os = "linux")]
pub(super) fn is_locked(path: &Path, offset: u64) -> bool {
    use std::{fs, os::unix::fs::MetadataExt};

    let Ok(inode) = fs::metadata(path).map(|metadata| metadata.ino()) else { return false };
    // Without the list, it counts as locked.
    let Ok(locks) = fs::read_to_string("/proc/locks") else { return true };
    locks.lines().any(|line| {
        let mut words = line.split_ascii_whitespace().rev();
        let (last, first, file) = (words.next(), words.next(), words.next());
        let number = |word: Option<&str>| word.and_then(|word| word.parse::<u64>().ok());
        number(file.and_then(|file| file.rsplit(':').next())) == Some(inode)
            && number(first).is_some_and(|first| first <= offset)
            && number(last).is_none_or(|last| offset <= last)
    })
}

/// Returns whether there is such a file: its locks are unknown here.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_locked(path: &Path, _: u64) -> bool {
    path.exists()
}
