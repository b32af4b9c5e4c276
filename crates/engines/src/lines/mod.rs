//! Plain files with a row a line. There are no transactions: rows go through a buffer to the end
//! of the file, a change writes a second file and renames it over the first.

mod csv;
mod jsonl;

use std::{
    fs::{self, File},
    marker::PhantomData,
    ops::Range,
    path::{Path, PathBuf},
};

use crate::{
    at,
    row_folder::{RowFile, RowFolder},
};
use model::{
    Accepts, Declaration, Durability, DurabilitySettings, Engine, Error, Result, Rows, Setting,
    Settings,
    rows::{RowSession, RowStore, RowTables, Style},
};

/// What a line looks like. Writers have a buffer.
pub(crate) trait Form: Send + Sync + 'static {
    const NAME: &'static str;
    const ABOUT: &'static str;
    type Writer;
    /// Writes at the position of `file`.
    fn writer(file: File) -> Self::Writer;
    fn write(out: &mut Self::Writer, row: (i64, i64)) -> Result<()>;
    /// Writes what the buffer still holds.
    fn finish(out: Self::Writer) -> Result<File>;
    fn visit(file: File, visit: &mut dyn FnMut((i64, i64)) -> Result<()>) -> Result<()>;
}

/// An engine whose rows are lines of the form `F`.
pub(crate) struct Lines<F>(PhantomData<F>);

pub(crate) static CSV: Lines<csv::Csv> = Lines(PhantomData);
pub(crate) static JSONL: Lines<jsonl::JsonLines> = Lines(PhantomData);

const SETTINGS: &[Setting] = &[Setting::new(
    "sync",
    Accepts::Words(&["none", "full"]),
    "whether each batch, and each file renamed over another with its folder, is flushed",
)];

/// Not `consistent`: a file that is appended to may end within a row.
const CLASSES: &[DurabilitySettings] = &[
    DurabilitySettings::new(
        Durability::None,
        &[("sync", "none")],
        "written and renamed, nothing flushed",
    ),
    DurabilitySettings::new(
        Durability::Durable,
        &[("sync", "full")],
        "fsync(2) of the file after each batch, of a new file before and of the folder after it \
         takes its name",
    ),
];

impl<F: Form> Engine for Lines<F> {
    fn declaration(&self) -> &'static Declaration {
        const {
            &Declaration {
                settings: SETTINGS,
                durability: CLASSES,
                ..Declaration::new(F::NAME, F::ABOUT)
            }
        }
    }

    fn rows(&'static self) -> Option<&'static dyn Rows> {
        Some(self)
    }
}

impl<F: Form> Rows for Lines<F> {
    fn styles(&self, _: &Settings) -> &'static [Style] {
        &[Style::Bulk]
    }

    fn alone(&self, _: &Settings) -> Option<&'static str> {
        Some("its one file has no locks, so that processes would overwrite each other's changes")
    }

    fn start(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowStore>> {
        RowFolder::<LineFile<F>>::start(location, settings)
    }

    fn join(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowTables>> {
        Ok(RowFolder::<LineFile<F>>::join(location, settings))
    }
}

struct LineFile<F> {
    sync: bool,
    form: PhantomData<F>,
}

impl<F: Form> RowFile for LineFile<F> {
    const EXTENSION: &'static str = F::NAME;

    fn new(settings: &Settings) -> Self {
        Self { sync: settings.get("sync") == Some("full"), form: PhantomData }
    }

    fn create(&self, path: &Path) -> Result<()> {
        File::create_new(path).map_err(|e| Error::io(path.display(), e))?;
        if self.sync { at::flush_folder_of(path) } else { Ok(()) }
    }

    fn session(&self, path: &Path) -> Result<Box<dyn RowSession + '_>> {
        Ok(Box::new(LineSession { path: path.to_owned(), sync: self.sync, form: self.form }))
    }

    fn in_effect(&self, _: &Path) -> Result<(Settings, Durability)> {
        let mut settings = Settings::default();
        let (word, class) =
            if self.sync { ("full", Durability::Durable) } else { ("none", Durability::None) };
        settings.set("sync", word);
        Ok((settings, class))
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
            at::flush_folder_of(&self.path)?;
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
