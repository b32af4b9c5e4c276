//! The facet of values.

use std::path::{Path, PathBuf};

use super::Engine;
use crate::{Accepts, Batch, Facet, KeyKind, OpenOptions, Result, Settings, Store};

/// The facet of an engine that stores values under keys.
pub trait Blobs: Engine {
    /// Returns the value of the setting `cache` with which `sessions` of a store together have a
    /// cache of `bytes`; `None` if the engine has no cache of its own, or none with a size.
    fn cache(&self, bytes: u64, _sessions: u32) -> Option<u64> {
        let table = self.settings(Facet::Blobs);
        match table.iter().find(|setting| setting.name == "cache")?.accepts {
            Accepts::Size(..) => Some(bytes),
            Accepts::Multiple(of, ..) => Some(bytes / of * of),
            _ => None,
        }
    }

    /// Returns whether the file or folder at `path` looks like one of this engine's stores.
    fn recognises(&self, _path: &Path) -> bool {
        false
    }

    /// Returns the files and folders that belong to the store at `location`, present or not. A
    /// folder includes all in it.
    fn files(&self, location: &Path) -> Vec<PathBuf> {
        if self.capabilities().persistent { vec![location.to_owned()] } else { Vec::new() }
    }

    /// Returns the files and folders among [`files`](Self::files) that are the store's log; none if it
    /// has no log apart.
    fn logs(&self, _location: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns why the values of the store at `location` are not updated, which these settings find; `None`
    /// if they can be.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be looked at.
    fn only_read(&self, _location: &Path, _settings: &Settings) -> Result<Option<String>> {
        let is_once = self.capabilities().written_once;
        Ok(is_once.then(|| "is an archive, which is written once".to_owned()))
    }

    /// Returns why the store at `location` cannot be opened for reading in transactions of `_batch`
    /// without changing or creating a file, or costing less than it usually does; `None` if it can.
    fn reading_changes(
        &self,
        _location: &Path,
        _settings: &Settings,
        _batch: Batch,
    ) -> Option<String> {
        None
    }

    /// Returns whether targets with these settings can have the same files open in one process,
    /// only to read.
    fn shares_files(&self, own: &Settings, other: &Settings) -> bool {
        let stored = |settings: &Settings| settings.stored(self.settings(Facet::Blobs));
        stored(own) == stored(other)
    }

    /// Returns whether not even the keys of the store at `location` can be read without changing
    /// its files, so that a copy of them is opened instead.
    ///
    /// # Errors
    ///
    /// Fails if another process works on the files, because a copy would be torn.
    fn reads_a_copy(&self, _location: &Path) -> Result<bool> {
        Ok(false)
    }

    /// Returns further settings with which another process of this program on this host, which opens the
    /// store at `location` while this process runs, does not read again what this process has read of it.
    fn worker_settings(&self, _location: &Path, _keys: KeyKind) -> Settings {
        Settings::default()
    }

    /// Finds the values in a store at `location` that another program made, as far as the settings
    /// `asked` for do not name them; `None` if the engine knows where its values are.
    ///
    /// # Errors
    ///
    /// Fails if there are none, or several may be meant; the sentence names them.
    fn find_values(&self, _location: &Path, _asked: &Settings) -> Result<Option<FoundValues>> {
        Ok(None)
    }

    /// Returns whether the store at `location` is read without the locks that show a writer which comes
    /// meanwhile: it may change the files that are read.
    fn reads_unguarded(&self, _location: &Path) -> bool {
        false
    }

    /// Returns the statements that replace the values in a store of another program by the paths of their
    /// copies; `None` if the store is of the engine's own form.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read, and as unsupported if no such statements are safe.
    fn replace_by_paths(&self, _: &CopiedValues<'_>) -> Result<Option<Vec<String>>> {
        Ok(None)
    }

    /// Lists what the store at `location` holds in addition to its dataset (other tables, for
    /// example) and would be lost with it, in words for people.
    fn other_contents(&self, _location: &Path) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Repairs the store at `location`, which does not open, in place with the tool of its engine. Returns
    /// the command; `None` if there is none, it is not installed, or it fails.
    fn repair(&self, _location: &Path) -> Option<String> {
        None
    }

    /// Creates an empty store at `location`.
    ///
    /// # Errors
    ///
    /// Fails if anything exists there.
    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>>;

    /// Opens the store at `location`.
    ///
    /// # Errors
    ///
    /// Fails if there is none: it never creates one.
    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>>;

    /// Opens the store at `location` alongside another process that has it open and keeps it open.
    /// It is only called for engines with [`Capabilities::processes`](super::Capabilities::processes).
    fn join(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        self.open(location, options)
    }
}

/// The values of a store that were copied into files.
pub struct CopiedValues<'c> {
    /// The place of the store.
    pub location: &'c Path,
    /// The settings that name them in it.
    pub settings: &'c Settings,
    /// The folder of the files.
    pub to: &'c Path,
    /// The end of a file's name after the key.
    pub suffix: Option<&'c str>,
}

/// The values in a store that another program made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundValues {
    /// The settings that name them.
    pub settings: Settings,
    /// What was found, in words for people; `None` if the settings that were asked for name it.
    pub about: Option<String>,
    /// Why single values are not read, so that they can be moved but not measured; `None` if they are.
    pub only_moved: Option<String>,
}
