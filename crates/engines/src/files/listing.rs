//! All keys of a folder in key order, held compactly.

use std::{ops::Range, path::Path};

use model::{Error, Key, Result};

use super::{layout::Layout, number, os, walk};

pub(super) enum Listing {
    Numbers(Vec<i64>),
    /// Ranges of the bytes, in the order of the names they hold.
    Names(Vec<u8>, Vec<Range<usize>>),
}

impl Listing {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Names(_, ranges) => ranges.len(),
        }
    }

    /// How many keys come before `from`.
    pub(super) fn before(&self, from: Key<'_>) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.partition_point(|key| Key::Int(*key) < from),
            Self::Names(bytes, ranges) => {
                ranges.partition_point(|range| Key::Name(&bytes[range.clone()]) < from)
            }
        }
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = Key<'_>> {
        (0..self.len()).map(|i| match self {
            Self::Numbers(numbers) => Key::Int(numbers[i]),
            Self::Names(bytes, ranges) => Key::Name(&bytes[ranges[i].clone()]),
        })
    }
}

/// The keys below `dir`. A numbered layout with anything else next to the numbered files is an
/// error that names the first such thing.
pub(super) fn list(dir: &Path, layout: Layout) -> Result<Listing> {
    match layout {
        Layout::Names => names(dir),
        Layout::Flat => flat(dir)?.all(dir),
        Layout::Tree => tree(dir)?.all(dir),
    }
}

/// What a folder holds, seen as kvtest's.
#[derive(Default)]
pub(super) struct Numbered {
    pub(super) keys: Vec<i64>,
    /// The first name, in name order, that is no key.
    pub(super) odd: Option<Vec<u8>>,
}

impl Numbered {
    fn add(&mut self, name: &[u8], key: Option<i64>) {
        match key {
            Some(key) => self.keys.push(key),
            None if self.odd.as_deref().is_none_or(|odd| name < odd) => {
                self.odd = Some(name.to_vec());
            }
            None => {}
        }
    }

    /// All keys in order, if there is nothing else.
    pub(super) fn all(mut self, dir: &Path) -> Result<Listing> {
        if let Some(odd) = self.odd {
            return Err(Error::usage(format!(
                "{} is no dataset: {} is among kvtest's numbered files; layout=names takes every file by its path",
                dir.display(),
                os::path(&odd).display()
            )));
        }
        self.keys.sort_unstable();
        Ok(Listing::Numbers(self.keys))
    }
}

/// `dir` seen as a flat layout: only its top level counts.
pub(super) fn flat(dir: &Path) -> Result<Numbered> {
    let mut found = Numbered::default();
    walk::entries(dir, &mut |name, kind| {
        found.add(name, number::parse_flat(name).filter(|_| kind.is_file()));
    })?;
    Ok(found)
}

/// `dir` seen as a tree; empty folders count for nothing.
pub(super) fn tree(dir: &Path) -> Result<Numbered> {
    let mut found = Numbered::default();
    each(dir, &mut |name, is_file| {
        found.add(name, number::parse_tree(name).filter(|_| is_file));
    })?;
    Ok(found)
}

fn names(dir: &Path) -> Result<Listing> {
    let mut bytes = Vec::new();
    let mut ranges = Vec::new();
    each(dir, &mut |name, is_file| {
        if is_file {
            let start = bytes.len();
            bytes.extend_from_slice(name);
            ranges.push(start..bytes.len());
        }
    })?;
    ranges.sort_unstable_by(|a, b| bytes[a.clone()].cmp(&bytes[b.clone()]));
    Ok(Listing::Names(bytes, ranges))
}

/// Visits every file, link and special file below `dir`, and whether it is a regular file. A
/// folder that cannot be read is an error.
fn each(dir: &Path, visit: &mut dyn FnMut(&[u8], bool)) -> Result<()> {
    walk::walk(dir, &mut |name, found| {
        match found {
            walk::Found::Unreadable(error) => {
                return Err(Error::io(dir.join(os::path(name)).display(), error));
            }
            walk::Found::EmptyFolder => {}
            walk::Found::File => visit(name, true),
            walk::Found::Symlink | walk::Found::Special => visit(name, false),
        }
        Ok(std::ops::ControlFlow::Continue(()))
    })
}
