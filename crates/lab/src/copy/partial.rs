//! The folder next to the destination in which the copy is written: `NAME.storemark-partial`, with
//! the store under the name `store`. Its lock shows that a copy is running; the system drops the lock
//! with the process, however that ends.

use std::{
    fs::{self, DirBuilder, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use model::{Access, Error, ErrorKind, KeyKind, OpenOptions, Result, Settings};

use super::{Place, destination};

const SUFFIX: &str = ".storemark-partial";
const STORE: &str = "store";
const LOCK: &str = "lock";

/// The folder, held by this copy.
pub(super) struct Partial {
    folder: PathBuf,
    /// Absent if the file system has no locks.
    _lock: Option<File>,
}

/// The folder for a copy to `destination`.
pub(super) fn folder_for(destination: &Path) -> PathBuf {
    destination::sibling(destination, SUFFIX)
}

impl Partial {
    /// Creates the folder, or takes over one that an earlier copy left.
    pub(super) fn claim(destination: &Path) -> Result<Self> {
        let folder = folder_for(destination);
        match create(&folder) {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => check_ours(&folder)?,
            created => created.map_err(|cause| refused(destination, cause))?,
        }
        let lock = lock(&folder.join(LOCK)).map_err(|error| error.context(folder.display()))?;
        Ok(Self { folder, _lock: lock })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the copy is written.
    pub(super) fn store(&self) -> PathBuf {
        self.folder.join(STORE)
    }

    pub(super) fn has_store(&self) -> bool {
        self.store().exists()
    }

    /// Removes what an earlier copy left.
    pub(super) fn empty(&self) -> Result<()> {
        let failed = |cause| Error::io(self.folder.display(), cause);
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_name() != LOCK {
                remove(&entry.path()).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Removes the folder as far as possible: the next copy takes over what remains.
    pub(super) fn release(self) {
        let _ = self.empty();
        // The lock goes last, so that what remains is recognised as ours.
        let _ = fs::remove_file(self.folder.join(LOCK));
        let _ = fs::remove_dir(&self.folder);
    }

    /// Keeps what can be resumed, removes what cannot, and returns an error that says which.
    pub(super) fn explain(self, error: Error, to: &Place, keys: KeyKind) -> Error {
        let place = to.path.display();
        // What is wrong with the data stays wrong.
        let may_go_on = matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::Failed);
        if !may_go_on || !self.resumable(to, keys) {
            self.release();
            return error.context(format!("{place} was not created"));
        }
        let kept =
            format!("{place} is not complete; --resume continues with {}", self.folder.display());
        match error.kind() {
            ErrorKind::Interrupted => Error::new(ErrorKind::Interrupted, kept),
            _ => error.context(kept),
        }
    }

    fn resumable(&self, to: &Place, keys: KeyKind) -> bool {
        let options = OpenOptions { access: Access::Write, settings: Settings::default(), keys };
        let opened = self.has_store().then(|| to.engine.open(&self.store(), &options));
        opened.is_some_and(|store| store.is_ok_and(|store| store.close().is_ok()))
    }
}

#[cfg(unix)]
fn create(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    // A server's user passes through it to the store.
    DirBuilder::new().mode(0o711).create(folder)
}

#[cfg(not(unix))]
fn create(folder: &Path) -> io::Result<()> {
    DirBuilder::new().create(folder)
}

/// A folder of that name may not be ours: only a folder of this user that is empty or has a lock in
/// it is taken over.
fn check_ours(folder: &Path) -> Result<()> {
    let failed = |cause| Error::io(folder.display(), cause);
    let meta = fs::symlink_metadata(folder).map_err(failed)?;
    let locked = || fs::symlink_metadata(folder.join(LOCK)).is_ok_and(|lock| lock.is_file());
    if meta.is_dir() && is_mine(&meta) && (locked() || destination::is_empty(folder)?) {
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

#[cfg(unix)]
fn is_mine(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    meta.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_mine(_: &fs::Metadata) -> bool {
    true
}

fn lock(path: &Path) -> Result<Option<File>> {
    let busy = || Error::new(ErrorKind::Exists, "another copy to the same place is running");
    let file = File::options().write(true).create(true).truncate(false).open(path);
    let file = file.map_err(|cause| Error::io("cannot create its lock", cause))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(busy()),
        Err(TryLockError::Error(_)) => Ok(None),
        // Another copy may have ended, and removed the file, since it was opened.
        Ok(()) => {
            if path.exists() {
                Ok(Some(file))
            } else {
                Err(busy())
            }
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

fn refused(destination: &Path, cause: io::Error) -> Error {
    let parent = destination::parent(destination);
    Error::io(format!("cannot write to {}", parent.display()), cause)
}
