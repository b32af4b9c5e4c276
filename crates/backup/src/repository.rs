//! A repository: a folder of packs, and a store with the catalogue.

use std::{
    fs,
    path::{Path, PathBuf},
};

use model::{Error, Key, Mode, Put, Result, Store};

use crate::catalogue::{Catalogue, Snapshot};

/// Fails if the user asked to stop.
pub type StopCheck<'a> = &'a (dyn Fn() -> Result<()> + Sync);

/// A repository that is open.
pub struct Repository {
    packs: PathBuf,
    store: Box<dyn Store>,
}

impl Repository {
    /// One with packs in the folder `packs`, which is created if it is missing, and the catalogue in
    /// `store`, whose keys are names.
    pub fn new(packs: PathBuf, store: Box<dyn Store>) -> Result<Self> {
        fs::create_dir_all(&packs).map_err(|e| Error::io(packs.display(), e))?;
        Ok(Self { packs, store })
    }

    /// The store of the catalogue.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Closes the store.
    pub fn close(self) -> Result<()> {
        self.store.close()
    }

    /// All backups, the oldest first.
    pub fn snapshots(&self) -> Result<Vec<Snapshot>> {
        self.catalogue(Mode::Read)?.snapshots()
    }

    /// Uses the store once, so that what it reads of its own first is in the page cache: a server's
    /// files.
    pub fn warm_up(&self) -> Result<()> {
        let mut session = self.store.session()?;
        let key = Key::Name(b"warm-up");
        session.begin(Mode::Write)?;
        session.put(key, b"", &Put::default())?;
        session.delete(key)?;
        session.commit()?;
        drop(session);
        self.store.settle()
    }

    pub(crate) fn packs(&self) -> &Path {
        &self.packs
    }

    /// The catalogue in a transaction.
    pub(crate) fn catalogue(&self, mode: Mode) -> Result<Catalogue<'_>> {
        let mut catalogue = Catalogue::new(self.store.session()?);
        catalogue.begin(mode)?;
        Ok(catalogue)
    }
}

/// Each worker keeps about 10 MB of frames: memory does not grow with the number of processors.
const MOST_WORKERS: usize = 8;

/// As many as there are processors, within reason.
pub(crate) fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MOST_WORKERS)
}
