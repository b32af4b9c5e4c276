//! The folder next to the destination in which the copy is written: `NAME.storemark-partial`, with
//! the store under the name `store`. Its lock shows that a copy is running; the system drops the lock
//! with the process, however that ends.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use model::{Access, Error, ErrorKind, KeyKind, Result};

use super::location::{StoreLocation, parent};
use crate::host::{self, FileLock};

pub(super) struct Partial {
    folder: PathBuf,
    /// The lock; `None` if the file system has none.
    lock: Option<FileLock>,
}

/// The name of the complete copy while it takes the place of another folder, and then of that
/// folder.
pub(super) const REPLACED: &str = "replaced";

/// The name of a folder that is moved out of the way if two names cannot be exchanged.
pub(super) const ASIDE: &str = "set-aside";

/// Returns the folder for a copy to `destination`.
pub(super) fn folder_for(destination: &Path) -> PathBuf {
    sibling(destination, ".storemark-partial")
}

impl Partial {
    /// Creates the folder, or takes over one that an earlier copy left.
    pub(super) fn claim(to: &StoreLocation) -> Result<Self> {
        let folder = folder_for(&to.path);
        // A server's user passes through it to the store, which is that user's alone.
        let mode = if to.engine.account().is_some() { 0o711 } else { 0o700 };
        match host::create_folder(&folder, mode) {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => check_ours(&folder)?,
            created => created.map_err(|cause| {
                Error::io(format!("cannot write to {}", parent(&to.path).display()), cause)
            })?,
        }
        let lock = lock(&folder)?;
        host::set_mode(&folder, mode).map_err(|cause| Error::io(folder.display(), cause))?;
        // What is created in it would get the list of the folder that it is in.
        host::remove_access_lists(&folder);
        Ok(Self { folder, lock })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn store(&self) -> PathBuf {
        self.folder.join("store")
    }

    /// Removes what an earlier copy left.
    pub(super) fn empty(&self) -> Result<()> {
        host::empty_folder(&self.folder).map_err(|e| Error::io(self.folder.display(), e))
    }

    /// Removes the folder. If that fails, the next copy takes over what remains.
    pub(super) fn release(self) -> io::Result<()> {
        host::remove_folder(&self.folder, self.lock)
    }

    /// Keeps what can be resumed, removes what cannot, and returns an error that says which.
    pub(super) fn explain(self, error: Error, to: &StoreLocation, keys: KeyKind) -> Error {
        let place = to.path.display();
        // What is wrong with the data stays wrong.
        let may_go_on = matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::Failed);
        if !may_go_on || !self.resumable(to, keys) {
            // The error is the one to report.
            let _ = self.release();
            return error.context(format!("{place} was not created"));
        }
        let kept =
            format!("{place} is not complete; --resume continues with {}", self.folder.display());
        match error.kind() {
            ErrorKind::Interrupted => Error::new(ErrorKind::Interrupted, kept),
            _ => error.context(kept),
        }
    }

    fn resumable(&self, to: &StoreLocation, keys: KeyKind) -> bool {
        let store = self.store();
        let may_grow = store.exists() && !to.engine.capabilities().written_once;
        let opened = may_grow.then(|| to.engine.open(&store, &to.options(Access::Write, keys)));
        opened.is_some_and(|store| store.is_ok_and(|store| store.close().is_ok()))
    }
}

/// Gives a folder back its name that a killed copy had moved to put its own in its place; returns
/// that name if there was such a folder.
pub(super) fn put_back(to: &StoreLocation) -> Result<Option<&Path>> {
    let folder = folder_for(&to.path);
    let aside = folder.join(ASIDE);
    let exists = |path: &Path| fs::symlink_metadata(path).is_ok();
    if !exists(&aside) || exists(&to.path) {
        return Ok(None);
    }
    check_ours(&folder)?;
    let _lock = lock(&folder)?;
    host::rename_new(&aside, &to.path).map(|()| Some(&*to.path))
}

/// Removes the folder of a copy that was killed once its store had its name: it has the lock alone.
pub(super) fn remove_finished(to: &StoreLocation) -> Result<()> {
    let folder = folder_for(&to.path);
    let has_lock_alone = || {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name()).collect::<Vec<_>>() == [host::LOCK]
    };
    if !has_lock_alone() || fs::symlink_metadata(&to.path).is_err() {
        return Ok(());
    }
    check_ours(&folder)?;
    let lock = lock(&folder)?;
    // Another copy may have been there meanwhile, and without locks may be there now.
    if lock.is_none() || !has_lock_alone() {
        return Ok(());
    }
    host::remove_folder(&folder, lock).map_err(|cause| Error::io(folder.display(), cause))
}

fn lock(folder: &Path) -> Result<Option<FileLock>> {
    let lock = host::lock_folder(folder).map_err(|cause| match cause.kind() {
        io::ErrorKind::WouldBlock => {
            Error::new(ErrorKind::Exists, "another copy to the same place is running")
        }
        _ => Error::io("cannot create its lock", cause),
    });
    lock.map_err(|error| error.at(folder.display()))
}

/// Fails if a folder of that name may belong to others: only a folder of this user that is empty or
/// has a lock in it is taken over.
fn check_ours(folder: &Path) -> Result<()> {
    let meta = fs::symlink_metadata(folder).map_err(|e| Error::io(folder.display(), e))?;
    let lock = fs::symlink_metadata(folder.join(host::LOCK));
    let locked = lock.is_ok_and(|lock| lock.is_file());
    if meta.is_dir() && host::is_mine(&meta) && (locked || is_empty(folder)?) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Exists,
        format!(
            "{} was not created by storemark, and the copy needs that name; rename it",
            folder.display()
        ),
    ))
}

/// Returns `path` with `suffix` at the end of its name.
pub(super) fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

pub(super) fn is_empty(folder: &Path) -> Result<bool> {
    let mut entries = fs::read_dir(folder).map_err(|e| Error::io(folder.display(), e))?;
    Ok(entries.next().is_none())
}
