//! The folder of a store: the server's data, its socket and its log.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::{fs::DirBuilderExt, net::UnixStream},
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant},
};

use model::{Account, Error, ErrorKind, Result};

use crate::server::{check_enters, check_socket, claim, give};

/// Tells that a folder is a whole store.
const MARKER: &str = "storemark.mariadb";
const MARK: &str = "A store of storemark: data/ is a MariaDB server's data directory.\n";
/// How long a server that is ending is waited for.
const ENDING: Duration = Duration::from_secs(5);

/// A store's folder by its full path.
#[derive(Clone, Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// The folder at `path`, which need not be there; that which holds it must.
    pub(crate) fn at(path: &Path) -> Result<Self> {
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let full = parent.canonicalize().map_err(|e| Error::io(path.display(), e))?;
        let folder = Self(full.join(path.file_name().unwrap_or_default()));
        check_socket(&folder.socket())?;
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn is_one(path: &Path) -> bool {
        path.join(MARKER).is_file() && path.join("data").is_dir()
    }

    pub(crate) fn check_is_one(path: &Path) -> Result<()> {
        fs::metadata(path).map_err(|e| Error::io(path.display(), e))?;
        if Self::is_one(path) {
            return Ok(());
        }
        Err(Error::usage(format!("{}: is no store of the engine mariadb", path.display())))
    }

    /// Makes it, empty, where nothing is.
    pub(crate) fn make(&self, account: Option<Account>) -> Result<()> {
        let failed = |e| Error::io(self.0.display(), e);
        match fs::symlink_metadata(&self.0) {
            Ok(_) => return Err(failed(io::ErrorKind::AlreadyExists.into())),
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(failed(cause)),
            Err(_) => {}
        }
        check_enters(self.0.parent().unwrap_or(&self.0), account)?;
        for folder in [self.0.clone(), self.data(), self.temporary()] {
            DirBuilder::new().mode(0o700).create(&folder).map_err(failed)?;
            give(&folder, account)?;
        }
        claim(&self.0)
    }

    /// Gives all in it to the server's user, whose it is not when it was copied by another.
    pub(crate) fn give(&self, account: Option<Account>) -> Result<()> {
        if account.is_none() {
            return Ok(());
        }
        check_enters(self.0.parent().unwrap_or(&self.0), account)?;
        let mut left = vec![self.0.clone()];
        while let Some(path) = left.pop() {
            give(&path, account)?;
            if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir()) {
                let entries = fs::read_dir(&path).map_err(|e| Error::io(path.display(), e))?;
                left.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
            }
        }
        Ok(())
    }

    /// Notes that the store is whole.
    pub(crate) fn mark(&self) -> Result<()> {
        let path = self.0.join(MARKER);
        fs::write(&path, MARK).map_err(|e| Error::io(path.display(), e))
    }

    /// Refuses a folder that another process has, or on which a server goes on running.
    pub(crate) fn check_free(&self) -> Result<()> {
        claim(&self.0)?;
        let begun = Instant::now();
        while UnixStream::connect(self.socket()).is_ok() {
            if begun.elapsed() > ENDING {
                let what = format!("{}: another process has it open", self.0.display());
                return Err(Error::new(ErrorKind::Usage, what));
            }
            sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Removes what a failed making left.
    pub(crate) fn remove(&self) {
        let _ = fs::remove_dir_all(&self.0);
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.0.join("data")
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.0.join("tmp")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.0.join("socket")
    }

    pub(crate) fn pid(&self) -> PathBuf {
        self.0.join("pid")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.0.join("log")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_store_is_recognised() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::at(&parent.path().join("store")).unwrap();
        folder.make(None).unwrap();
        assert!(!Folder::is_one(&folder.0));
        let error = Folder::check_is_one(&folder.0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        folder.mark().unwrap();
        assert!(Folder::is_one(&folder.0));
        assert_eq!(folder.make(None).unwrap_err().kind(), ErrorKind::Exists);
        folder.remove();
        assert_eq!(Folder::check_is_one(&folder.0).unwrap_err().kind(), ErrorKind::Missing);
    }
}
