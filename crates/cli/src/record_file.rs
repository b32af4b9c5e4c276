//! Files that options name to be written to.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    path::{Path, PathBuf},
};

use model::{Error, ErrorKind, Result};

/// What a command writes.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    /// What names the file.
    pub(crate) option: &'static str,
    pub(crate) what: &'static str,
    /// How its first line begins.
    pub(crate) head: &'static str,
}

pub(crate) const RUN: Form =
    Form { option: "--json", what: "record of storemark run", head: r#"{"line":"header""# };
pub(crate) const ROWS: Form = Form { what: "record of storemark rows", ..RUN };
pub(crate) const AGE: Form = Form { what: "record of storemark age", ..RUN };
pub(crate) const QUEUE: Form = Form { what: "record of storemark queue", ..RUN };
pub(crate) const CALIBRATE: Form =
    Form { what: "record of storemark calibrate", head: r#"{"line":"calibration""#, ..RUN };
pub(crate) const PLAN: Form =
    Form { option: "--save-plan", what: "plan that storemark saved", head: crate::plan::HEAD };

/// Opens it before anything is measured, so that a bad path fails at once. A file of another form
/// is not overwritten.
pub(crate) fn open(path: Option<&Path>, form: Form) -> Result<Option<Box<dyn Write>>> {
    let Some(path) = path else { return Ok(None) };
    if path == Path::new("-") {
        return Ok(Some(Box::new(io::stdout())));
    }
    let new = !path.exists();
    if !new && !begins(path, form.head) {
        return Err(Error::usage(format!(
            "{} {}: is there and is no {}; it is left as it is",
            form.option,
            path.display(),
            form.what
        )));
    }
    let mut options = File::options();
    let file = options.write(true).create(true).truncate(false).open(path).map_err(|e| {
        Error::io(format!("{} {}", form.option, path.display()), e).with_kind(ErrorKind::Usage)
    })?;
    let unused = new.then(|| path.to_owned());
    Ok(Some(Box::new(BufWriter::new(RecordFile { file, begun: false, unused }))))
}

/// Whether the file at `path` is empty or its first line begins with `head`.
pub(crate) fn begins(path: &Path, head: &str) -> bool {
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

/// Keeps an earlier record until there is something to write. A file made for a run that never
/// began is removed again.
struct RecordFile {
    file: File,
    begun: bool,
    unused: Option<PathBuf>,
}

impl Write for RecordFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.begun {
            self.file.set_len(0)?;
            self.begun = true;
            self.unused = None;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for RecordFile {
    fn drop(&mut self) {
        if let Some(path) = &self.unused {
            // It is empty and was made by this run; if it cannot be removed, it does no harm.
            let _ = fs::remove_file(path);
        }
    }
}
