//! `files:DIR` keeps every value in a file of its own: in one folder as kvtest numbers them
//! (`layout=flat`), in two levels of folders as kvtest does (`layout=tree`), or under the names
//! the keys themselves are (`layout=names`).
//!
//! A file is truncated and written, written over its old bytes (`write=overwrite`), or written
//! to a temporary file and then renamed (`write=rename`), and flushed or not (`sync`): `file` flushes
//! each file before it is closed, `full` also the folders, once per batch. Symbolic links and special files are no keys and are left alone;
//! [`Store::left_out`] lists them.
//!
//! With `write=rename`, two sessions that insert the same key at the same time may both
//! get the answer that they did.

mod copying;
mod layout;
mod left_out;
mod name;
mod numbered;
mod os;
mod session;
mod tasks;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use model::{
    Accepts, Access, Arrangement, Blobs, Capabilities, Declaration, Durability, Engine, Entry,
    Error, Fill, Key, KeyKind, Maintenance, OpenOptions, Result, Session, Setting, Settings, Store,
    Try,
};
use strum::VariantNames;

pub(crate) use self::layout::check_name;
pub use self::left_out::not_values;
pub(crate) use self::name::{flat as number_name, parse_flat as parse_number};
pub(crate) use self::os::Sync;
pub(crate) use self::session::FilesWorker;
use self::{
    layout::Layout,
    os::{Root, WriteMethod},
};
use crate::at;

/// The engine of plain files.
pub(crate) struct Files;

static DECLARATION: Declaration = Declaration {
    settings: &[
        Setting::new(
            "layout",
            Accepts::Words(Layout::VARIANTS),
            "kvtest's numbered files in one folder (000001) or in a tree (00/00/01), or files by their paths; found when not given",
        ),
        Setting::new(
            "write",
            Accepts::Words(WriteMethod::VARIANTS),
            "truncate a file and write it, write over its old bytes, or write a new file and rename it",
        ).of_use(),
        Setting::new(
            "sync",
            Accepts::Words(Sync::VARIANTS),
            "flush nothing, each file before it is closed, or its folder as well",
        ).of_use(),
    ],
    durability: &[
        Durability::None.kept_by(
            &[("write", "inplace"), ("sync", "none")],
            "the file is emptied as it is opened, then write(2), no flush: a power cut leaves the old \
             value, the new one, a part of it or nothing",
        ),
        Durability::Consistent.kept_by(
            &[("write", "rename"), ("sync", "file")],
            "write(2) of each value into a new file, fdatasync(2) of it, rename(2) over the old one: \
             a power cut leaves the old value or the new one, whole",
        ),
        Durability::Durable.kept_by(
            &[("write", "rename"), ("sync", "full")],
            "write(2) of each value into a new file, fsync(2) of it, rename(2) over the old one, \
             fsync(2) of the folder before the commit returns: the new value stays",
        ),
    ],
    maintenance: &[(Maintenance::Copy, "each file is copied, as cp -r does")],
    limitations: &["an order of its keys: each scan lists and sorts the whole folder"],

    // In place: a torn file differs from its source, and a rename would cost more than half as
    // much again. Files in one folder are created one at a time, but filled concurrently.
    fill: Some(Fill {
        settings: &[("write", "inplace"), ("sync", "none")],
        sessions: 2,
        whole_blocks_from: Some(0),
    }),
    capabilities: Capabilities {
        paths: true,
        snapshots: false,
        atomic_batches: false,
        ..Capabilities::ON_DISK
    },
    blobs: Some(&Files),
    tasks: Some(&Files),
    worth_trying: &[
        Try::new("", "every program can read them; a file system call or more for each value"),
        Try::new("write=overwrite", "faster updates; a power cut may leave a value half written"),
    ],
    title: "plain files",
    ..Declaration::new("files", "a file for each value, numbered as kvtest does or by name")
};

impl Engine for Files {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }

    fn unsupported_reason(&self, class: Durability, settings: &Settings) -> Option<String> {
        let torn = class > Durability::None && settings.is("write", "overwrite");
        torn.then(|| "write=overwrite may leave a value half written (none)".to_owned())
    }
}

impl Blobs for Files {
    fn recognises(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(Box::new(FilesFolder::create(location, options)?))
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        let layout = match options.settings.parse("layout") {
            // Listing the keys shows what does not fit it.
            Some(layout) => layout,
            // Names may all look like kvtest's numbers.
            None if options.keys == KeyKind::Names => Layout::Names,
            None => Layout::find(location)?,
        };
        Ok(Box::new(FilesFolder::open(location, layout, options)?))
    }
}

pub(crate) struct FilesFolder {
    path: PathBuf,
    root: Root,
    layout: Layout,
    access: Access,
    write: WriteMethod,
    sync: Sync,
    sessions: AtomicU32,
}

impl FilesFolder {
    fn create(path: &Path, options: &OpenOptions) -> Result<Self> {
        let usual = if options.keys == KeyKind::Names { Layout::Names } else { Layout::Flat };
        let layout = options.settings.parse("layout").unwrap_or(usual);
        if layout.keys() != options.keys {
            let (held, keys) = (layout.keys(), options.keys);
            return Err(Error::usage(format!("layout={layout} holds {held}; the keys are {keys}")));
        }
        fs::create_dir(path).map_err(|e| Error::io(path.display(), e))?;
        let folder = Self::open(path, layout, options)?;
        if folder.sync == Sync::Full {
            at::flush_folder_of(path)?;
        }
        Ok(Self { access: Access::Write, ..folder })
    }

    fn open(path: &Path, layout: Layout, options: &OpenOptions) -> Result<Self> {
        let write = options.settings.parse("write").unwrap_or_default();
        let sync = options.settings.parse("sync").unwrap_or_default();
        Ok(Self { write, ..Self::new(path, layout, options.access, sync)? })
    }

    fn new(path: &Path, layout: Layout, access: Access, sync: Sync) -> Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            root: Root::open(path, sync).map_err(|e| Error::io(path.display(), e))?,
            layout,
            access,
            write: WriteMethod::default(),
            sync,
            sessions: AtomicU32::new(0),
        })
    }

    pub(crate) fn worker(&self) -> FilesWorker<'_> {
        FilesWorker::new(self, self.sessions.fetch_add(1, Relaxed))
    }
}

impl Store for FilesFolder {
    fn keys(&self) -> KeyKind {
        self.layout.keys()
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(self.worker()))
    }

    fn check_item(&self, key: Key<'_>, _: u64) -> Result<()> {
        if let Key::Name(name) = key { layout::check_name(name) } else { Ok(()) }
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let mut settings = Settings::default();
        settings.set("layout", self.layout);
        settings.set("write", self.write);
        settings.set("sync", self.sync);
        let class = match (self.write, self.sync) {
            (WriteMethod::Rename, Sync::Full) => Durability::Durable,
            (WriteMethod::Rename, Sync::File) => Durability::Consistent,
            _ => Durability::None,
        };
        Ok((settings, class))
    }

    fn maintain(&self, _: Maintenance, to: &Path, _: &dyn Fn() -> bool) -> Result<bool> {
        let copied = copying::copy_folder(&self.path, to);
        copied.map(|()| true).map_err(|e| Error::io(to.display(), e))
    }

    fn left_out(&self) -> Result<Vec<Entry>> {
        left_out::list(&self.path)
    }

    fn file_of(&self, key: Key<'_>) -> Option<PathBuf> {
        let mut path = Vec::new();
        self.layout.path(key, &mut path).ok()?;
        Some(self.path.join(os::path(path.strip_suffix(&[0])?)))
    }

    fn arrangement(&self) -> Result<Option<Arrangement>> {
        Ok(Some(Arrangement::FileEach))
    }
}
