//! A repository in a folder of its own, which stays, and which only its user can read.
//!
//! ```text
//! storemark-backup    the form, the number and the backups of the repository, the engine of the
//!                     catalogue and its settings; written last
//! lock                locked while a process uses the repository
//! catalogue/store     the catalogue
//! packs/00000001      …
//! set-aside/          packs that no catalogue mentions and that may be needed, if there are any
//! ```
//!
//! Form 1 has no number, and no count of backups.

use std::{
    fs,
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
};

use host::{FileLock, Scratch};
use model::{
    Access, Blobs, Error, Key, KeyKind, LIBRARY, Mode, OpenOptions, Result, Settings, Store,
};

use crate::{
    catalogue::{Catalogue, Inventory},
    check::stats_with,
    os,
    packs::SET_ASIDE,
    repository::{Identity, Repository, StopCheck},
    save::{Saved, save},
    tree::copy_tree,
};

const ABOUT: &str = "storemark-backup";
/// The first lines of [`ABOUT`] in forms 1 and 2.
const FORMS: [&str; 2] = ["storemark backup 1, not encrypted", "storemark backup 2, not encrypted"];
/// The most bytes of [`ABOUT`].
const LONGEST: u64 = 1 << 16;

/// The description that a repository has of itself: the engine of its catalogue, and settings by
/// name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The name of the engine.
    pub engine: String,
    /// The settings by name.
    pub settings: Vec<(String, String)>,
    /// The number of the repository; `None` if it is of form 1.
    identity: Option<Identity>,
}

impl About {
    /// Reads the description of the repository in `folder`; returns `None` if there is no
    /// repository.
    ///
    /// # Errors
    ///
    /// Fails if the description has no known form.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(ABOUT);
        let read = || {
            let mut text = String::new();
            os::open_file(&path)?.take(LONGEST).read_to_string(&mut text)?;
            Ok::<_, io::Error>(text)
        };
        let text = match read() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|e| Error::io(path.display(), e))?,
        };
        let wrong = || Error::corrupt("is of no form that is known").at(path.display());
        Self::parse(&text).map(Some).ok_or_else(wrong)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let form = lines.next()?;
        let mut number = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix('=');
        let identity = match FORMS.iter().position(|known| *known == form)? {
            0 => None,
            _ => Some(Identity {
                id: u128::from_str_radix(number("id")?, 16).ok()?,
                backups: number("backups")?.parse().ok()?,
            }),
        };
        let engine = lines.next()?.to_owned();
        let setting = |line: &str| {
            let (name, value) = line.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        };
        let settings = lines.map(setting).collect::<Option<Vec<_>>>()?;
        // A library is loaded into this program only if its user names it.
        let settings = settings.into_iter().filter(|(name, _)| name != LIBRARY).collect();
        Some(Self { engine, settings, identity })
    }

    fn to_text(&self) -> String {
        let Self { engine, settings, identity } = self;
        let [first, second] = FORMS;
        let head = identity.map_or_else(
            || first.to_owned(),
            |Identity { id, backups }| format!("{second}\nid={id:032x}\nbackups={backups}"),
        );
        let settings = settings.iter().map(|(name, value)| format!("{name}={value}\n"));
        format!("{head}\n{engine}\n{}", settings.collect::<String>())
    }

    /// Replaces the description in one step. What blocks the new file, a link for example, is
    /// removed, not followed.
    fn write(&self, folder: &Path) -> Result<()> {
        let new = folder.join(format!("{ABOUT}.new"));
        let write = || {
            match fs::remove_file(&new) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = os::create(&new)?;
            file.write_all(self.to_text().as_bytes())?;
            file.sync_all()?;
            drop(file);
            fs::rename(&new, folder.join(ABOUT))?;
            os::sync_folder(folder)
        };
        write().map_err(|e| Error::io(new.display(), e))
    }
}

/// A kept repository that no other process changes meanwhile.
pub struct KeptRepository {
    repository: Repository,
    folder: PathBuf,
    about: About,
    _lock: Option<FileLock>,
    /// The folder of the copy of a catalogue that cannot be read where it is.
    _copy: Option<Scratch>,
}

impl KeptRepository {
    /// Opens the repository in `folder` to read it. Nothing in it changes, and its file system may
    /// be read-only or full.
    ///
    /// # Errors
    ///
    /// Fails if another process writes to it, or the catalogue can be read neither in place nor as
    /// a copy.
    pub fn open(folder: &Path, engine: &dyn Blobs, settings: &Settings) -> Result<Self> {
        let lock = lock_shared(folder)?;
        let about = expect_about(folder)?;
        let (store, copy) = match open_in_place(folder, engine, settings) {
            Ok(Some(store)) => (store, None),
            outcome => {
                let copied = open_copy(folder, engine, settings);
                // Why the store itself cannot be read says more than why its copy cannot.
                let (store, copy) = copied.map_err(|e| outcome.err().unwrap_or(e))?;
                (store, Some(copy))
            }
        };
        let repository = Repository::from_parts(folder.join("packs"), store, about.identity);
        Ok(Self { repository, folder: folder.to_owned(), about, _lock: lock, _copy: copy })
    }

    /// Opens the repository in `folder`, which is this user's, to add a backup.
    ///
    /// # Errors
    ///
    /// Fails if another process uses it, or it belongs to another user.
    pub fn open_to_save(folder: &Path, engine: &dyn Blobs, settings: &Settings) -> Result<Self> {
        check_ownership(folder, engine, false)?;
        let lock = lock(folder)?;
        let mut about = expect_about(folder)?;
        let store = engine.open(&location(folder), &options(settings, Access::Write));
        let store = store.map_err(|e| e.context("catalogue"))?;
        if about.identity.is_none() {
            about.identity = Some(number_catalogue(&*store)?);
            check_ownership(folder, engine, true)?;
            about.write(folder)?;
        }
        let repository = Repository::from_parts(folder.join("packs"), store, about.identity);
        Ok(Self { repository, folder: folder.to_owned(), about, _lock: Some(lock), _copy: None })
    }

    /// Creates a repository in `folder`, which is empty or contains one whose creation was
    /// interrupted.
    ///
    /// # Errors
    ///
    /// Fails if anything else is in the folder, or it belongs to another user.
    pub fn create(folder: &Path, engine: &dyn Blobs, settings: &Settings) -> Result<Self> {
        let failed = |path: &Path, e| Error::io(path.display(), e);
        create_own_folder(folder, engine)?;
        let lock = lock(folder)?;
        let (packs, catalogue) = (folder.join("packs"), folder.join("catalogue"));
        match host::create_folder(&packs, 0o700) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(failed(&packs, error));
            }
            _ => {}
        }
        if fs::read_dir(&packs).map_err(|e| failed(&packs, e))?.next().is_some() {
            let folder = folder.display();
            return Err(Error::corrupt(format!("has packs, but {ABOUT} is missing")).at(&folder));
        }
        if catalogue.exists() {
            fs::remove_dir_all(&catalogue).map_err(|e| failed(&catalogue, e))?;
        }
        host::create_folder(&catalogue, 0o700)
            .and_then(|()| host::set_mode(&catalogue, private_mode(engine)))
            .map_err(|e| failed(&catalogue, e))?;
        let store = engine.create(&location(folder), &options(settings, Access::Write))?;
        let identity = number_catalogue(&*store)?;
        let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
        for path in [&catalogue, folder, parent.unwrap_or(Path::new("."))] {
            os::sync_folder(path).map_err(|e| failed(path, e))?;
        }
        let settings = settings.0.iter().filter(|(name, _)| *name != LIBRARY);
        let settings = settings.map(|(name, value)| (name.clone(), value.clone()));
        let (engine, settings) = (engine.name().to_owned(), settings.collect());
        let about = About { engine, settings, identity: Some(identity) };
        about.write(folder)?;
        let repository = Repository::from_parts(packs, store, about.identity);
        Ok(Self { repository, folder: folder.to_owned(), about, _lock: Some(lock), _copy: None })
    }

    /// Returns the repository.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Saves `source` as a new snapshot, and counts it in the repository's description as well.
    ///
    /// # Errors
    ///
    /// Fails if the backup cannot be completed; problems of single paths are in the result.
    pub fn save(&mut self, source: &Path, stop: StopCheck<'_>) -> Result<Saved> {
        let saved = save(&self.repository, source, stop).map_err(|error| match error.kind() {
            model::ErrorKind::Corrupt => error.context(self.folder.display()),
            _ => error,
        })?;
        if let Some(identity) = &mut self.about.identity {
            identity.backups = saved.version;
        }
        let done = format!("backup {} is complete, but not counted", saved.version);
        self.about.write(&self.folder).map_err(|e| e.context(done))?;
        Ok(saved)
    }

    /// Closes the repository, and reports errors that only show on closing.
    pub fn close(self) -> Result<()> {
        self.repository.close()
    }
}

fn expect_about(folder: &Path) -> Result<About> {
    let missing = || Error::corrupt(format!("{ABOUT} is missing")).at(folder.display());
    About::read(folder)?.ok_or_else(missing)
}

/// Gives a catalogue a number, and records how many records it has. A catalogue that got its number
/// before an interruption keeps it.
fn number_catalogue(store: &dyn Store) -> Result<Identity> {
    let mut catalogue = Catalogue::new(store.session()?);
    catalogue.begin(Mode::Write)?;
    let backups = catalogue.snapshots()?.last().map_or(0, |last| last.version);
    if let Some(Inventory { id, .. }) = catalogue.inventory()? {
        catalogue.commit()?;
        return Ok(Identity { id, backups });
    }
    let id = u128::from(host::random()) << 64 | u128::from(host::random());
    let stats = stats_with(&mut catalogue)?;
    catalogue.put_inventory(&Inventory {
        id,
        entries: stats.entries,
        blocks: stats.blocks,
        packs: stats.packs,
        exact_from: backups + 1,
    })?;
    catalogue.commit()?;
    Ok(Identity { id, backups })
}

/// Opens the catalogue to read it in place; returns `None` if its engine cannot without changing
/// it.
fn open_in_place(
    folder: &Path,
    engine: &dyn Blobs,
    settings: &Settings,
) -> Result<Option<Box<dyn Store>>> {
    let in_catalogue = |e: Error| e.context("catalogue");
    let path = location(folder);
    if engine.reads_a_copy(&path).map_err(in_catalogue)? {
        return Ok(None);
    }
    let store = engine.open(&path, &options(settings, Access::Read)).map_err(in_catalogue)?;
    // The remains of a killed writer may show in the first read only.
    let read = store.session().and_then(|mut session| session.get(Key::Name(b"i"), &mut []));
    read.map(|_| Some(store)).map_err(in_catalogue)
}

/// Opens a copy of the catalogue, in which what a killed writer left is repaired.
fn open_copy(
    folder: &Path,
    engine: &dyn Blobs,
    settings: &Settings,
) -> Result<(Box<dyn Store>, Scratch)> {
    let scratch = Scratch::new_in(&std::env::temp_dir())?;
    let path = copy_catalogue(folder, engine, &scratch)?;
    let store = engine.open(&path, &options(settings, Access::Write));
    Ok((store.map_err(|e| e.context("catalogue"))?, scratch))
}

/// Copies the catalogue of a repository into a scratch folder, and returns the path of the store.
fn copy_catalogue(folder: &Path, engine: &dyn Blobs, scratch: &Scratch) -> Result<PathBuf> {
    let to = scratch.folder("catalogue", engine.account())?.join("copy");
    let copied = copy_tree(&folder.join("catalogue"), &to, scratch.path(), &|| Ok(()))?;
    match copied.problems.into_iter().next() {
        Some(problem) => Err(Error::failed(format!("catalogue: cannot be copied: {problem}"))),
        None => Ok(to.join(STORE)),
    }
}

const STORE: &str = "store";

fn location(folder: &Path) -> PathBuf {
    folder.join("catalogue").join(STORE)
}

fn options(settings: &Settings, access: Access) -> OpenOptions {
    OpenOptions { settings: settings.clone(), access, keys: KeyKind::Names }
}

/// Creates the folder of a new repository, which only this user can read from the first moment on.
fn create_own_folder(folder: &Path, engine: &dyn Blobs) -> Result<()> {
    let failed = |e| Error::io(folder.display(), e);
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent).map_err(|e| Error::io(parent.display(), e))?;
    }
    match host::create_folder(folder, 0o700) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let name = name.to_string_lossy();
        if !(OWN.contains(&&*name) || name.starts_with(ABOUT)) {
            return Err(Error::usage("is not empty and no repository; name a new folder")
                .at(folder.display()));
        }
    }
    check_ownership(folder, engine, true)
}

/// Returns the mode of a repository and of the folder with its store: a server's user passes
/// through both.
fn private_mode(engine: &dyn Blobs) -> u32 {
    if engine.account().is_some() { 0o711 } else { 0o700 }
}

/// The names in a repository in addition to [`ABOUT`].
const OWN: [&str; 4] = ["lock", "catalogue", "packs", SET_ASIDE];

/// Checks that the folder of a repository and what is in it belongs to this user, and is no link:
/// another user could redirect what is written. A folder that others can write to, or that is to be
/// `private`, is closed to them first.
fn check_ownership(folder: &Path, engine: &dyn Blobs, private: bool) -> Result<()> {
    let failed = |path: &Path, e| Error::io(path.display(), e);
    let foreign = |path: &Path| {
        let path = path.display();
        Error::usage("belongs to another user; name a new folder, or work as that user").at(&path)
    };
    let meta = fs::metadata(folder).map_err(|e| failed(folder, e))?;
    if !host::is_mine(&meta) {
        return Err(foreign(folder));
    }
    if private || host::is_open_to_write(&meta) {
        host::set_mode(folder, private_mode(engine)).map_err(|e| failed(folder, e))?;
    }
    let about = [ABOUT.to_owned(), format!("{ABOUT}.new")];
    let stores = [location(folder)];
    let inside = OWN.iter().map(|name| folder.join(name));
    for path in inside.chain(about.iter().map(|name| folder.join(name))).chain(stores) {
        let meta = match path.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            meta => meta.map_err(|e| failed(&path, e))?,
        };
        let is_servers = engine.account().is_some() && path == location(folder);
        if !host::is_mine(&meta) && !is_servers {
            return Err(foreign(&path));
        }
        if meta.is_symlink() {
            return Err(Error::usage("is a link; remove it").at(path.display()));
        }
    }
    Ok(())
}

/// Locks the repository for this process alone.
///
/// # Errors
///
/// Fails if another process uses it, or its file system has no locks.
fn lock(folder: &Path) -> Result<FileLock> {
    let path = folder.join("lock");
    let file = os::open_to_write(&path).map_err(|e| Error::io(path.display(), e))?;
    let lock = FileLock::exclusive(file).map_err(|_| in_use(folder))?;
    lock.ok_or_else(|| Error::failed("its file system has no locks").at(path.display()))
}

/// Locks the repository against a process that writes at the same time. Returns `None` if there is
/// no lock, or the file system has none.
fn lock_shared(folder: &Path) -> Result<Option<FileLock>> {
    let Ok(file) = os::open_file(&folder.join("lock")) else { return Ok(None) };
    FileLock::shared(file).map_err(|_| in_use(folder))
}

fn in_use(folder: &Path) -> Error {
    let folder = folder.display();
    Error::usage("another process uses this repository; try again when it has finished").at(&folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_repository_says_of_itself_is_read_as_it_was_written() {
        let settings = vec![("journal".to_owned(), "wal".to_owned())];
        let identity = Some(Identity { id: 7 << 90, backups: 12 });
        for identity in [None, identity] {
            let about = About { engine: "sqlite".to_owned(), settings: settings.clone(), identity };
            assert_eq!(About::parse(&about.to_text()), Some(about));
        }
        for text in ["", "storemark backup 3, not encrypted\nsqlite\n", FORMS[1], "x\nsqlite\n"] {
            assert_eq!(About::parse(text), None, "{text}");
        }
    }
}
