//! Where a store is and how it is opened.

use std::path::{Path, PathBuf};

use model::{Access, Engine, KeyKind, OpenOptions, Result, Settings, Store};

use crate::{Progress, Stop, clone::clone_store, host::Scratch};

/// A store to read, and what is removed with it.
pub(crate) struct Readable {
    pub(crate) place: Place,
    _scratch: Option<Scratch>,
}

/// A store on disk: its engine, its path, and the settings to open or make it with.
#[derive(Clone)]
pub struct Place {
    /// The kind of store.
    pub engine: &'static dyn Engine,
    /// Its file or folder.
    pub path: PathBuf,
    /// Checked settings.
    pub settings: Settings,
}

impl Place {
    /// Where the store that is there may be opened: itself, or a copy in `scratch`, else beside it.
    pub(crate) fn readable(
        &self,
        scratch: Option<&Path>,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Readable> {
        if !self.engine.capabilities().persistent || !self.engine.reads_a_copy(&self.path)? {
            return Ok(Readable { place: self.clone(), _scratch: None });
        }
        let beside = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = scratch.or(beside).unwrap_or(Path::new("."));
        let scratch = Scratch::new_in(parent)?;
        let folder = scratch.folder("read", self.engine.account())?;
        let copy =
            folder.join(self.path.file_name().unwrap_or_else(|| self.engine.name().as_ref()));
        clone_store(self.engine, &self.path, &copy, progress, stop)?;
        let place = Self { path: copy, ..self.clone() };
        Ok(Readable { place, _scratch: Some(scratch) })
    }

    /// Opens the store that is there, to read.
    pub(crate) fn open(&self) -> Result<Box<dyn Store>> {
        self.engine.open(&self.path, &self.options(Access::Read, KeyKind::Integers))
    }

    pub(crate) fn options(&self, access: Access, keys: KeyKind) -> OpenOptions {
        OpenOptions { settings: self.settings.clone(), access, keys }
    }
}
