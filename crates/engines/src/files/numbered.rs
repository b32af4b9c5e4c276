//! A folder of numbered files in a tree of folders as a part of another engine's stores.

use std::path::{Path, PathBuf};

use model::{Access, Key, Result};

use super::{FilesFolder, Sync, layout::Layout, session::FilesWorker};

impl FilesFolder {
    /// Opens an existing folder of another engine's numbered files, in a tree of folders.
    pub(crate) fn numbered(path: &Path, access: Access, sync: Sync) -> Result<Self> {
        Self::new(path, Layout::Tree, access, sync)
    }

    /// Lists the numbers of all numbered files, and skips others.
    pub(crate) fn numbers(&self) -> Result<Vec<i64>> {
        self.layout.numbers(&self.path)
    }
}

impl FilesWorker<'_> {
    /// Removes the file of `key`, if there is one, and flushes nothing.
    pub(crate) fn discard(&mut self, key: Key<'_>) -> Result<()> {
        self.select_to_write(key)?;
        self.remove().map(drop)
    }

    /// Returns the path of the file of `key`.
    pub(crate) fn path(&mut self, key: Key<'_>) -> Result<PathBuf> {
        self.select(key)?;
        Ok(self.current())
    }
}
