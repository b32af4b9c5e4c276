//! Walking a folder: every file below it with its relative name, and what is not a plain file.

use std::{
    fs::{self, FileType},
    io,
    ops::ControlFlow,
    path::Path,
};

use model::{Error, Result, Visit};

use super::temporary::is_temporary;

/// What a name refers to.
pub(super) enum Found {
    File,
    EmptyFolder,
    Symlink,
    /// A device, socket or pipe.
    Special,
    Unreadable(io::Error),
}

/// Visits what is below `top`, in no particular order, folders only if they are empty or
/// unreadable. Follows no links, opens no files, passes over temporary ones.
pub(super) fn walk(top: &Path, visit: &mut dyn FnMut(&[u8], Found) -> Visit) -> Result<()> {
    let mut name = Vec::new();
    below(top, &mut name, visit).map(drop)
}

/// Visits what is directly in `folder`, folders included.
pub(super) fn entries(folder: &Path, visit: &mut dyn FnMut(&[u8], FileType)) -> Result<()> {
    let failed = |e| Error::io(folder.display(), e);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if !is_temporary(name.as_encoded_bytes()) {
            visit(name.as_encoded_bytes(), entry.file_type().map_err(failed)?);
        }
    }
    Ok(())
}

/// `name` is the folder's own relative name; it comes back as it was.
fn below(folder: &Path, name: &mut Vec<u8>, visit: &mut dyn FnMut(&[u8], Found) -> Visit) -> Visit {
    let read = match fs::read_dir(folder) {
        Ok(read) => read,
        Err(error) => return visit(name, Found::Unreadable(error)),
    };
    let mut empty = true;
    for entry in read {
        let entry = entry.map_err(|e| Error::io(folder.display(), e))?;
        empty = false;
        let length = name.len();
        if length > 0 {
            name.push(b'/');
        }
        name.extend_from_slice(entry.file_name().as_encoded_bytes());
        let visited = one(&entry, name, visit)?;
        name.truncate(length);
        if visited.is_break() {
            return Ok(visited);
        }
    }
    if empty && !name.is_empty() { visit(name, Found::EmptyFolder) } else { go_on() }
}

fn one(
    entry: &fs::DirEntry,
    name: &mut Vec<u8>,
    visit: &mut dyn FnMut(&[u8], Found) -> Visit,
) -> Visit {
    let kind = entry.file_type().map_err(|e| Error::io(entry.path().display(), e))?;
    if kind.is_dir() {
        below(&entry.path(), name, visit)
    } else if kind.is_symlink() {
        visit(name, Found::Symlink)
    } else if !kind.is_file() {
        visit(name, Found::Special)
    } else if is_temporary(name) {
        go_on()
    } else {
        visit(name, Found::File)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the answer of a visitor")]
fn go_on() -> Visit {
    Ok(ControlFlow::Continue(()))
}
