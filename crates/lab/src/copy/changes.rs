//! A check that the files of a store did not change while they were read: the copy would be partly
//! old and partly new.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::SystemTime,
};

use model::{Error, Result, Shown, units::show_count};

use super::StoreLocation;
use crate::host;

/// The files of a store whose scan does not show one moment, and what the system reports of each; none if
/// the scan does.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FileStates(Option<BTreeMap<PathBuf, FileState>>);

#[derive(Debug, PartialEq, Eq)]
struct FileState {
    length: u64,
    modified: Option<SystemTime>,
    /// Device and inode: a file that was replaced may have the same length and time.
    identity: Option<(u64, u64)>,
    readonly: bool,
}

impl FileStates {
    /// Reads the states of all files of the store at `place`, before it is opened.
    pub(super) fn read(place: &StoreLocation) -> Result<Self> {
        let can = place.engine.capabilities();
        let shows_one_moment = can.snapshots && !place.engine.reads_unguarded(&place.path);
        let states = (can.persistent && !shows_one_moment).then(|| states(place));
        Ok(Self(states.transpose()?))
    }

    /// Fails with the names of files that were added, removed or changed since. What was added does not show
    /// in a snapshot.
    pub(super) fn check_unchanged(&self, place: &StoreLocation) -> Result<()> {
        let Some(before) = &self.0 else { return Ok(()) };
        let now = states(place)?;
        let without = |one: &BTreeMap<_, _>, other: &BTreeMap<_, _>| -> Vec<PathBuf> {
            one.keys().filter(|path| !other.contains_key(*path)).cloned().collect()
        };
        let differs = |(path, state): &(&PathBuf, &FileState)| {
            now.get(*path).is_some_and(|other| other != *state)
        };
        let has_snapshot = place.engine.capabilities().snapshots;
        let lists = [
            ("added", if has_snapshot { Vec::new() } else { without(&now, before) }),
            ("removed", without(before, &now)),
            ("changed", before.iter().filter(differs).map(|(path, _)| path.clone()).collect()),
        ];
        let shown = lists.iter().filter(|(_, paths)| !paths.is_empty());
        let shown: Vec<_> = shown.map(|(what, paths)| show(what, paths, &place.path)).collect();
        if shown.is_empty() {
            return Ok(());
        }
        let store = place.path.display();
        Err(Error::failed(format!("changed while it was copied: {}", shown.join("; "))).at(&store))
    }
}

/// Returns the states of all files of a store.
fn states(place: &StoreLocation) -> Result<BTreeMap<PathBuf, FileState>> {
    let mut found = BTreeMap::new();
    for file in place.engine.files(&place.path).into_iter().filter(|file| file.exists()) {
        host::walk(&file, &mut |path, meta| {
            if meta.is_file() {
                let state = FileState {
                    length: meta.len(),
                    modified: meta.modified().ok(),
                    identity: host::identity(path, meta),
                    readonly: meta.permissions().readonly(),
                };
                found.insert(path.to_owned(), state);
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// Formats names: `2 files added: a, b`, the first ten.
fn show(what: &str, paths: &[PathBuf], store: &Path) -> String {
    const SHOWN: usize = 10;
    let name = |path: &PathBuf| {
        let name = path.strip_prefix(store).unwrap_or(path);
        Shown(name.as_os_str().as_encoded_bytes()).to_string()
    };
    let first = paths.iter().take(SHOWN).map(name).collect::<Vec<_>>().join(", ");
    let more = if paths.len() > SHOWN { ", …" } else { "" };
    let plural = if paths.len() == 1 { "" } else { "s" };
    format!("{} file{plural} {what}: {first}{more}", show_count(paths.len() as u64))
}
