//! The layouts of a folder: how keys become paths, which layout an existing folder has, and which
//! keys are in it.

use std::{io, path::Path};

use kit::refusal::wrong_kind;
use model::{Error, Key, KeyKind, Result, windows_name_problem};
use strum::{Display, EnumString, VariantNames};
use walkdir::{DirEntry, WalkDir};

use super::{name, os};

/// The layout of a folder of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Layout {
    /// `000001`
    Flat,
    /// `00/00/01`
    Tree,
    /// The key is the path.
    Names,
}

impl Layout {
    pub(super) fn keys(self) -> KeyKind {
        if self == Self::Names { KeyKind::Names } else { KeyKind::Integers }
    }

    /// Finds the layout of `dir`; an empty folder is taken for a new store.
    pub(super) fn find(dir: &Path) -> Result<Self> {
        let mut top = Self::Flat.entries(dir).peekable();
        if top.peek().is_none() || top.any(|entry| Self::Flat.is_blob_file(&entry)) {
            return Self::Flat.list(dir).map(|_| Self::Flat);
        }
        let mut files = Self::Tree.entries(dir).peekable();
        let is_tree = files.peek().is_some() && files.all(|entry| Self::Tree.is_blob_file(&entry));
        Ok(if is_tree { Self::Tree } else { Self::Names })
    }

    /// Writes the path of `key` into `out`, ended by a zero byte.
    ///
    /// # Errors
    ///
    /// Fails if the key is of another kind than the layout's, or no path below the store.
    #[inline]
    pub(super) fn path(self, key: Key<'_>, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        match (self, key) {
            (Self::Flat, Key::Int(key)) => name::flat(key, out),
            (Self::Tree, Key::Int(key)) => name::tree(key, out),
            (Self::Names, Key::Name(name)) => {
                check_name(name)?;
                out.extend_from_slice(name);
            }
            _ => return Err(wrong_kind(key, self.keys())),
        }
        out.push(0);
        Ok(())
    }

    /// Lists the keys below `dir`.
    ///
    /// # Errors
    ///
    /// Fails if anything else is next to the numbered files of a numbered layout; the error names
    /// the first such entry.
    pub(super) fn list(self, dir: &Path) -> Result<Keys> {
        let (mut keys, mut odd) = (Keys::default(), None);
        for entry in self.entries(dir) {
            let Entry { name, is_file } = entry?;
            match self.number(&name) {
                Some(number) if is_file => keys.numbers.push(number),
                _ if self != Self::Names => {
                    odd = Some(odd.map_or(name.clone(), |odd: Vec<u8>| odd.min(name)));
                }
                _ if is_file => keys.names.push(name),
                _ => {}
            }
        }
        let Some(odd) = odd else { return Ok(keys) };
        Err(Error::usage(format!(
            "{} is no dataset: {} is among kvtest's numbered files; layout=names takes every file by its path",
            dir.display(),
            Key::Name(&odd)
        )))
    }

    /// Lists the numbers of the numbered files below `dir`, in no particular order.
    pub(super) fn numbers(self, dir: &Path) -> Result<Vec<i64>> {
        let number = |entry: Result<Entry>| match entry {
            Ok(entry) => self.number(&entry.name).filter(|_| entry.is_file).map(Ok),
            Err(error) => Some(Err(error)),
        };
        self.entries(dir).filter_map(number).collect()
    }

    /// Returns the key of kvtest's file `name`, or `None` if it is no such file.
    fn number(self, name: &[u8]) -> Option<i64> {
        match self {
            Self::Flat => name::parse_flat(name),
            Self::Tree => name::parse_tree(name),
            Self::Names => None,
        }
    }

    /// Returns whether `entry` is one of kvtest's files.
    fn is_blob_file(self, entry: &Result<Entry>) -> bool {
        entry.as_ref().is_ok_and(|entry| entry.is_file && self.number(&entry.name).is_some())
    }

    /// Lists the entries of `dir`, in no particular order: all at its top in a flat layout, else
    /// all below it except folders. A folder that cannot be read is an error.
    fn entries(self, dir: &Path) -> impl Iterator<Item = Result<Entry>> {
        let depth = if self == Self::Flat { 1 } else { usize::MAX };
        let is_folder = |found: &DirEntry| found.file_type().is_dir();
        let all = walk(dir, depth).filter(|found| !found.as_ref().is_ok_and(is_temporary));
        let shown = all.filter(move |found| depth == 1 || !found.as_ref().is_ok_and(is_folder));
        shown.map(move |found| {
            let found = found.map_err(|e| walk_error(dir, e))?;
            let path = found.path().strip_prefix(dir).unwrap_or(found.path());
            Ok(Entry { name: os::name(path), is_file: found.file_type().is_file() })
        })
    }
}

struct Entry {
    /// The path from the top of the folder.
    name: Vec<u8>,
    is_file: bool,
}

/// Visits what is below `dir`, folders before their content. It follows no links and opens no
/// files.
pub(super) fn walk(
    dir: &Path,
    depth: usize,
) -> impl Iterator<Item = Result<DirEntry, walkdir::Error>> {
    WalkDir::new(dir).min_depth(1).max_depth(depth).into_iter()
}

/// Returns whether the entry is a file that a session of storemark writes, or wrote when it was
/// killed.
pub(super) fn is_temporary(found: &DirEntry) -> bool {
    found.file_type().is_file() && name::is_temporary(found.file_name().as_encoded_bytes())
}

/// Creates an error from what interrupted [`walk`].
pub(super) fn walk_error(dir: &Path, error: walkdir::Error) -> Error {
    let path = error.path().unwrap_or(dir).to_owned();
    // Only a loop of links, which are not followed, has no such error.
    Error::io(path.display(), error.into_io_error().unwrap_or(io::ErrorKind::Other.into()))
}

/// The keys of a folder: numbers or names, held compactly.
#[derive(Default)]
pub(super) struct Keys {
    numbers: Vec<i64>,
    names: Vec<Vec<u8>>,
}

impl Keys {
    /// Returns the keys that are not less than `from`, in order.
    pub(super) fn sorted_keys(&self, from: Option<Key<'_>>) -> Vec<Key<'_>> {
        let numbers = self.numbers.iter().map(|number| Key::Int(*number));
        let all = numbers.chain(self.names.iter().map(|name| Key::Name(name)));
        let mut keys: Vec<_> = all.filter(|key| from.is_none_or(|from| *key >= from)).collect();
        keys.sort_unstable();
        keys
    }
}

/// The most bytes of a file's name on nearly all file systems.
const LONGEST_PART: usize = 255;
/// The most bytes of a path that systems accept, less its end.
const LONGEST_PATH: usize = 4095;

/// Checks that a name is a relative path below the store.
///
/// # Errors
///
/// Fails if it is not, or is longer than file systems accept.
pub(crate) fn check_name(name: &[u8]) -> Result<()> {
    let bad = |part: &[u8]| matches!(part, b"" | b"." | b"..");
    if name.contains(&0) || name.split(|byte| *byte == b'/').any(bad) {
        return Err(name_refusal(name, "no relative path below the store"));
    }
    if name.len() > LONGEST_PATH || name.split(|byte| *byte == b'/').any(|p| p.len() > LONGEST_PART)
    {
        let limits = format!("{LONGEST_PATH} bytes, {LONGEST_PART} between slashes");
        return Err(name_refusal(name, &format!("longer than file systems take ({limits})")));
    }
    if cfg!(windows)
        && let Some(why) = name.split(|byte| *byte == b'/').find_map(windows_name_problem)
    {
        return Err(Error::unsupported(format!(
            "{} {why}: Windows has no such file",
            Key::Name(name)
        )));
    }
    if name::is_temporary(name) {
        return Err(name_refusal(name, "the name of a file being written"));
    }
    Ok(())
}

#[cold]
fn name_refusal(name: &[u8], why: &str) -> Error {
    Error::usage(format!("{} is {why}", Key::Name(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_the_store() {
        for bad in ["", "/", "/a", "a/", "a//b", ".", "..", "a/..", "./a", "a/./b", "a\0b"] {
            assert!(check_name(bad.as_bytes()).is_err(), "{bad:?}");
        }
        for good in ["a", "a/b", "...", ".a", "a b", "ü", "000001"] {
            assert!(check_name(good.as_bytes()).is_ok(), "{good:?}");
        }
    }
}
