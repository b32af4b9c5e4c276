//! Files that options name to be written to. Each is tried before anything is measured, and what is
//! not of the same form is not overwritten.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    path::{Path, PathBuf, is_separator},
};

use model::{
    Error, ErrorKind, Result,
    spec::{Output, PLAN_HEAD},
    units::show_size,
};

use crate::output;

/// The start of a record.
pub(crate) const RECORD_HEAD: &str = r#"{"line":"header""#;

/// What a command writes.
#[derive(Clone, Copy)]
pub(crate) struct Form<'a> {
    /// The option that names the file.
    pub(crate) option: &'a str,
    pub(crate) what: &'a str,
    /// How its first line starts.
    pub(crate) head: &'a str,
}

pub(crate) const PLAN: Form<'_> =
    Form { option: "--save-plan", what: "a plan that storemark saved", head: PLAN_HEAD };
const PAGE: Form<'_> =
    Form { option: "--html", what: "a page of storemark", head: report::HTML_HEAD };

/// Opens the file for the record of `command`.
pub(crate) fn record(shown: &Output, command: &str) -> Result<Option<Box<dyn Write>>> {
    let what = format!("a record of storemark {command}");
    let form = Form { option: "--json", what: &what, head: RECORD_HEAD };
    open(shown.json.as_ref().map(model::spec::Name::path), form)
}

/// Opens a file that is written bit by bit (- for standard output). What it holds stays until there
/// is something to write.
pub(crate) fn open(path: Option<&Path>, form: Form<'_>) -> Result<Option<Box<dyn Write>>> {
    let Some(path) = path else { return Ok(None) };
    if path == Path::new("-") {
        return Ok(Some(Box::new(io::stdout())));
    }
    form.check(path)?;
    let unused = (!path.exists()).then(|| path.to_owned());
    let opened = File::options().write(true).create(true).truncate(false).open(path);
    let file = opened.map_err(|error| form.cannot_write(path, error))?;
    Ok(Some(Box::new(BufWriter::new(Stream { file, started: false, unused }))))
}

impl Form<'_> {
    fn error(&self, path: &Path, why: &str) -> Error {
        Error::usage(format!("{} {}: {why}", self.option, path.display()))
    }

    fn cannot_write(&self, path: &Path, error: io::Error) -> Error {
        let what = format!("{} {}", self.option, path.display());
        Error::io(what, error).with_kind(ErrorKind::Usage)
    }

    /// Refuses to overwrite a file of another form.
    fn check(&self, path: &Path) -> Result<()> {
        if !path.exists() || starts_with(path, self.head) {
            return Ok(());
        }
        Err(self.error(path, &format!("exists and is not {}; it is left as it is", self.what)))
    }
}

/// Whether the file at `path` is empty or its first line starts with `head`.
pub(crate) fn starts_with(path: &Path, head: &str) -> bool {
    // Opening a pipe would wait for its writer.
    if !path.is_file() {
        return false;
    }
    let mut first = String::new();
    let Ok(file) = File::open(path) else { return false };
    // A header is some kilobytes long.
    let read = BufReader::new(file.take(1 << 20)).read_line(&mut first);
    read.is_ok() && (first.is_empty() || first.starts_with(head))
}

/// Keeps what the file holds until there is something to write. A file created for a run that never
/// started is removed again.
struct Stream {
    file: File,
    started: bool,
    unused: Option<PathBuf>,
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.started {
            self.file.set_len(0)?;
            self.started = true;
            self.unused = None;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(path) = &self.unused {
            // It is empty and was created by this run; if it cannot be removed, it does no harm.
            let _ = fs::remove_file(path);
        }
    }
}

/// A place for a page, which is written complete or not at all.
pub(crate) struct PageFile {
    /// As the user wrote it.
    named: PathBuf,
    /// Where the bytes go: links are followed.
    path: PathBuf,
    /// In the same folder, so that it can be renamed.
    unfinished: PathBuf,
}

/// Another file that a command writes: its option, and where.
pub(crate) type Other<'a> = (&'static str, Option<&'a Path>);

/// Tries the place of a page. It must not be the file of one of `others`.
pub(crate) fn page(path: Option<&Path>, others: &[Other<'_>]) -> Result<Option<PageFile>> {
    let Some(named) = path else { return Ok(None) };
    let text = named.as_os_str().to_string_lossy();
    if text.is_empty() || text == "-" || text.ends_with(is_separator) {
        return Err(PAGE.error(named, "name a file for the page, as in run.html"));
    }
    if named.is_symlink() && !named.exists() {
        return Err(PAGE.error(named, "is a link that leads nowhere; it is left as it is"));
    }
    let path = place(named);
    for (option, other) in others {
        if other.is_some_and(|other| place(other) == path) {
            let why = format!("is the file of {option} as well; name another");
            return Err(PAGE.error(named, &why));
        }
    }
    PAGE.check(named)?;
    let mut hidden = OsString::from(".");
    hidden.push(path.file_name().unwrap_or_default());
    hidden.push(format!(".{}", std::process::id()));
    let unfinished = path.with_file_name(hidden);
    let page = PageFile { named: named.to_owned(), path, unfinished };
    page.try_out().map_err(|error| PAGE.cannot_write(named, error))?;
    Ok(Some(page))
}

/// Where `path` leads: links are followed as far as they exist.
fn place(path: &Path) -> PathBuf {
    let of_folder = || {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        Some(folder.join(path.file_name()?))
    };
    fs::canonicalize(path).ok().or_else(of_folder).unwrap_or_else(|| path.to_owned())
}

impl PageFile {
    fn try_out(&self) -> io::Result<()> {
        if self.path.exists() {
            File::options().write(true).open(&self.path)?;
        }
        File::create_new(&self.unfinished)?;
        fs::remove_file(&self.unfinished)
    }

    /// Writes `page` and prints where it is.
    pub(crate) fn write(&self, page: &str) -> Result<()> {
        let shown = self.named.display();
        self.replace(page.as_bytes()).map_err(|e| Error::io(format!("--html {shown}"), e))?;
        output::say(&format!("the report is in {shown} ({})", show_size(page.len() as u64)));
        Ok(())
    }

    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create_new(&self.unfinished)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        let replaced = written.and_then(|()| fs::rename(&self.unfinished, &self.path));
        if replaced.is_err() {
            // What is left of it does no harm if it cannot be removed either.
            let _ = fs::remove_file(&self.unfinished);
        }
        replaced
    }
}
