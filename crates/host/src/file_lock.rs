//! A lock that ends when its owner drops it.

use std::{
    fs::{File, TryLockError},
    io,
};

/// An advisory lock on an open file, released when dropped.
///
/// The system releases a lock with the last copy of its open file, and a program that is being
/// started has one until it is loaded: a file that is only closed may stay locked for that long.
#[derive(Debug)]
pub struct FileLock(File);

impl FileLock {
    /// Locks `file` for this process alone. Returns `None` if its file system has no locks.
    ///
    /// # Errors
    ///
    /// Fails with `WouldBlock` if another process holds it.
    pub fn exclusive(file: File) -> io::Result<Option<Self>> {
        let outcome = file.try_lock();
        Self::from_outcome(file, &outcome)
    }

    /// Locks `file` for this process and others that share it. Returns `None` if its file system
    /// has no locks.
    ///
    /// # Errors
    ///
    /// Fails with `WouldBlock` if another process holds it alone.
    pub fn shared(file: File) -> io::Result<Option<Self>> {
        let outcome = file.try_lock_shared();
        Self::from_outcome(file, &outcome)
    }

    fn from_outcome(file: File, outcome: &Result<(), TryLockError>) -> io::Result<Option<Self>> {
        match outcome {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(_)) => Ok(None),
        }
    }

    /// Returns the file that is locked.
    pub fn file(&self) -> &File {
        &self.0
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // It can fail only where nothing is locked.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_the_open_file_does_not_hold_what_was_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let open = || File::options().write(true).create(true).truncate(false).open(&path).unwrap();
        let file = open();
        // A program that is being started meanwhile has such a copy.
        let _copy = file.try_clone().unwrap();
        let lock = FileLock::exclusive(file).unwrap();
        let refused = FileLock::shared(open()).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        drop(lock);
        let shared = FileLock::shared(open()).unwrap();
        assert!(FileLock::exclusive(open()).is_err());
        drop(shared);
        assert!(FileLock::exclusive(open()).unwrap().is_some());
    }
}
