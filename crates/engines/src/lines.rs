//! Plain files with a row a line. There are no transactions: rows go through a buffer to the end
//! of the file, a change writes a second file and renames it over the first.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, BufWriter, Write},
    iter,
    marker::PhantomData,
    ops::Range,
    path::{Path, PathBuf},
};

use model::{
    Accepts, Declaration, Durability, DurabilitySettings, Engine, Error, ErrorKind, Result, Rows,
    Setting, Settings,
    rows::{RowSession, RowStore, RowTables, Style},
};

use crate::{
    at,
    row_folder::{RowFile, RowFolder},
};

/// A row of two integers.
type Row = (i64, i64);

/// The form of a line.
pub(crate) trait Form: Send + Sync + 'static {
    const NAME: &'static str;
    const TITLE: &'static str;
    const ABOUT: &'static str;

    /// Writes rows through a buffer, at the position of `file`.
    fn write(file: &File, rows: impl Iterator<Item = Result<Row>>) -> Result<()>;

    fn read(file: File) -> impl Iterator<Item = Result<Row>>;
}

/// The form `1,2`, written and parsed by the crate `csv`.
pub(crate) struct Csv;

impl Form for Csv {
    const NAME: &'static str = "csv";
    const TITLE: &'static str = "CSV files";
    const ABOUT: &'static str = "a file of comma-separated values";

    fn write(file: &File, rows: impl Iterator<Item = Result<Row>>) -> Result<()> {
        let mut out = csv::WriterBuilder::new().has_headers(false).from_writer(file);
        for row in rows {
            out.serialize(row?).map_err(csv_error)?;
        }
        out.flush().map_err(|e| csv_error(e.into()))
    }

    fn read(file: File) -> impl Iterator<Item = Result<Row>> {
        let input = csv::ReaderBuilder::new().has_headers(false).from_reader(file);
        input.into_deserialize().map(|row| row.map_err(csv_error))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what map_err passes")]
fn csv_error(cause: csv::Error) -> Error {
    let kind = if cause.is_io_error() { ErrorKind::Failed } else { ErrorKind::Corrupt };
    Error::new(kind, cause.to_string())
}

/// The form `[1,2]`, written and parsed by `serde_json`.
pub(crate) struct JsonLines;

impl Form for JsonLines {
    const NAME: &'static str = "jsonl";
    const TITLE: &'static str = "JSON Lines files";
    const ABOUT: &'static str = "a file with a JSON array a line";

    fn write(file: &File, rows: impl Iterator<Item = Result<Row>>) -> Result<()> {
        let mut out = BufWriter::new(file);
        let failed = |e| Error::io("a row", e);
        for row in rows {
            serde_json::to_writer(&mut out, &row?).map_err(|e| failed(e.into()))?;
            out.write_all(b"\n").map_err(failed)?;
        }
        out.flush().map_err(failed)
    }

    fn read(file: File) -> impl Iterator<Item = Result<Row>> {
        let (mut input, mut line) = (BufReader::new(file), Vec::new());
        iter::from_fn(move || {
            line.clear();
            match input.read_until(b'\n', &mut line) {
                Ok(0) => None,
                Ok(_) => {
                    let row = serde_json::from_slice(&line);
                    Some(row.map_err(|e| Error::corrupt(e.to_string())))
                }
                Err(e) => Some(Err(Error::io("a row", e))),
            }
        })
    }
}

/// An engine whose rows are lines of the form `F`.
pub(crate) struct Lines<F>(PhantomData<F>);

pub(crate) static CSV: Lines<Csv> = Lines(PhantomData);
pub(crate) static JSONL: Lines<JsonLines> = Lines(PhantomData);

const SETTINGS: &[Setting] = &[Setting::new(
    "sync",
    Accepts::Words(&["none", "full"]),
    "whether each batch, and each file renamed over another with its folder, is flushed",
)];

/// The durability classes. `consistent` is missing: a file that is appended to may end within a
/// row.
const CLASSES: &[DurabilitySettings] = &[
    Durability::None.kept_by(&[("sync", "none")], "written and renamed, nothing flushed"),
    Durability::Durable.kept_by(
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
                rows: Some(&Self(PhantomData)),
                title: F::TITLE,
                ..Declaration::new(F::NAME, F::ABOUT)
            }
        }
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
        RowFolder::<Self>::start(location, settings)
    }

    fn join(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowTables>> {
        Ok(RowFolder::<Self>::join(location, settings))
    }
}

fn syncs(settings: &Settings) -> bool {
    settings.get("sync") == Some("full")
}

impl<F: Form> RowFile for Lines<F> {
    const EXTENSION: &'static str = F::NAME;

    fn create(path: &Path, settings: &Settings) -> Result<()> {
        File::create_new(path).map_err(|e| Error::io(path.display(), e))?;
        if syncs(settings) { at::flush_name(path) } else { Ok(()) }
    }

    fn session(path: &Path, settings: &Settings) -> Result<Box<dyn RowSession>> {
        let (path, sync) = (path.to_owned(), syncs(settings));
        Ok(Box::new(LineSession { path, sync, form: PhantomData::<F> }))
    }

    fn in_effect(_: &Path, settings: &Settings) -> Result<(Settings, Durability)> {
        let kept = &CLASSES[usize::from(syncs(settings))];
        Ok((Settings::check(SETTINGS, kept.settings.iter().copied())?, kept.class))
    }
}

/// A session that reads the lines of a store's file.
struct LineSession<F> {
    path: PathBuf,
    sync: bool,
    form: PhantomData<F>,
}

impl<F: Form> LineSession<F> {
    fn failed(&self) -> impl Fn(std::io::Error) -> Error {
        |cause| Error::io(self.path.display(), cause)
    }

    fn read(&self) -> Result<impl Iterator<Item = Result<Row>>> {
        File::open(&self.path).map(F::read).map_err(self.failed())
    }

    fn write(&self, file: &File, rows: impl Iterator<Item = Result<Row>>) -> Result<()> {
        F::write(file, rows).map_err(|e| e.at(self.path.display()))?;
        if self.sync { file.sync_all().map_err(self.failed()) } else { Ok(()) }
    }

    /// Folds all values of the second column with `next`.
    fn fold<T: Default>(&self, next: impl Fn(T, i64) -> T) -> Result<T> {
        let result = self.read()?.try_fold(T::default(), |sum, row| Ok(next(sum, row?.1)));
        result.map_err(|e: Error| e.at(self.path.display()))
    }
}

impl<F: Form> RowSession for LineSession<F> {
    fn insert(&mut self, rows: Range<i64>, _: Style, batch: u64) -> Result<()> {
        let mut rows = rows.map(|i| Ok((i, 2 * i))).peekable();
        let batch = usize::try_from(batch).unwrap_or(usize::MAX);
        while rows.peek().is_some() {
            let file = File::options().append(true).open(&self.path).map_err(self.failed())?;
            self.write(&file, rows.by_ref().take(batch))?;
        }
        Ok(())
    }

    fn sum(&mut self) -> Result<i64> {
        self.fold(|sum, i2| sum + i2)
    }

    fn add(&mut self, by: i64) -> Result<u64> {
        let second = self.path.with_extension("new");
        let file = File::create_new(&second).map_err(self.failed())?;
        let mut changed = 0;
        let rows = self.read()?.inspect(|_| changed += 1);
        self.write(&file, rows.map(|row| row.map(|(i, i2)| (i, i2 + by))))?;
        drop(file);
        fs::rename(&second, &self.path).map_err(self.failed())?;
        if self.sync {
            at::flush_name(&self.path)?;
        }
        Ok(changed)
    }

    fn count(&mut self) -> Result<u64> {
        self.fold(|count, _| count + 1)
    }
}
