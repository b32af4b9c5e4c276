//! Where a store is and how it is opened.

use std::path::PathBuf;

use model::{Access, Engine, KeyKind, OpenOptions, Result, Settings, Store};

/// A store on disk: its engine, its path, and the settings to open or make it with.
pub struct Place {
    /// The kind of store.
    pub engine: &'static dyn Engine,
    /// Its file or folder.
    pub path: PathBuf,
    /// Checked settings.
    pub settings: Settings,
}

impl Place {
    /// Opens the store that is there, to read.
    pub(crate) fn open(&self) -> Result<Box<dyn Store>> {
        self.engine.open(&self.path, &self.options(Access::Read, KeyKind::Integers))
    }

    pub(crate) fn options(&self, access: Access, keys: KeyKind) -> OpenOptions {
        OpenOptions { settings: self.settings.clone(), access, keys }
    }
}
