//! A repository in a folder of its own, which stays.
//!
//! ```text
//! storemark-backup    the form, the engine of the catalogue and its settings; written last
//! lock                locked while a process uses the repository
//! catalogue/store     the catalogue
//! packs/00000001      …
//! ```

use std::{
    fs::{self, File, TryLockError},
    io::Write,
    path::{Path, PathBuf},
};

use model::{Access, Blobs, Error, KeyKind, OpenOptions, Result, Settings};

use crate::{os, repository::Repository};

const ABOUT: &str = "storemark-backup";
/// The first line of [`ABOUT`]: the form of the repository.
const FORM: &str = "storemark backup 1, not encrypted";

/// The engine of a catalogue, and settings by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    pub engine: String,
    pub settings: Vec<(String, String)>,
}

impl About {
    /// What the repository in `folder` says of itself; `None`: there is none.
    pub fn of(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(ABOUT);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|e| Error::io(path.display(), e))?,
        };
        let mut lines = text.lines();
        let wrong = || Error::corrupt(format!("{}: is of no form that is known", path.display()));
        if lines.next() != Some(FORM) {
            return Err(wrong());
        }
        let engine = lines.next().ok_or_else(wrong)?.to_owned();
        let setting = |line: &str| {
            let (name, value) = line.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        };
        let settings = lines.map(setting).collect::<Option<_>>().ok_or_else(wrong)?;
        Ok(Some(Self { engine, settings }))
    }

    fn write(engine: &dyn Blobs, settings: &Settings, folder: &Path) -> Result<()> {
        let settings = settings.0.iter().map(|(name, value)| format!("{name}={value}\n"));
        let text = format!("{FORM}\n{}\n{}", engine.name(), settings.collect::<String>());
        let new = folder.join(format!("{ABOUT}.new"));
        let write = || {
            let mut file = File::create(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, folder.join(ABOUT))?;
            os::sync_folder(folder)
        };
        write().map_err(|e| Error::io(new.display(), e))
    }
}

/// A repository that no other process uses.
pub struct Kept {
    repository: Repository,
    _lock: File,
}

impl Kept {
    /// Opens the repository in `folder`.
    pub fn open(folder: &Path, engine: &dyn Blobs, settings: &Settings) -> Result<Self> {
        let lock = lock(folder)?;
        let store = engine.open(&location(folder), &options(settings));
        let store = store.map_err(|e| e.context("catalogue"))?;
        Ok(Self { repository: Repository::new(folder.join("packs"), store)?, _lock: lock })
    }

    /// Makes a repository in `folder`, which holds nothing, or one whose making was interrupted.
    pub fn create(folder: &Path, engine: &dyn Blobs, settings: &Settings) -> Result<Self> {
        let failed = |path: &Path, e| Error::io(path.display(), e);
        fs::create_dir_all(folder).map_err(|e| failed(folder, e))?;
        let is_own =
            |name: &str| ["lock", "catalogue", "packs"].contains(&name) || name.starts_with(ABOUT);
        for entry in fs::read_dir(folder).map_err(|e| failed(folder, e))? {
            let entry = entry.map_err(|e| failed(folder, e))?;
            if !is_own(&entry.file_name().to_string_lossy()) {
                return Err(Error::usage(format!(
                    "{}: is not empty and no repository; name a new folder",
                    folder.display()
                )));
            }
        }
        let lock = lock(folder)?;
        let packs = folder.join("packs");
        fs::create_dir_all(&packs).map_err(|e| failed(&packs, e))?;
        if fs::read_dir(&packs).map_err(|e| failed(&packs, e))?.next().is_some() {
            let folder = folder.display();
            return Err(Error::corrupt(format!("{folder}: has packs, but {ABOUT} is missing")));
        }
        let catalogue = folder.join("catalogue");
        if catalogue.exists() {
            fs::remove_dir_all(&catalogue).map_err(|e| failed(&catalogue, e))?;
        }
        fs::create_dir(&catalogue).map_err(|e| failed(&catalogue, e))?;
        let store = engine.create(&location(folder), &options(settings))?;
        for path in [&catalogue, folder] {
            os::sync_folder(path).map_err(|e| failed(path, e))?;
        }
        About::write(engine, settings, folder)?;
        Ok(Self { repository: Repository::new(packs, store)?, _lock: lock })
    }

    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Closes it; an error that only shows on closing is not lost.
    pub fn close(self) -> Result<()> {
        self.repository.close()
    }
}

fn location(folder: &Path) -> PathBuf {
    folder.join("catalogue").join("store")
}

fn options(settings: &Settings) -> OpenOptions {
    OpenOptions { settings: settings.clone(), access: Access::Write, keys: KeyKind::Names }
}

/// Refuses a second process.
fn lock(folder: &Path) -> Result<File> {
    let path = folder.join("lock");
    let options = fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = options.map_err(|e| Error::io(path.display(), e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::usage(format!(
            "{}: another process uses this repository; try again when it has finished",
            folder.display()
        ))),
        Err(TryLockError::Error(error)) => Err(Error::io(path.display(), error)),
    }
}
