//! A folder through the standard library, as Windows has it: no modes.

use std::{
    fs::{self, File, Metadata},
    io::{self, ErrorKind},
    os::windows::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use model::{EntryKind, How, Meta, unix_time};

use super::{Facts, Sync, WriteMethod};
use crate::at;

/// Values of Windows (`CreateFileW`, `GetFileAttributesW`).
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
const FILE_ATTRIBUTE_REPARSE_POINT: u32 = 0x0000_0400;

/// The folder of a store, by its path.
pub(in crate::files) struct Root {
    path: PathBuf,
    sync: Sync,
}

impl Root {
    pub(in crate::files) fn open(path: &Path, sync: Sync) -> io::Result<Self> {
        fs::read_dir(path)?;
        Ok(Self { path: path.to_owned(), sync })
    }

    fn path_of(&self, name: &[u8]) -> PathBuf {
        self.path.join(path(name.strip_suffix(&[0]).unwrap_or(name)))
    }

    /// Opens a regular file for reading, once, and no link in its place; returns `None` if there is none.
    pub(in crate::files) fn read(&self, name: &[u8]) -> io::Result<Option<(File, Facts)>> {
        let path = self.path_of(name);
        let mut options = File::options();
        let file = match options.read(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(&path) {
            // A folder cannot be opened so.
            Err(e) if e.kind() == ErrorKind::PermissionDenied && self.facts(name)?.is_none() => {
                None
            }
            opened => or_absent(opened, &ABSENT)?,
        };
        let Some(file) = file else { return Ok(None) };
        let found = file.metadata()?;
        let Some(facts) = facts(&found)? else { return Ok(None) };
        // A file that a driver keeps elsewhere, as one in the cloud, has no bytes when it is opened so.
        let is_plain = found.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT == 0;
        Ok(Some((if is_plain { file } else { File::open(path)? }, facts)))
    }

    /// Does nothing: the standard library has no such request.
    pub(in crate::files) fn read_ahead(&self, _: &[u8]) {}

    pub(in crate::files) fn write(
        &self,
        name: &[u8],
        how: How,
        write: WriteMethod,
    ) -> io::Result<Option<File>> {
        let mut options = File::options();
        options.write(true).truncate(how != How::Insert && write != WriteMethod::Overwrite);
        options.create(how == How::Upsert).create_new(how == How::Insert);
        or_absent(
            options.open(self.path_of(name)),
            &[ErrorKind::NotFound, ErrorKind::AlreadyExists],
        )
    }

    pub(in crate::files) fn facts(&self, name: &[u8]) -> io::Result<Option<Facts>> {
        let found = fs::symlink_metadata(self.path_of(name));
        or_absent(found, &ABSENT)?.map_or(Ok(None), |found| facts(&found))
    }

    /// Renames a file, and flushes the new name if folders are to be flushed, as none can be here.
    pub(in crate::files) fn rename(&self, from: &[u8], to: &[u8]) -> io::Result<()> {
        let to = self.path_of(to);
        fs::rename(self.path_of(from), &to)?;
        if self.sync == Sync::Full { at::flush_renamed(&to) } else { Ok(()) }
    }

    pub(in crate::files) fn remove(&self, name: &[u8]) -> io::Result<()> {
        fs::remove_file(self.path_of(name))
    }
}

/// Returns the facts of a regular file; `None` if it is something else.
fn facts(found: &Metadata) -> io::Result<Option<Facts>> {
    if !found.is_file() {
        return Ok(None);
    }
    let (seconds, nanoseconds) = unix_time(found.modified()?);
    let meta = Meta { mode: 0o100_644, seconds, nanoseconds };
    Ok(Some(Facts { length: found.len(), meta }))
}

/// The errors of opening a file that is not there.
const ABSENT: [ErrorKind; 2] = [ErrorKind::NotFound, ErrorKind::NotADirectory];

fn or_absent<T>(done: io::Result<T>, absent: &[ErrorKind]) -> io::Result<Option<T>> {
    match done {
        Err(error) if absent.contains(&error.kind()) => Ok(None),
        done => done.map(Some),
    }
}

pub(in crate::files) fn real_mode(_: &Path, mode: u32) -> u32 {
    mode
}

pub(in crate::files) fn properties(_: &fs::File) -> io::Result<Vec<EntryKind>> {
    Ok(Vec::new())
}

/// Returns `name` as a path of this system, which takes no `/` in long paths; bytes that are not UTF-8 are
/// replaced.
pub(in crate::files) fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).replace('/', "\\"))
}

/// Returns the path of a file as a name: its parts are separated by `/`.
pub(in crate::files) fn name(path: &Path) -> Vec<u8> {
    path.to_string_lossy().replace('\\', "/").into_bytes()
}
