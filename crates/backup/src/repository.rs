//! A repository: a folder of packs, and a store with the catalogue.

use std::{
    collections::BTreeSet,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use model::{Error, Key, Mode, Put, Result, Store};

use crate::catalogue::{Catalogue, Snapshot};

/// The identity that a kept repository records about its catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The number that both have.
    pub(crate) id: u128,
    /// The least number of backups that the catalogue has.
    pub(crate) backups: u32,
}

/// A function that fails if the user asked to stop.
pub type StopCheck<'a> = &'a (dyn Fn() -> Result<()> + Sync);

/// The content of a catalogue as far as it can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The backups, the oldest first.
    pub snapshots: Vec<Snapshot>,
    /// What is damaged, a sentence for each record and for a catalogue that is not the one that wrote
    /// all backups.
    pub damage: BTreeSet<String>,
}

impl Listed {
    pub(crate) fn add_damage(&mut self, error: &Error) {
        self.damage.insert(error.to_string());
    }
}

/// An open repository.
pub struct Repository {
    packs: PathBuf,
    store: Box<dyn Store>,
    /// The identity of its catalogue; `None` if the repository is not kept, or of form 1.
    identity: Option<Identity>,
}

impl Repository {
    /// Creates a repository with packs in the folder `packs`, which is created if it is missing,
    /// and the catalogue in `store`, whose keys are names.
    ///
    /// # Errors
    ///
    /// Fails if the folder cannot be created.
    pub fn new(packs: PathBuf, store: Box<dyn Store>) -> Result<Self> {
        match host::create_folder(&packs, 0o700) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                Err(Error::io(packs.display(), error))
            }
            _ => Ok(Self::from_parts(packs, store, None)),
        }
    }

    /// Creates a repository whose folder of packs exists.
    pub(crate) fn from_parts(
        packs: PathBuf,
        store: Box<dyn Store>,
        identity: Option<Identity>,
    ) -> Self {
        Self { packs, store, identity }
    }

    /// Lists the backups that can be read, and what is wrong with the catalogue.
    ///
    /// # Errors
    ///
    /// Fails if the catalogue cannot be read.
    pub fn list(&self) -> Result<Listed> {
        self.list_in(&mut self.catalogue(Mode::Read)?)
    }

    pub(crate) fn list_in(&self, catalogue: &mut Catalogue<'_>) -> Result<Listed> {
        let damage = self.disagrees(catalogue)?.into_iter().collect();
        let mut listed = Listed { snapshots: Vec::new(), damage };
        for snapshot in catalogue.readable_snapshots()? {
            match snapshot {
                Ok(snapshot) => listed.snapshots.push(snapshot),
                Err(error) => listed.add_damage(&error),
            }
        }
        Ok(listed)
    }

    /// Returns why the catalogue is not the one that wrote all backups of this repository, or which of
    /// the records that this is known by is damaged; `None` if it is whole.
    pub(crate) fn disagrees(&self, catalogue: &mut Catalogue<'_>) -> Result<Option<String>> {
        match self.difference(catalogue) {
            Err(error) if error.kind() == model::ErrorKind::Corrupt => Ok(Some(error.to_string())),
            found => found,
        }
    }

    fn difference(&self, catalogue: &mut Catalogue<'_>) -> Result<Option<String>> {
        let Some(Identity { id, backups }) = self.identity else { return Ok(None) };
        let Some(inventory) = catalogue.inventory()? else {
            let what = "catalogue: is empty, or not that of this repository: the repository's number \
                        is not in it";
            return Ok(Some(what.to_owned()));
        };
        let last = catalogue.snapshots()?.last().map_or(0, |last| last.version);
        let packs = catalogue.packs()?.len() as u64;
        Ok(if inventory.id != id {
            Some("catalogue: is that of another repository".to_owned())
        } else if last < backups {
            Some(format!(
                "catalogue: is an older one, or has lost records: its last backup has the number \
                 {last} instead of {backups}"
            ))
        } else if packs != inventory.packs {
            let written = inventory.packs;
            Some(format!("catalogue: has lost records: it has {packs} of {written} packs"))
        } else {
            None
        })
    }

    /// Returns the store of the catalogue.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Closes the store.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot write its last data.
    pub fn close(self) -> Result<()> {
        self.store.close()
    }

    /// Uses the store once, so that what it reads of its own first is in the page cache: a server's
    /// files.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be written.
    pub fn warm_up(&self) -> Result<()> {
        let mut session = self.store.session()?;
        let key = Key::Name(b"warm-up");
        session.begin(Mode::Write)?;
        session.put(key, b"", &Put::default())?;
        session.delete(key)?;
        session.commit()?;
        drop(session);
        self.store.flush_writes()
    }

    pub(crate) fn packs(&self) -> &Path {
        &self.packs
    }

    /// Opens the catalogue in a transaction.
    pub(crate) fn catalogue(&self, mode: Mode) -> Result<Catalogue<'_>> {
        let mut catalogue = Catalogue::new(self.store.session()?);
        catalogue.begin(mode)?;
        Ok(catalogue)
    }
}

/// The greatest number of workers, which keep about 10 MB of frames each: memory does not grow with
/// the number of processors.
const MOST_WORKERS: usize = 8;

/// Returns the number of workers: that of processors, up to [`MOST_WORKERS`].
pub(crate) fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MOST_WORKERS)
}
