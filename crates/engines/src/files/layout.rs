//! How keys become paths, and finding out how an existing folder does it.

use std::path::Path;

use model::{Error, Key, KeyKind, Result};

use super::{listing, number, temporary, walk};
use crate::{choice::Choice, refusal::wrong_kind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// `000001`
    Flat,
    /// `00/00/01`
    Tree,
    /// The key is the path.
    Names,
}

pub(super) const LAYOUT: Choice<Layout> =
    Choice(&[("flat", Layout::Flat), ("tree", Layout::Tree), ("names", Layout::Names)]);

impl Layout {
    /// The layout of a new store for such keys.
    pub(super) fn usual(keys: KeyKind) -> Self {
        match keys {
            KeyKind::Integers => Self::Flat,
            KeyKind::Names => Self::Names,
        }
    }

    pub(super) fn keys(self) -> KeyKind {
        match self {
            Self::Flat | Self::Tree => KeyKind::Integers,
            Self::Names => KeyKind::Names,
        }
    }

    /// Finds the layout of `dir`; an empty one is taken for a new store.
    pub(super) fn find(dir: &Path) -> Result<Self> {
        let flat = listing::flat(dir)?;
        match (flat.keys.is_empty(), &flat.odd) {
            (true, None) => Ok(Self::Flat),
            (false, _) => flat.all(dir).map(|_| Self::Flat),
            (true, Some(_)) if is_tree(dir)? => Ok(Self::Tree),
            (true, Some(_)) => Ok(Self::Names),
        }
    }

    /// Fails where `dir` holds what this layout has no place for.
    pub(super) fn check(self, dir: &Path) -> Result<()> {
        if self == Self::Names { Ok(()) } else { listing::list(dir, self).map(drop) }
    }

    /// Puts the path of `key` into `out`, ended by a zero byte.
    #[inline]
    pub(super) fn path(self, key: Key<'_>, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        match (self, key) {
            (Self::Flat, Key::Int(key)) => number::flat(key, out),
            (Self::Tree, Key::Int(key)) => number::tree(key, out),
            (Self::Names, Key::Name(name)) => {
                check_name(name)?;
                out.extend_from_slice(name);
            }
            _ => return Err(wrong_kind(key, self.keys())),
        }
        out.push(0);
        Ok(())
    }
}

/// Whether `dir` holds a tree of numbered files and nothing else.
fn is_tree(dir: &Path) -> Result<bool> {
    let mut possible = true;
    walk::entries(dir, &mut |name, kind| {
        possible &= kind.is_dir() && number::is_tree_top(name);
    })?;
    if !possible {
        return Ok(false);
    }
    let tree = listing::tree(dir)?;
    Ok(tree.odd.is_none() && !tree.keys.is_empty())
}

/// Refuses what is not a relative path below the store.
fn check_name(name: &[u8]) -> Result<()> {
    let bad = |part: &[u8]| matches!(part, b"" | b"." | b"..");
    if name.contains(&0) || name.split(|byte| *byte == b'/').any(bad) {
        return Err(refused(name, "no relative path below the store"));
    }
    if temporary::is_temporary(name) {
        return Err(refused(name, "the name of a file being written"));
    }
    Ok(())
}

#[cold]
fn refused(name: &[u8], why: &str) -> Error {
    Error::usage(format!("{:?} is {why}", String::from_utf8_lossy(name)))
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
