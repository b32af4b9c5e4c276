//! What is in a user's folder and is no value, to be reported by a copy.

use std::{
    collections::BTreeSet,
    fs::File,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use model::{Error, Result};

use super::{
    os,
    walk::{Found, walk},
};

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

impl LeftOut {
    pub fn is_empty(&self) -> bool {
        [&self.symlinks, &self.special, &self.unreadable, &self.empty_folders]
            .iter()
            .all(|several| several.count == 0)
    }
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

    fn add(&mut self, name: PathBuf) {
        self.count += 1;
        self.names.insert(name);
        if self.names.len() > Self::SHOWN {
            self.names.pop_last();
        }
    }
}

/// Walks `dir` and returns what is no value there. Opens each file for reading, changes nothing.
pub fn files_left_out(dir: &Path) -> Result<LeftOut> {
    let mut out = LeftOut::default();
    walk(dir, &mut |name, found| {
        let path = os::path(name);
        match found {
            Found::Unreadable(error) if name.is_empty() => {
                return Err(Error::io(dir.display(), error));
            }
            Found::File if File::open(dir.join(&path)).is_err() => out.unreadable.add(path),
            Found::File => {}
            Found::EmptyFolder => out.empty_folders.add(path),
            Found::Symlink => out.symlinks.add(path),
            Found::Special => out.special.add(path),
            Found::Unreadable(_) => out.unreadable.add(path),
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(out)
}
