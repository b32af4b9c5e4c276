//! One process at a time uses a store's folder, also between two starts of its server.

use std::{
    fs::{File, TryLockError},
    os::unix::fs::MetadataExt,
    path::Path,
    sync::Mutex,
};

use model::{Error, Result};

use crate::lock;

/// Locked until this process ends, however it ends.
static CLAIMED: Mutex<Vec<File>> = Mutex::new(Vec::new());

/// Locks `folder` for this process; an error if another process has it.
pub(crate) fn claim(folder: &Path) -> Result<()> {
    let shown = folder.display();
    let file = File::open(folder).map_err(|e| Error::io(&shown, e))?;
    let mut claimed = lock::hold(&CLAIMED);
    // Folders that were removed no longer need their lock.
    claimed.retain(|file| file.metadata().is_ok_and(|meta| meta.nlink() > 0));
    if claimed.iter().any(|other| identity(other) == identity(&file)) {
        return Ok(());
    }
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(Error::usage(format!("{shown}: another process has it open")))
        }
        // The file system has no locks.
        Err(TryLockError::Error(_)) => Ok(()),
        Ok(()) => {
            claimed.push(file);
            Ok(())
        }
    }
}

fn identity(file: &File) -> Option<(u64, u64)> {
    file.metadata().ok().map(|meta| (meta.dev(), meta.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claimed_folder_is_locked() {
        let folder = tempfile::tempdir().unwrap();
        let other = File::open(folder.path()).unwrap();
        other.lock().unwrap();
        let error = claim(folder.path()).unwrap_err();
        assert!(error.to_string().ends_with(": another process has it open"), "{error}");
        other.unlock().unwrap();
        claim(folder.path()).unwrap();
        claim(folder.path()).unwrap();
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
    }
}
