//! Rows in files: a folder with a file for each database.

use std::{
    fs,
    marker::PhantomData,
    path::{Path, PathBuf},
};

use model::{
    Durability, Error, Result, Settings,
    rows::{RowSession, RowStore, RowTables},
};

use crate::fresh;

/// The format of such a file. All functions get the settings that were asked for.
pub(crate) trait RowFile: Send + Sync + 'static {
    const EXTENSION: &'static str;

    /// Creates a database without rows.
    fn create(path: &Path, settings: &Settings) -> Result<()>;

    fn session(path: &Path, settings: &Settings) -> Result<Box<dyn RowSession>>;

    fn in_effect(path: &Path, settings: &Settings) -> Result<(Settings, Durability)>;

    /// Returns the files of a database, present or not.
    fn files(path: &Path, _: &Settings) -> Vec<PathBuf> {
        vec![path.to_owned()]
    }

    /// Flushes a database, as [`RowTables::flush_writes`] does.
    fn flush(_: &Path, _: &Settings) -> Result<()> {
        Ok(())
    }
}

/// A folder with a number of databases in it.
pub(crate) struct RowFolder<F> {
    folder: PathBuf,
    databases: u32,
    settings: Settings,
    file: PhantomData<F>,
}

impl<F: RowFile> RowFolder<F> {
    pub(crate) fn start(location: &Path, settings: &Settings) -> Result<Box<dyn RowStore>> {
        fs::create_dir(location).map_err(|e| Error::io(location.display(), e))?;
        Ok(Box::new(Self::new(location, 0, settings)))
    }

    /// Opens the databases that another process created there.
    pub(crate) fn join(location: &Path, settings: &Settings) -> Box<dyn RowTables> {
        Box::new(Self::new(location, 0, settings))
    }

    fn new(folder: &Path, databases: u32, settings: &Settings) -> Self {
        let (folder, settings) = (folder.to_owned(), settings.clone());
        Self { folder, databases, settings, file: PhantomData }
    }

    fn path(&self, database: u32) -> PathBuf {
        self.folder.join(format!("rows{database}.{}", F::EXTENSION))
    }

    fn paths(&self) -> impl Iterator<Item = PathBuf> {
        (0..self.databases).map(|database| self.path(database))
    }
}

impl<F: RowFile> RowStore for RowFolder<F> {
    fn location(&self) -> PathBuf {
        self.folder.clone()
    }

    fn create(&self, databases: u32, settings: &Settings) -> Result<Box<dyn RowTables + '_>> {
        let tables = Self::new(&self.folder, databases, settings);
        tables.paths().try_for_each(|path| F::create(&path, settings))?;
        Ok(Box::new(tables))
    }

    fn close(self: Box<Self>) -> Result<()> {
        fs::remove_dir(&self.folder).map_err(|e| Error::io(self.folder.display(), e))
    }
}

impl<F: RowFile> RowTables for RowFolder<F> {
    fn session(&self, database: u32) -> Result<Box<dyn RowSession + '_>> {
        F::session(&self.path(database), &self.settings)
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        F::in_effect(&self.path(0), &self.settings)
    }

    fn files(&self, database: u32) -> Vec<PathBuf> {
        F::files(&self.path(database), &self.settings)
    }

    fn flush_writes(&self) -> Result<()> {
        self.paths().try_for_each(|path| F::flush(&path, &self.settings))
    }

    fn remove(self: Box<Self>) -> Result<()> {
        fresh::remove(self.paths().flat_map(|path| F::files(&path, &self.settings)))
    }
}
