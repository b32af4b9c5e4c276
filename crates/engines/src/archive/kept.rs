//! The indexes that this process has read. A run opens a store many times, and each opening of an archive
//! would read all its headers again.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use kit::lock;
use model::{KeyKind, Result};

use super::{
    index::{Entries, Index},
    shared::{self, SharedIndex},
};
use crate::at::FileVersion;

/// The most entries of indexes that are kept, of some 150 bytes each.
const MOST: usize = 1_000_000;

/// An index, with the file that it was read from.
struct KeptIndex {
    file: FileVersion,
    entries: Arc<Entries>,
    /// The copy for other processes; `None` if none was asked for.
    shared: Option<SharedIndex>,
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
/// changed since, or those of `index`, or else what `read` returns.
pub(super) fn entries(
    file: &File,
    keys: KeyKind,
    index: Option<&Path>,
    read: impl FnOnce() -> Result<Index>,
) -> Result<Arc<Entries>> {
    // What is changed while it is read has another version afterwards.
    match FileVersion::read(file) {
        Some(version) => entries_of(version, keys, index, read),
        None => Ok(Arc::new(read()?.finish(keys)?)),
    }
}

/// Returns the path of a copy of the entries that are kept, for other processes; `None` if none are, or the
/// system has no memory for it.
pub(super) fn share(file: FileVersion, keys: KeyKind) -> Option<PathBuf> {
    let mut kept = lock::hold(&KEPT);
    let KeptIndex { entries, shared, .. } = kept.iter_mut().find(|kept| kept.serves(file, keys))?;
    if shared.is_none() {
        *shared = SharedIndex::new(file, entries);
    }
    shared.as_ref().map(SharedIndex::path)
}

fn entries_of(
    file: FileVersion,
    keys: KeyKind,
    index: Option<&Path>,
    read: impl FnOnce() -> Result<Index>,
) -> Result<Arc<Entries>> {
    let serves = |kept: &&KeptIndex| kept.serves(file, keys);
    let known = lock::hold(&KEPT).iter().find(serves).map(|kept| Arc::clone(&kept.entries));
    if let Some(entries) = known {
        return Ok(entries);
    }
    let entries = match index.and_then(|path| shared::read(path, file)) {
        Some(entries) => entries,
        None => read()?.finish(keys)?,
    };
    let entries = Arc::new(entries);
    let index = KeptIndex { file, entries: Arc::clone(&entries), shared: None };
    keep(&mut lock::hold(&KEPT), index, MOST);
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
        let as_integers = entries_of(numbered, ints, None, read).unwrap();
        assert_eq!(as_integers.values.keys(), ints);
        let as_names = entries_of(numbered, names, None, read).unwrap();
        assert!(as_names.values.get(&Key::Name(b"000001")).unwrap().is_some());
        for (keys, first) in [(ints, as_integers), (names, as_names)] {
            assert!(Arc::ptr_eq(&first, &entries_of(numbered, keys, None, never).unwrap()));
        }
        // Words are names for both.
        let first = entries_of(words, ints, None, || Ok(index(&["a", "b", "c"]))).unwrap();
        assert_eq!(first.values.len(), 3);
        assert!(Arc::ptr_eq(&first, &entries_of(words, names, None, never).unwrap()));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn another_process_reads_no_headers() {
        let file = tempfile::tempfile().unwrap();
        // No file of another test, which may have had the same inode, is as long.
        file.set_len(3).unwrap();
        let version = version(&file);
        assert_eq!(share(version, KeyKind::Names), None);
        entries_of(version, KeyKind::Names, None, || Ok(index(&["a", "b"]))).unwrap();
        let path = share(version, KeyKind::Names).unwrap();
        assert_eq!(share(version, KeyKind::Names).as_ref(), Some(&path));
        // As if in another process.
        let own = |kept: &mut KeptIndex| kept.file == version;
        let kept: Vec<_> = lock::hold(&KEPT).extract_if(.., own).collect();
        let entries = entries_of(version, KeyKind::Names, Some(&path), never).unwrap();
        assert_eq!(entries.values.len(), 2);
        drop(kept);
    }

    #[test]
    fn only_so_many_entries_are_kept() {
        let (version, mut all) = (version(&tempfile::tempfile().unwrap()), Vec::new());
        let mut add = |names: &[&str]| {
            let entries = Arc::new(index(names).finish(KeyKind::Names).unwrap());
            keep(&mut all, KeptIndex { file: version, entries, shared: None }, 5);
            all.iter().map(|kept| kept.entries.values.len()).collect::<Vec<_>>()
        };
        assert_eq!(add(&["a", "b"]), [2]);
        assert_eq!(add(&["a", "b", "c"]), [2, 3]);
        assert_eq!(add(&["a"]), [3, 1]);
        assert_eq!(add(&["a", "b", "c", "d", "e", "f"]), [0; 0]);
    }
}
