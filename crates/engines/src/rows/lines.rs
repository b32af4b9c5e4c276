//! Plain files with a row a line. There are no transactions: rows go through a buffer to the end
//! of the file, a change writes a second file and renames it over the first.

use std::{
    fs::{self, File},
    marker::PhantomData,
    ops::Range,
    path::{Path, PathBuf},
};

use model::{
    Accepts, Durability, DurabilitySettings, Engine, Error, Facet, Result, Setting, Settings,
    rows::{RowCapabilities, RowSession, RowStore, RowTables, Rows, Style},
};

/// What a line looks like. Writers have a buffer.
pub(super) trait Form: Send + Sync + 'static {
    type Writer;
    /// Writes to where `file` stands.
    fn writer(file: File) -> Self::Writer;
    fn write(out: &mut Self::Writer, row: (i64, i64)) -> Result<()>;
    /// Writes what the buffer still holds.
    fn finish(out: Self::Writer) -> Result<File>;
    /// Parses every line.
    fn visit(file: File, visit: &mut dyn FnMut((i64, i64)) -> Result<()>) -> Result<()>;
}

/// An engine whose rows are lines.
pub(super) struct LineEngine<F> {
    name: &'static str,
    about: &'static str,
    form: PhantomData<F>,
}

impl<F> LineEngine<F> {
    pub(super) const fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, about, form: PhantomData }
    }
}

const SETTINGS: &[Setting] = &[Setting {
    name: "sync",
    accepts: Accepts::Words(&["none", "full"]),
    help: "whether each batch, and each file renamed over another with its folder, is flushed",
}];

impl<F: Form> Engine for LineEngine<F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn settings(&self, _: Facet) -> &'static [Setting] {
        SETTINGS
    }

    /// A file that is appended to may end within a row.
    fn durability_settings(&self, _: Facet, class: Durability) -> Option<DurabilitySettings> {
        let (settings, how): (&'static [_], _) = match class {
            Durability::None => (&[("sync", "none")], "written and renamed, nothing flushed"),
            Durability::Consistent => return None,
            Durability::Durable => (
                &[("sync", "full")],
                "fsync(2) of the file after each batch, of a new file before and of the folder \
                 after it takes its name",
            ),
        };
        Some(DurabilitySettings { settings, how })
    }

    fn rows(&'static self) -> Option<&'static dyn Rows> {
        Some(self)
    }
}

impl<F: Form> Rows for LineEngine<F> {
    fn styles(&self, _: &Settings) -> &'static [Style] {
        &[Style::Bulk]
    }

    fn capabilities(&self, _: &Settings) -> RowCapabilities {
        let why =
            "its one file has no locks, so that processes would overwrite each other's changes";
        RowCapabilities { alone: Some(why), remote: false }
    }

    fn start(&self, location: &Path, _: &Settings) -> Result<Box<dyn RowStore>> {
        fs::create_dir(location).map_err(|e| Error::io(location.display(), e))?;
        let folder = location.to_owned();
        Ok(Box::new(LineStore { name: self.name, folder, form: self.form }))
    }

    fn join(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowTables>> {
        Ok(Box::new(LineTables::<F>::new(self.name, location, settings)))
    }
}

struct LineStore<F> {
    name: &'static str,
    folder: PathBuf,
    form: PhantomData<F>,
}

impl<F: Form> RowStore for LineStore<F> {
    fn location(&self) -> PathBuf {
        self.folder.clone()
    }

    fn create(&self, databases: u32, settings: &Settings) -> Result<Box<dyn RowTables + '_>> {
        let mut tables = LineTables::<F>::new(self.name, &self.folder, settings);
        tables.databases = databases;
        for database in 0..databases {
            let path = tables.path(database);
            File::create_new(&path).map_err(|e| Error::io(path.display(), e))?;
        }
        if tables.sync {
            sync_folder(&self.folder)?;
        }
        Ok(Box::new(tables))
    }

    fn close(self: Box<Self>) -> Result<()> {
        fs::remove_dir(&self.folder).map_err(|e| Error::io(self.folder.display(), e))
    }
}

struct LineTables<F> {
    name: &'static str,
    folder: PathBuf,
    databases: u32,
    sync: bool,
    form: PhantomData<F>,
}

impl<F> LineTables<F> {
    fn new(name: &'static str, folder: &Path, settings: &Settings) -> Self {
        let sync = settings.get("sync") == Some("full");
        Self { name, folder: folder.to_owned(), databases: 0, sync, form: PhantomData }
    }

    fn path(&self, database: u32) -> PathBuf {
        self.folder.join(format!("rows{database}.{}", self.name))
    }
}

impl<F: Form> RowTables for LineTables<F> {
    fn session(&self, database: u32) -> Result<Box<dyn RowSession + '_>> {
        let path = self.path(database);
        Ok(Box::new(LineSession { path, sync: self.sync, form: self.form }))
    }

    fn in_effect(&self) -> Result<Settings> {
        let mut settings = Settings::default();
        settings.set("sync", if self.sync { "full" } else { "none" });
        Ok(settings)
    }

    fn durability(&self) -> Result<Durability> {
        Ok(if self.sync { Durability::Durable } else { Durability::None })
    }

    fn files(&self, database: u32) -> Vec<PathBuf> {
        vec![self.path(database)]
    }

    fn remove(self: Box<Self>) -> Result<()> {
        (0..self.databases)
            .map(|database| self.path(database))
            .try_for_each(|path| fs::remove_file(&path).map_err(|e| Error::io(path.display(), e)))
    }
}

struct LineSession<F> {
    path: PathBuf,
    sync: bool,
    form: PhantomData<F>,
}

impl<F: Form> LineSession<F> {
    fn wrong(&self) -> impl Fn(std::io::Error) -> Error {
        |cause| Error::io(self.path.display(), cause)
    }

    fn visit(&self, visit: &mut dyn FnMut((i64, i64)) -> Result<()>) -> Result<()> {
        let file = File::open(&self.path).map_err(self.wrong())?;
        F::visit(file, visit).map_err(|e| e.context(self.path.display()))
    }

    fn finish(&self, out: F::Writer) -> Result<()> {
        let file = F::finish(out).map_err(|e| e.context(self.path.display()))?;
        if self.sync { file.sync_all().map_err(self.wrong()) } else { Ok(()) }
    }
}

impl<F: Form> RowSession for LineSession<F> {
    fn insert(&mut self, rows: Range<i64>, _: Style, batch: u64) -> Result<()> {
        let mut rows = rows.map(|i| (i, 2 * i)).peekable();
        let batch = usize::try_from(batch).unwrap_or(usize::MAX);
        while rows.peek().is_some() {
            let file = File::options().append(true).open(&self.path).map_err(self.wrong())?;
            let mut out = F::writer(file);
            rows.by_ref().take(batch).try_for_each(|row| F::write(&mut out, row))?;
            self.finish(out)?;
        }
        Ok(())
    }

    fn sum(&mut self) -> Result<i64> {
        let mut sum = 0;
        self.visit(&mut |(_, i2)| {
            sum += i2;
            Ok(())
        })?;
        Ok(sum)
    }

    fn add(&mut self, by: i64) -> Result<u64> {
        let second = self.path.with_extension("new");
        let mut out = F::writer(File::create_new(&second).map_err(self.wrong())?);
        let mut changed = 0;
        self.visit(&mut |(i, i2)| {
            changed += 1;
            F::write(&mut out, (i, i2 + by))
        })?;
        self.finish(out)?;
        fs::rename(&second, &self.path).map_err(self.wrong())?;
        if self.sync {
            sync_folder(self.path.parent().expect("a table stands in its store's folder"))?;
        }
        Ok(changed)
    }

    fn count(&mut self) -> Result<u64> {
        let mut count = 0;
        self.visit(&mut |_| {
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }
}

/// A name in a folder is on the device once the folder is flushed; systems that cannot open one do
/// that themselves.
fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        return synced.map_err(|e| Error::io(folder.display(), e));
    }
    Ok(())
}
