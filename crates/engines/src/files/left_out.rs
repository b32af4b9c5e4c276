//! Finds what is in a user's folder and is no value.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use model::{Entry, EntryKind, Error, Result, Shown, units::show_count};
use walkdir::DirEntry;

use super::{
    layout::{is_temporary, walk},
    os,
};

/// Lists what is below `dir` and no value. No file is opened, as there may be millions.
///
/// # Errors
///
/// Fails if a folder cannot be read.
pub fn not_values(dir: &Path) -> Result<Vec<Entry>> {
    list_with(dir, |_| Ok(Vec::new()))
}

/// Lists what is below `dir` and no value, and the properties of files that a copy does not keep.
///
/// # Errors
///
/// Fails if a file cannot be read: it opens each, as a copy without it would pass for whole.
pub(super) fn list(dir: &Path) -> Result<Vec<Entry>> {
    list_with(dir, |path| File::open(path).and_then(|file| os::properties(&file)))
}

fn list_with(
    dir: &Path,
    properties: impl Fn(&Path) -> io::Result<Vec<EntryKind>>,
) -> Result<Vec<Entry>> {
    let (mut entries, mut unreadable) = (Vec::new(), Vec::new());
    for found in walk(dir, usize::MAX) {
        match found {
            Ok(found) if found.file_type().is_file() && !is_temporary(&found) => {
                let path = found.path();
                let Ok(properties) = properties(path) else {
                    unreadable.push(path.to_owned());
                    continue;
                };
                let property = |kind| Entry { name: name(dir, path), kind, content: Vec::new() };
                entries.extend(properties.into_iter().map(property));
            }
            Ok(found) => entries.extend(entry(dir, &found)),
            Err(error) => unreadable.push(error.path().unwrap_or(dir).to_owned()),
        }
    }
    if unreadable.is_empty() { Ok(entries) } else { Err(unreadable_error(dir, unreadable)) }
}

/// Returns the entry of a path; `None` if it is a value, or a folder with something in it.
fn entry(dir: &Path, found: &DirEntry) -> Option<Entry> {
    let (path, is) = (found.path(), found.file_type());
    let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    let kind = match is {
        _ if is.is_symlink() => EntryKind::Link,
        _ if is_temporary(found) => EntryKind::Temporary,
        _ if is.is_dir() && is_empty() => EntryKind::EmptyFolder,
        _ if is.is_dir() || is.is_file() => return None,
        _ => EntryKind::Special,
    };
    let content = fs::read_link(path).map(|target| os::name(&target)).unwrap_or_default();
    Some(Entry { name: name(dir, path), kind, content })
}

fn name(dir: &Path, path: &Path) -> Vec<u8> {
    os::name(path.strip_prefix(dir).unwrap_or(path))
}

/// Creates an error that names the first ten.
fn unreadable_error(dir: &Path, mut unreadable: Vec<PathBuf>) -> Error {
    const SHOWN: usize = 10;
    unreadable.sort_unstable();
    let first = unreadable.iter().take(SHOWN).map(|path| Shown(&name(dir, path)).to_string());
    let names = first.collect::<Vec<_>>().join(", ");
    let more = if unreadable.len() > SHOWN { ", …" } else { "" };
    let count = show_count(unreadable.len() as u64);
    Error::usage(format!("{count} cannot be read: {names}{more}")).at(dir.display())
}
