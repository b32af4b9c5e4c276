//! Telling plans and records from targets, and reading them.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{BufReader, Read},
    path::Path,
};

use engines::registry;
use model::{DatasetSpec, Error, ErrorKind, Result, Target, nearest};

use super::{
    Asked,
    file::{self, PlanFile},
};
use crate::record_file;

/// What a word beside targets names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A plan file.
    Plan,
    /// A record, which holds a plan.
    Record,
}

/// The most that a plan file may hold in bytes.
const LONGEST: u64 = 1 << 20;

/// What `word` names; `None`: a target. A store that is there is a target whatever it is called; a
/// record is known by its first line, and both by their endings.
pub(super) fn kind(word: &OsStr) -> Option<Kind> {
    let path = Path::new(word);
    let by_name = match path.extension().and_then(OsStr::to_str) {
        Some("toml") => Some(Kind::Plan),
        Some("json" | "jsonl") => Some(Kind::Record),
        _ => None,
    };
    if path.is_file() {
        let store = registry::recognise(path).is_some();
        let empty = path.metadata().is_ok_and(|data| data.len() == 0);
        let recorded = || !empty && record_file::begins(path, record_file::RUN.head);
        return if store { None } else { by_name.or_else(|| recorded().then_some(Kind::Record)) };
    }
    let bare = word.to_str().is_some_and(|words| Target::parse(words).engine.is_none());
    by_name.filter(|_| bare && !path.exists())
}

/// Reads a plan file.
pub(super) fn plan(word: &OsStr) -> Result<PlanFile> {
    let path = Path::new(word);
    let name = path.display().to_string();
    let mut text = String::new();
    let file = open(path)?;
    match file.take(LONGEST + 1).read_to_string(&mut text) {
        Ok(_) if text.len() as u64 > LONGEST => {
            Err(Error::usage(format!("{name}: a plan has at most 1 MiB")))
        }
        Ok(_) => file::parse(name, text),
        Err(error) => Err(Error::io(name, error).with_kind(ErrorKind::Usage)),
    }
}

/// What the record asked for.
pub(super) fn record(word: &OsStr) -> Result<Asked> {
    let path = Path::new(word);
    let name = path.display();
    let reader = BufReader::new(open(path)?);
    let header = report::read_header(reader).map_err(|e| e.context(&name))?;
    let rows = matches!(header.plan.dataset, DatasetSpec::Rows { .. });
    let why = if rows { "it is of storemark rows" } else { "an older storemark wrote it" };
    header.asked.as_ref().map(Asked::from).ok_or_else(|| {
        Error::usage(format!("{name}: this record does not tell what was asked for: {why}"))
    })
}

fn open(path: &Path) -> Result<File> {
    if !path.exists() {
        let near =
            neighbour(path).map_or_else(String::new, |near| format!(": did you mean {near}?"));
        return Err(Error::usage(format!("{}: no such plan or record{near}", path.display())));
    }
    File::open(path).map_err(|e| Error::io(path.display(), e).with_kind(ErrorKind::Usage))
}

/// The file with the same ending whose name is the nearest.
fn neighbour(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names: Vec<_> =
        names.filter(|name| Path::new(name).extension() == path.extension()).collect();
    let near = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(path.with_file_name(near).display().to_string())
}
