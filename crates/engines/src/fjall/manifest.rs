//! Checks that the files of a database exist and list what they listed: the library accepts a list
//! of tables as it is, whatever it contains, and without its journals or a list it shows an empty
//! store.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use model::{Error, Result};
use xxhash_rust::xxh3::xxh3_128;

/// Checks the journals and the lists of tables of the database at `location`.
///
/// # Errors
///
/// Fails if one is missing, or a list is not as it was written.
pub(super) fn check(location: &Path) -> Result<()> {
    check_journals(location)?;
    for tree in entries(&location.join("keyspaces"))? {
        if tree.join("current").is_file() {
            check_tree(&tree)?;
        } else if tree.is_dir() && !entries(&tree.join("tables")).unwrap_or_default().is_empty() {
            // The library would remove the folder with its tables.
            return Err(missing_error(&tree.join("current")));
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()
    });
    entries.map_err(|cause| Error::io(folder.display(), cause))
}

fn missing_error(file: &Path) -> Error {
    Error::corrupt("is damaged: this file is missing").at(file.display())
}

/// Checks that journals exist and have no gap: an open database always has a journal, and the
/// library numbers them without gaps. It removes those that are in the tables, oldest first.
fn check_journals(location: &Path) -> Result<()> {
    let number = |path: PathBuf| path.file_name()?.to_str()?.strip_suffix(".jnl")?.parse().ok();
    let mut numbers: Vec<u64> = entries(location)?.into_iter().filter_map(number).collect();
    numbers.sort_unstable();
    let Some((first, rest)) = numbers.split_first() else {
        let location = location.display();
        return Err(Error::corrupt("is damaged: its journals are missing").at(&location));
    };
    match rest.iter().zip(first + 1..).find(|(number, next)| *number != next) {
        Some((_, gap)) => Err(missing_error(&location.join(format!("{gap}.jnl")))),
        None => Ok(()),
    }
}

/// Checks the list of tables that `current` names: `current` has the number of the list, its
/// checksum, and 0 for its kind (XXH3 of 128 bits).
fn check_tree(tree: &Path) -> Result<()> {
    let read = |path: PathBuf| {
        fs::read(&path).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => missing_error(&path),
            _ => Error::io(path.display(), cause),
        })
    };
    let current = read(tree.join("current"))?;
    let damaged = |name: &str| {
        Error::corrupt("is damaged: its checksum is another").at(tree.join(name).display())
    };
    let (id, rest) = current.split_first_chunk().ok_or_else(|| damaged("current"))?;
    let (checksum, kind) = rest.split_first_chunk().ok_or_else(|| damaged("current"))?;
    let list = format!("v{}", u64::from_le_bytes(*id));
    let same = xxh3_128(&read(tree.join(&list))?) == u128::from_le_bytes(*checksum);
    if same && kind == [0] { Ok(()) } else { Err(damaged(&list)) }
}
