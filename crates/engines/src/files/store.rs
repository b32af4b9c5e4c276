//! An open folder of files.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use model::{
    Access, Arrangement, Durability, Error, KeyKind, OpenOptions, Result, Session, Settings, Store,
};

use super::{
    layout::{LAYOUT, Layout},
    os::{Root, Sync, Writing},
    session::Worker,
};
use crate::choice::Choice;

const WRITE: Choice<Writing> = Choice(&[
    ("inplace", Writing::Inplace),
    ("overwrite", Writing::Overwrite),
    ("rename", Writing::Rename),
]);

const SYNC: Choice<Sync> =
    Choice(&[("none", Sync::None), ("file", Sync::File), ("full", Sync::Full)]);

pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) root: Root,
    pub(super) layout: Layout,
    pub(super) access: Access,
    pub(super) write: Writing,
    pub(super) sync: Sync,
    sessions: AtomicU32,
}

impl Folder {
    pub(super) fn create(path: &Path, layout: Layout, options: &OpenOptions) -> Result<Self> {
        let failed = |e| Error::io(path.display(), e);
        fs::create_dir(path).map_err(failed)?;
        let folder = Self::new(path, layout, options)?;
        if folder.sync == Sync::Full {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let parent = Root::open(parent.unwrap_or(Path::new(".")));
            parent.and_then(|parent| parent.flush_folder(b".\0")).map_err(failed)?;
        }
        Ok(Self { access: Access::Write, ..folder })
    }

    pub(super) fn open(path: &Path, options: &OpenOptions) -> Result<Self> {
        let layout = match LAYOUT.asked(&options.settings, "layout") {
            Some(layout) => layout.check(path).map(|()| layout)?,
            // Names may all look like kvtest's numbers.
            None if options.keys == KeyKind::Names => Layout::Names,
            None => Layout::find(path)?,
        };
        Self::new(path, layout, options)
    }

    fn new(path: &Path, layout: Layout, options: &OpenOptions) -> Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            root: Root::open(path).map_err(|e| Error::io(path.display(), e))?,
            layout,
            access: options.access,
            write: WRITE.of(&options.settings, "write"),
            sync: SYNC.of(&options.settings, "sync"),
            sessions: AtomicU32::new(0),
        })
    }
}

impl Store for Folder {
    fn keys(&self) -> KeyKind {
        self.layout.keys()
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(Worker::new(self, self.sessions.fetch_add(1, Relaxed))))
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let mut settings = Settings::default();
        settings.set("layout", LAYOUT.word(self.layout));
        settings.set("write", WRITE.word(self.write));
        settings.set("sync", SYNC.word(self.sync));
        let class = match (self.write, self.sync) {
            (Writing::Rename, Sync::Full) => Durability::Durable,
            (Writing::Rename, Sync::File) => Durability::Consistent,
            _ => Durability::None,
        };
        Ok((settings, class))
    }

    fn arrangement(&self) -> Result<Option<Arrangement>> {
        Ok(Some(Arrangement::FileEach))
    }
}
