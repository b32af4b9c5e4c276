//! Where a store is and how it is opened.

use std::path::{Path, PathBuf};

use model::{
    Access, Blobs, Error, KeyKind, OpenOptions, Result, Settings, Store, units::show_size,
};

use super::clone::clone_store;
use crate::{
    Progress, Stop,
    host::{self, Scratch},
};

/// A store that can be read, and the scratch folder that it may be in.
pub(crate) struct Readable {
    pub(crate) place: Place,
    _scratch: Option<Scratch>,
}

/// A store on disk: its engine, its path, and the settings to open or create it with.
#[derive(Clone)]
pub struct Place {
    /// The kind of store.
    pub engine: &'static dyn Blobs,
    /// Its file or folder.
    pub path: PathBuf,
    /// Checked settings.
    pub settings: Settings,
}

impl Place {
    /// Returns the store, or a copy in `scratch` (default: next to it) if even reading would change
    /// the store.
    pub(crate) fn readable(
        &self,
        scratch: Option<&Path>,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Readable> {
        let Some(parent) = self.copied_to(scratch)? else {
            return Ok(Readable { place: self.clone(), _scratch: None });
        };
        let scratch = Scratch::new_in(parent)?;
        let folder = scratch.folder("read", self.engine.account())?;
        let copy =
            folder.join(self.path.file_name().unwrap_or_else(|| self.engine.name().as_ref()));
        clone_store(self.engine, &self.path, &copy, progress, stop)?;
        let place = Self { path: copy, ..self.clone() };
        Ok(Readable { place, _scratch: Some(scratch) })
    }

    /// The folder for a copy that is read instead; `None`: the store itself can be read.
    fn copied_to<'a>(&'a self, scratch: Option<&'a Path>) -> Result<Option<&'a Path>> {
        if !self.engine.capabilities().persistent || !self.engine.reads_a_copy(&self.path)? {
            return Ok(None);
        }
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        Ok(Some(scratch.or(parent).unwrap_or(Path::new("."))))
    }

    /// Refuses if there is no room for the copy that [`Self::readable`] makes.
    pub(crate) fn check_room(&self, scratch: Option<&Path>) -> Result<()> {
        let Some(parent) = self.copied_to(scratch)? else { return Ok(()) };
        let space = host::space(&self.engine.files(&self.path))?;
        // Holes are filled by copying.
        let needed = space.apparent.max(space.allocated);
        let Some(free) = host::shortage(parent, needed)? else { return Ok(()) };
        Err(Error::usage(format!(
            "{}: it is read as a copy of {}, and {} has {} free; --scratch DIR names another folder",
            self.path.display(),
            show_size(needed),
            parent.display(),
            show_size(free)
        )))
    }

    /// Opens the existing store to read.
    pub(crate) fn open(&self) -> Result<Box<dyn Store>> {
        self.engine.open(&self.path, &self.options(Access::Read, KeyKind::Integers))
    }

    pub(crate) fn options(&self, access: Access, keys: KeyKind) -> OpenOptions {
        OpenOptions { settings: self.settings.clone(), access, keys }
    }
}
