//! Files that options name to be written to. Each is tried before anything is measured, and what is
//! not of the same form is not overwritten. A file is written next to its place, and takes it once it
//! is whole: what was there before stays until then.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read, Write},
    mem,
    path::{Path, PathBuf, is_separator},
};

use lab::RecordFile;
use model::{Error, ErrorKind, Result, did_you_mean, units::show_size};
use spec::{Output, PLAN_HEAD};

use crate::output;

/// The start of a record.
pub(crate) const RECORD_HEAD: &str = r#"{"line":"header""#;

/// Returns the error for a missing file to read; it names the most similar one in the folder, or what is in
/// the way.
pub(crate) fn missing(path: &Path, what: &str) -> Error {
    let denied =
        path.metadata().err().filter(|error| error.kind() == io::ErrorKind::PermissionDenied);
    if let Some(error) = denied {
        return Error::io(path.display(), error);
    }
    if let Ok(to) = fs::read_link(path) {
        return Error::usage(format!("is a link to {}, which leads nowhere", to.display()))
            .at(path.display());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<_> = names.collect();
    names.sort();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let near = did_you_mean(&name, names.iter().map(String::as_str));
    Error::usage(format!("no such {what}{near}")).at(path.display())
}

/// Fails unless `path` is a folder.
pub(crate) fn check_folder(path: &Path) -> Result<()> {
    match path {
        _ if path.is_dir() => Ok(()),
        _ if path.exists() => Err(Error::usage("is not a folder").at(path.display())),
        _ => Err(missing(path, "folder")),
    }
}

/// Creates the folder that `option` names, unless it is there.
pub(crate) fn create_folder(option: &str, folder: &Path) -> Result<()> {
    let named = format!("{option} {}", folder.display());
    if folder.exists() && !folder.is_dir() {
        return Err(Error::usage("is not a folder").at(named));
    }
    fs::create_dir_all(folder).map_err(|error| Error::io(named, error).with_kind(ErrorKind::Usage))
}

/// The form of a file that a command writes.
#[derive(Clone, Copy)]
pub(crate) struct Form<'a> {
    /// The option that names the file.
    pub(crate) option: &'static str,
    pub(crate) what: &'a str,
    /// How it starts, on its first line or lines.
    pub(crate) head: &'a str,
}

pub(crate) const PLAN: Form<'_> =
    Form { option: "--save-plan", what: "a plan that storemark saved", head: PLAN_HEAD };
const PAGE: Form<'_> =
    Form { option: "--html", what: "a page of storemark", head: report::HTML_HEAD };

/// The places where a command must not write: what it measures, and what its other options name.
#[derive(Default)]
pub(crate) struct Taken {
    measured: Vec<PathBuf>,
    named: Vec<(&'static str, PathBuf)>,
}

impl Taken {
    /// Collects what is measured: files, and folders with everything in them.
    pub(crate) fn measured(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            measured: paths.into_iter().map(|path| resolve_path(&path)).collect(),
            named: Vec::new(),
        }
    }

    /// Fails if the file or folder at `path`, which `option` names, is measured or inside something
    /// that is, or is a link that leads nowhere.
    pub(crate) fn check(&self, option: &str, path: &Path) -> Result<()> {
        let wrong = |why: &str| Err(refusal(option, path, why));
        if path.is_symlink() && !path.exists() {
            return wrong("is a link that leads nowhere; it is left as it is");
        }
        let own = resolve_path(path);
        match self.measured.iter().find(|measured| own.starts_with(measured)) {
            Some(measured) if own == *measured => wrong("is measured; name another"),
            Some(measured) => {
                let inside = measured.display();
                wrong(&format!("is inside {inside}, which is measured; name another"))
            }
            None => Ok(()),
        }
    }

    /// Reserves `path` for `option`.
    ///
    /// Fails as [`Taken::check`] does, or if another option has it.
    pub(crate) fn take(&mut self, option: &'static str, path: &Path) -> Result<()> {
        self.check(option, path)?;
        let own = resolve_path(path);
        if let Some((other, _)) = self.named.iter().find(|(_, named)| *named == own) {
            let why = format!("is the file of {other} as well; name another");
            return Err(refusal(option, path, &why));
        }
        self.named.push((option, own));
        Ok(())
    }
}

fn refusal(option: &str, path: &Path, why: &str) -> Error {
    Error::usage(format!("{option} {}: {why}", path.display()))
}

/// Returns where `path` leads: links are followed as far as they exist.
fn resolve_path(path: &Path) -> PathBuf {
    let of_folder = || {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let folder =
            resolve_path(folder.filter(|folder| *folder != path).unwrap_or(Path::new(".")));
        Some(folder.join(path.file_name()?))
    };
    let found = fs::canonicalize(path).ok();
    // The current folder may have been removed.
    let found = if path == Path::new(".") { found } else { found.or_else(of_folder) };
    found.unwrap_or_else(|| path.to_owned())
}

/// Prints `text`; with `--json` writes `data` to its file, or prints only `data` if that is
/// standard output (-).
pub(crate) fn print(
    json: Option<&Path>,
    data: impl FnOnce() -> Result<String>,
    text: &str,
    taken: &mut Taken,
) -> Result<()> {
    if json.is_none() {
        return output::print(text);
    }
    let data = data()?;
    try_json(json, &head(&data), taken)?.print(&data, text)
}

/// Returns how an object starts, up to its first name, which is the command's own.
pub(crate) fn head(data: &str) -> String {
    data.split_inclusive(':').next().unwrap_or_default().to_owned()
}

/// The destination of `--json`.
pub(crate) enum Json<'a> {
    Nowhere,
    StandardOutput,
    File(&'a Path, Unfinished),
}

/// Checks that the file of `--json` can be written, for an object that starts with `head`.
pub(crate) fn try_json<'a>(
    path: Option<&'a Path>,
    head: &str,
    taken: &mut Taken,
) -> Result<Json<'a>> {
    let form = Form { option: "--json", what: "JSON of this command", head };
    Ok(match path {
        None => Json::Nowhere,
        Some(path) if path == Path::new("-") => Json::StandardOutput,
        Some(path) => Json::File(path, Unfinished::new(path, form, taken)?),
    })
}

impl Json<'_> {
    /// Prints `text` and writes `data`, as [`print()`] does.
    pub(crate) fn print(self, data: &str, text: &str) -> Result<()> {
        match self {
            Self::Nowhere => output::print(text),
            Self::StandardOutput => output::print(data),
            Self::File(path, file) => {
                let written = file.write_whole(data.as_bytes());
                written.map_err(|error| Error::io(format!("--json {}", path.display()), error))?;
                output::print(text)
            }
        }
    }
}

/// Checks that the file for the record of `command` can be written.
pub(crate) fn record(
    shown: &Output,
    command: &str,
    taken: &mut Taken,
) -> Result<Option<Box<dyn RecordFile>>> {
    let what = format!("a record of storemark {command}");
    let form = Form { option: "--json", what: &what, head: RECORD_HEAD };
    open(shown.json.as_ref().map(spec::Name::path), form, taken)
}

/// Checks that a file that is written in parts (- for standard output) can be.
pub(crate) fn open(
    path: Option<&Path>,
    form: Form<'_>,
    taken: &mut Taken,
) -> Result<Option<Box<dyn RecordFile>>> {
    Ok(match path {
        None => None,
        Some(path) if path == Path::new("-") => Some(Box::new(StandardOutput)),
        Some(path) => {
            let mut file = Unfinished::new(path, form, taken)?;
            // It may be long until the first bytes come: another process must not begin meanwhile.
            let reserved = file.reserve().map(drop);
            reserved.map_err(|error| file.unusable(form, error))?;
            Some(Box::new(file))
        }
    })
}

struct StandardOutput;

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stdout().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

impl RecordFile for StandardOutput {}

/// Reports whether the file at `path` is empty or starts with `head`.
pub(crate) fn starts_with(path: &Path, head: &str) -> bool {
    // Opening a pipe would wait for its writer.
    if !path.is_file() {
        return false;
    }
    let mut first = Vec::new();
    let Ok(file) = File::open(path) else { return false };
    let read = file.take(head.len() as u64).read_to_end(&mut first);
    read.is_ok() && (first.is_empty() || first == head.as_bytes())
}

/// A file that is not complete yet. Unless it is reserved, nothing is created before there is something to
/// write.
pub(crate) struct Unfinished {
    /// Its path as the user wrote it.
    named: PathBuf,
    /// Its final path: links are followed.
    path: PathBuf,
    /// The path at which it is written, in the same folder: `run.json.unfinished`. What a killed
    /// process left there can be read, and is replaced by the next file of that name.
    partial: PathBuf,
    /// The file there, locked.
    file: Option<File>,
    /// Whether something was written to it.
    has_begun: bool,
    failed: bool,
}

impl Unfinished {
    /// Checks that a file can be written, and that no other process writes it.
    pub(crate) fn new(named: &Path, form: Form<'_>, taken: &mut Taken) -> Result<Self> {
        let text = named.as_os_str().to_string_lossy();
        if text.is_empty() || text.ends_with(is_separator) {
            return Err(no_file(form, named));
        }
        taken.take(form.option, named)?;
        let path = resolve_path(named);
        let mut partial = path.clone().into_os_string();
        partial.push(".unfinished");
        let partial = PathBuf::from(partial);
        for path in [&path, &partial] {
            let there = path.symlink_metadata();
            if there.is_ok_and(|there| !there.is_file() || !starts_with(path, form.head)) {
                let (shown, what) = (path.display(), form.what);
                let shown = if path == &partial { shown.to_string() + ": " } else { String::new() };
                let why = format!("{shown}exists and is not {what}; it is left as it is");
                return Err(refusal(form.option, named, &why));
            }
        }
        let unfinished = Self {
            named: named.to_owned(),
            path,
            partial,
            file: None,
            has_begun: false,
            failed: false,
        };
        unfinished.try_out().map_err(|error| unfinished.unusable(form, error))?;
        Ok(unfinished)
    }

    /// Returns the error that the file of this `form` cannot be written.
    fn unusable(&self, form: Form<'_>, error: io::Error) -> Error {
        let what = format!("{} {}", form.option, self.named.display());
        let parent = self.path.parent().filter(|parent| *parent != Path::new(""));
        match parent.filter(|parent| !parent.is_dir()) {
            Some(parent) => Error::usage(format!("{} is no folder", parent.display())).at(&what),
            None => Error::io(what, error).with_kind(ErrorKind::Usage),
        }
    }

    fn try_out(&self) -> io::Result<()> {
        if self.path.exists() {
            File::options().write(true).open(&self.path)?;
        }
        host::check_writable(self.path.parent().unwrap_or(Path::new(".")))?;
        if self.partial.exists() {
            lock(&File::options().write(true).open(&self.partial)?)?;
        }
        Ok(())
    }

    /// Creates and locks the file that is written. What a killed process left in it stays until something is
    /// written.
    fn reserve(&mut self) -> io::Result<&mut File> {
        if self.file.is_none() {
            let file =
                File::options().write(true).create(true).truncate(false).open(&self.partial)?;
            lock(&file)?;
            self.file = Some(file);
        }
        Ok(self.file.as_mut().expect("it was created above"))
    }

    /// Returns the file that is written: empty at the first call, with the permissions of the file that it
    /// replaces.
    fn file(&mut self) -> io::Result<&mut File> {
        let old = fs::metadata(&self.path);
        let is_first = !mem::replace(&mut self.has_begun, true);
        let file = self.reserve()?;
        if is_first {
            file.set_len(0)?;
            if let Ok(old) = old {
                file.set_permissions(old.permissions())?;
            }
        }
        Ok(file)
    }

    fn tried<T>(&mut self, work: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
        let done = self.file().and_then(work);
        done.map_err(|error| {
            self.failed = true;
            io::Error::new(error.kind(), format!("{}: {error}", self.partial.display()))
        })
    }

    /// Writes all of `bytes` and moves the file to its place.
    pub(crate) fn write_whole(mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.write_all(bytes).and_then(|()| self.take_place());
        if written.is_err() && self.has_begun {
            // A part of it is of no use.
            let _ = fs::remove_file(&self.partial);
        }
        written
    }

    /// Moves what was written to its place.
    fn take_place(&mut self) -> io::Result<()> {
        if self.failed || !self.has_begun {
            return Ok(());
        }
        self.tried(|file| file.sync_all())?;
        if cfg!(windows) {
            // An open file may be refused another name there.
            self.file = None;
        }
        fs::rename(&self.partial, &self.path)?;
        // A power cut could take the name back.
        let folder = self.path.parent().unwrap_or(Path::new("."));
        host::sync_dir(folder).map_err(io::Error::other)
    }
}

/// Locks a file that is written. Fails if another process has it locked.
fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let busy = "another process writes to it; name another file";
            Err(io::Error::new(io::ErrorKind::ResourceBusy, busy))
        }
        // Some file systems have no locks.
        _ => Ok(()),
    }
}

impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.tried(|file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl RecordFile for Unfinished {
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.take_place()
    }
}

impl Drop for Unfinished {
    /// Removes an empty file, which is of no use.
    fn drop(&mut self) {
        let empty = |file: &File| file.metadata().is_ok_and(|data| data.len() == 0);
        if self.file.as_ref().is_some_and(empty) {
            let _ = fs::remove_file(&self.partial);
        }
    }
}

pub(crate) struct PageFile(Unfinished);

/// Checks that the file of a page can be written.
pub(crate) fn page(path: Option<&Path>, taken: &mut Taken) -> Result<Option<PageFile>> {
    match path {
        None => Ok(None),
        Some(path) if path == Path::new("-") => Err(no_file(PAGE, path)),
        Some(path) => Ok(Some(PageFile(Unfinished::new(path, PAGE, taken)?))),
    }
}

fn no_file(form: Form<'_>, path: &Path) -> Error {
    refusal(form.option, path, &format!("name a file for {}", form.what))
}

impl PageFile {
    /// Writes `page` and prints where it is.
    pub(crate) fn write(self, page: &str) -> Result<()> {
        let named = self.0.named.clone();
        let shown = named.display();
        let written = self.0.write_whole(page.as_bytes());
        written.map_err(|e| Error::io(format!("{} {shown}", PAGE.option), e))?;
        let without = report::no_charts().map(|why| format!(", {why}")).unwrap_or_default();
        let size = show_size(page.len() as u64);
        output::say(&format!("the report is in {shown} ({size}){without}"));
        Ok(())
    }
}

/// Writes files of a `form` into `folder`, which is created if needed, and returns how many. Files
/// that may not be overwritten are found before the first is written.
pub(crate) fn write_into(
    folder: &Path,
    form: Form<'_>,
    taken: &Taken,
    files: impl IntoIterator<Item = (String, String)>,
) -> Result<usize> {
    taken.check(form.option, folder)?;
    create_folder(form.option, folder)?;
    let mut own = Taken::default();
    let tried = files
        .into_iter()
        .map(|(name, text)| Ok((Unfinished::new(&folder.join(name), form, &mut own)?, text)));
    let tried = tried.collect::<Result<Vec<_>>>()?;
    let count = tried.len();
    for (file, text) in tried {
        let named = file.named.display().to_string();
        file.write_whole(text.as_bytes()).map_err(|error| Error::io(named, error))?;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_reserved_from_the_start_and_keeps_what_a_killed_process_left() {
        let folder = tempfile::tempdir().unwrap();
        let (path, partial) =
            (folder.path().join("r.toml"), folder.path().join("r.toml.unfinished"));
        let open = || open(Some(&path), PLAN, &mut Taken::default());
        let first = open().unwrap();
        assert_eq!(open().err().unwrap().kind(), ErrorKind::Usage);
        drop(first);
        assert!(!partial.exists(), "nothing was written");
        fs::write(&partial, PLAN_HEAD).unwrap();
        drop(open().unwrap());
        assert_eq!(fs::read_to_string(&partial).unwrap(), PLAN_HEAD);
        let mut whole = open().unwrap().unwrap();
        whole.write_all(b"new").unwrap();
        whole.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }
}
