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
    layout::Layout,
    os::{Root, Sync, Writing},
    session::Worker,
};

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
        let layout = match Layout::asked(&options.settings) {
            Some(layout) => layout.check(path).map(|()| layout)?,
            // Names may all look like kvtest's numbers.
            None if options.keys == KeyKind::Names => Layout::Names,
            None => Layout::find(path)?,
        };
        Self::new(path, layout, options)
    }

    fn new(path: &Path, layout: Layout, options: &OpenOptions) -> Result<Self> {
        let sync = match options.settings.get("sync") {
            Some("full") => Sync::Full,
            Some("file") => Sync::File,
            _ => Sync::None,
        };
        Ok(Self {
            path: path.to_owned(),
            root: Root::open(path).map_err(|e| Error::io(path.display(), e))?,
            layout,
            access: options.access,
            write: Writing::ALL
                .into_iter()
                .find(|write| options.settings.get("write") == Some(write.word()))
                .unwrap_or(Writing::Inplace),
            sync,
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

    fn in_effect(&self) -> Result<Settings> {
        let mut settings = Settings::default();
        settings.set("layout", self.layout.word());
        settings.set("write", self.write.word());
        settings.set(
            "sync",
            match self.sync {
                Sync::None => "none",
                Sync::File => "file",
                Sync::Full => "full",
            },
        );
        Ok(settings)
    }

    fn durability(&self) -> Durability {
        match (self.write, self.sync) {
            (Writing::Rename, Sync::Full) => Durability::Durable,
            (Writing::Rename, Sync::File) => Durability::Consistent,
            _ => Durability::None,
        }
    }

    fn arrangement(&self) -> Result<Option<Arrangement>> {
        Ok(Some(Arrangement::FileEach))
    }
}
