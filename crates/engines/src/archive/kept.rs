//! The indexes that this process has read. A run opens a store many times, and each opening of an archive
//! would read all its headers again.

use std::{
    fs::File,
    sync::{Arc, Mutex},
};

use kit::lock;
use model::{KeyKind, Result};

use super::index::{Entries, Index};
use crate::at::FileVersion;

/// The most entries of indexes that are kept, of some 150 bytes each.
const MOST: usize = 1_000_000;

/// An index, with the file that it was read from.
struct KeptIndex {
    file: FileVersion,
    entries: Arc<Entries>,
}

impl KeptIndex {
    /// Returns whether a reading of the same file for keys of this kind would give the same entries.
    fn serves(&self, file: FileVersion, keys: KeyKind) -> bool {
        let wanted = if self.entries.is_numbered { keys } else { KeyKind::Names };
        self.file == file && self.entries.values.keys() == wanted
    }
}

/// The indexes, the last one read at the end.
static KEPT: Mutex<Vec<KeptIndex>> = Mutex::new(Vec::new());

/// Returns the entries of an archive under keys of this kind: those that are kept, unless the file has
/// changed since, or else what `read` returns.
pub(super) fn entries(
    file: &File,
    keys: KeyKind,
    read: impl FnOnce() -> Result<Index>,
) -> Result<Arc<Entries>> {
    // What is changed while it is read has another version afterwards.
    match FileVersion::read(file) {
        Some(version) => of_version(version, keys, read),
        None => Ok(Arc::new(read()?.finish(keys)?)),
    }
}

fn of_version(
    file: FileVersion,
    keys: KeyKind,
    read: impl FnOnce() -> Result<Index>,
) -> Result<Arc<Entries>> {
    let serves = |kept: &&KeptIndex| kept.serves(file, keys);
    let known = lock::hold(&KEPT).iter().find(serves).map(|kept| Arc::clone(&kept.entries));
    if let Some(entries) = known {
        return Ok(entries);
    }
    let entries = Arc::new(read()?.finish(keys)?);
    keep(&mut lock::hold(&KEPT), KeptIndex { file, entries: Arc::clone(&entries) }, MOST);
    Ok(entries)
}

/// Adds an index, and drops the earliest ones until `most` entries remain.
fn keep(all: &mut Vec<KeptIndex>, index: KeptIndex, most: usize) {
    let count = |kept: &KeptIndex| kept.entries.values.len() + kept.entries.left_out.len();
    all.push(index);
    let mut sum = 0;
    let kept = all.iter().rev().take_while(|kept| {
        sum += count(kept);
        sum <= most
    });
    let dropped = all.len() - kept.count();
    all.drain(..dropped);
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::time::{Duration, SystemTime};

    use model::{Key, Meta};

    use super::*;
    use crate::archive::index::Slot;

    fn index(names: &[&str]) -> Index {
        let mut index = Index::new();
        for name in names {
            index.add(name.as_bytes(), Slot::plain(0, 1, Meta::default())).unwrap();
        }
        index
    }

    /// Returns the version of a file, which no other one has as long as that is there.
    fn version(file: &File) -> FileVersion {
        let later = SystemTime::now() + Duration::from_secs(60);
        FileVersion::from_metadata(&file.metadata().unwrap(), later).unwrap()
    }

    fn never() -> Result<Index> {
        panic!("the index is read again")
    }

    #[test]
    fn a_file_is_read_once_for_each_kind_of_keys() {
        let files = [(); 2].map(|()| tempfile::tempfile().unwrap());
        let ([numbered, words], [ints, names]) =
            (files.each_ref().map(version), [KeyKind::Integers, KeyKind::Names]);
        let read = || Ok(index(&["000001", "000002"]));
        let as_integers = of_version(numbered, ints, read).unwrap();
        assert_eq!(as_integers.values.keys(), ints);
        let as_names = of_version(numbered, names, read).unwrap();
        assert!(as_names.values.get(&Key::Name(b"000001")).unwrap().is_some());
        for (keys, first) in [(ints, as_integers), (names, as_names)] {
            assert!(Arc::ptr_eq(&first, &of_version(numbered, keys, never).unwrap()));
        }
        // Words are names for both.
        let first = of_version(words, ints, || Ok(index(&["a", "b", "c"]))).unwrap();
        assert_eq!(first.values.len(), 3);
        assert!(Arc::ptr_eq(&first, &of_version(words, names, never).unwrap()));
    }

    #[test]
    fn only_so_many_entries_are_kept() {
        let (version, mut all) = (version(&tempfile::tempfile().unwrap()), Vec::new());
        let mut add = |names: &[&str]| {
            let entries = Arc::new(index(names).finish(KeyKind::Names).unwrap());
            keep(&mut all, KeptIndex { file: version, entries }, 5);
            all.iter().map(|kept| kept.entries.values.len()).collect::<Vec<_>>()
        };
        assert_eq!(add(&["a", "b"]), [2]);
        assert_eq!(add(&["a", "b", "c"]), [2, 3]);
        assert_eq!(add(&["a"]), [3, 1]);
        assert_eq!(add(&["a", "b", "c", "d", "e", "f"]), [0; 0]);
    }
}
