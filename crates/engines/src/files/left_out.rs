//! What is in a user's folder and is no value, to be reported by a copy.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, FileType},
    path::{Path, PathBuf},
};

use model::{Error, Result};
use strum::Display;

use super::layout::walk;

/// Why the engine `files` passes over something below a folder, or fails to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display)]
pub enum LeftOut {
    /// A file or folder that this user may not read.
    #[strum(to_string = "unreadable file or folder")]
    Unreadable,
    #[strum(to_string = "symbolic link")]
    Symlink,
    #[strum(to_string = "device, socket or pipe")]
    Special,
    #[strum(to_string = "empty folder")]
    EmptyFolder,
}

/// Walks `dir` and returns the paths below it that are no values. Opens each file for reading, changes
/// nothing.
pub fn files_left_out(dir: &Path) -> Result<BTreeMap<LeftOut, BTreeSet<PathBuf>>> {
    fs::read_dir(dir).map_err(|e| Error::io(dir.display(), e))?;
    let mut out = BTreeMap::<_, BTreeSet<_>>::new();
    for found in walk(dir, usize::MAX) {
        let (path, why) = match &found {
            Ok(found) => (found.path(), reason(found.path(), found.file_type())),
            Err(error) => (error.path().unwrap_or(dir), Some(LeftOut::Unreadable)),
        };
        if let Some(why) = why {
            out.entry(why).or_default().insert(path.strip_prefix(dir).unwrap_or(path).to_owned());
        }
    }
    Ok(out)
}

/// `None`: it is a value, or a folder with something in it.
fn reason(path: &Path, kind: FileType) -> Option<LeftOut> {
    let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    if kind.is_symlink() {
        Some(LeftOut::Symlink)
    } else if kind.is_dir() {
        is_empty().then_some(LeftOut::EmptyFolder)
    } else if kind.is_file() {
        File::open(path).is_err().then_some(LeftOut::Unreadable)
    } else {
        Some(LeftOut::Special)
    }
}
