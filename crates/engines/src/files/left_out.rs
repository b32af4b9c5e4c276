//! What is in a user's folder and is no value, to be reported by a copy.

use std::{
    collections::BTreeSet,
    fs::{self, File, FileType},
    path::{Path, PathBuf},
};

use model::{Error, Result};

use super::layout::walk;

/// What the engine `files` passes over, or fails to read, below a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub symlinks: Several,
    /// Devices, sockets and pipes.
    pub special: Several,
    /// Files and folders that this user may not read.
    pub unreadable: Several,
    pub empty_folders: Several,
}

/// How many, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Several {
    /// All of them.
    pub count: u64,
    /// The first ten in name order, relative to the folder.
    pub names: BTreeSet<PathBuf>,
}

impl Several {
    const SHOWN: usize = 10;

    fn add(&mut self, name: &Path) {
        self.count += 1;
        self.names.insert(name.to_owned());
        if self.names.len() > Self::SHOWN {
            self.names.pop_last();
        }
    }
}

impl LeftOut {
    /// Where a thing is counted; `None`: it is a value, or a folder with something in it.
    fn place(&mut self, path: &Path, kind: FileType) -> Option<&mut Several> {
        let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        if kind.is_symlink() {
            Some(&mut self.symlinks)
        } else if kind.is_dir() {
            is_empty().then_some(&mut self.empty_folders)
        } else if kind.is_file() {
            File::open(path).is_err().then_some(&mut self.unreadable)
        } else {
            Some(&mut self.special)
        }
    }
}

/// Walks `dir` and returns what is no value there. Opens each file for reading, changes nothing.
pub fn files_left_out(dir: &Path) -> Result<LeftOut> {
    fs::read_dir(dir).map_err(|e| Error::io(dir.display(), e))?;
    let mut out = LeftOut::default();
    for found in walk(dir, usize::MAX) {
        let (path, several) = match &found {
            Ok(found) => (found.path(), out.place(found.path(), found.file_type())),
            Err(error) => (error.path().unwrap_or(dir), Some(&mut out.unreadable)),
        };
        if let Some(several) = several {
            several.add(path.strip_prefix(dir).unwrap_or(path));
        }
    }
    Ok(out)
}
