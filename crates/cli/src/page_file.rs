//! The page that `--html` names: its place is tried before anything is measured, and the page is
//! written whole or not at all.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf, is_separator},
};

use model::{Error, ErrorKind, Result, units::show_size};

use crate::{output, record_file};

/// A place that a page can be written to.
pub(crate) struct PageFile {
    /// As the user wrote it.
    named: PathBuf,
    /// Where the bytes go: links are followed.
    path: PathBuf,
}

/// Another file that a command writes: its option, and where.
pub(crate) type Other<'a> = (&'static str, Option<&'a Path>);

/// Tries the place out. A file that is no page of storemark is not overwritten, and none that one
/// of `others` names.
pub(crate) fn open(path: Option<&Path>, others: &[Other<'_>]) -> Result<Option<PageFile>> {
    let Some(named) = path else { return Ok(None) };
    let shown = named.display();
    let refused = |why: &str| Err(Error::usage(format!("--html {shown}: {why}")));
    if named == Path::new("-") || named.as_os_str().to_string_lossy().ends_with(is_separator) {
        return refused("name a file for the page, as in run.html");
    }
    if named.is_symlink() && !named.exists() {
        return refused("is a link that leads nowhere; it is left as it is");
    }
    for (option, other) in others {
        if other.is_some_and(|other| place(other) == place(named)) {
            return refused(&format!("is the file of {option} as well; name another"));
        }
    }
    if named.exists() && !record_file::begins(named, report::HTML_HEAD) {
        return Err(Error::usage(format!(
            "--html {shown}: is there and is no page of storemark; it is left as it is"
        )));
    }
    let wrong = |e| Error::io(format!("--html {shown}"), e).with_kind(ErrorKind::Usage);
    let place = PageFile { named: named.to_owned(), path: place(named) };
    place.try_out().map_err(wrong)?;
    Ok(Some(place))
}

/// Where `path` leads: links are followed as far as there is something.
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
        File::create_new(self.unfinished()?)?;
        fs::remove_file(self.unfinished()?)
    }

    /// Beside it, so that it can be renamed.
    fn unfinished(&self) -> io::Result<PathBuf> {
        let name = self.path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}", std::process::id()));
        Ok(self.path.with_file_name(hidden))
    }

    /// Writes `page` and says where it is.
    pub(crate) fn write(&self, page: &str) -> Result<()> {
        let shown = self.named.display();
        self.replace(page.as_bytes()).map_err(|e| Error::io(format!("--html {shown}"), e))?;
        output::say(&format!("the report is in {shown} ({})", show_size(page.len() as u64)));
        Ok(())
    }

    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let unfinished = self.unfinished()?;
        let mut file = File::create_new(&unfinished)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        let replaced = written.and_then(|()| fs::rename(&unfinished, &self.path));
        if replaced.is_err() {
            // What is left of it does no harm if it cannot be removed either.
            let _ = fs::remove_file(&unfinished);
        }
        replaced
    }
}
