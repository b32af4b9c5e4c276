//! What is below some paths.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{at, has_gone};

/// Sorted by the components of the paths; nothing twice.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) files: Vec<PathBuf>,
    /// Folders below the paths, without the paths themselves.
    pub(crate) folders: Vec<PathBuf>,
    /// Links below the paths and special files.
    pub(crate) skipped: u64,
}

impl Listing {
    /// Adds what is at and below `path`.
    pub(crate) fn add(&mut self, path: &Path) -> io::Result<()> {
        let kind = fs::metadata(path).map_err(|error| at(path, &error))?.file_type();
        if kind.is_file() && path.is_symlink() {
            // Listed paths are opened without following a link in their place.
            self.files.push(fs::canonicalize(path).map_err(|error| at(path, &error))?);
            return Ok(());
        }
        // A stack, read from its end: a deep tree cannot overflow it.
        let mut left = vec![(path.to_owned(), kind)];
        while let Some((entry, kind)) = left.pop() {
            if kind.is_dir() {
                match entries(&entry) {
                    Ok(entries) => left.extend(entries.into_iter().rev()),
                    // It was removed since its parent was read.
                    Err(error) if has_gone(&error) => {}
                    Err(error) => return Err(at(&entry, &error)),
                }
                if entry != path {
                    self.folders.push(entry);
                }
            } else if kind.is_file() {
                self.files.push(entry);
            } else {
                self.skipped += 1;
            }
        }
        Ok(())
    }

    /// Brings what was added from several paths into one order.
    pub(crate) fn sort(&mut self) {
        for paths in [&mut self.files, &mut self.folders] {
            paths.sort();
            paths.dedup();
        }
    }
}

/// A folder's entries, sorted by name.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<(PathBuf, fs::FileType)>> {
    let read = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.path(), entry.file_type()?))
    };
    let mut entries: Vec<_> = fs::read_dir(folder)?.map(read).collect::<io::Result<_>>()?;
    entries.sort_unstable_by(|(a, _), (b, _)| a.as_os_str().cmp(b.as_os_str()));
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(root: &Path, path: &Path) -> (Vec<String>, Vec<String>, u64) {
        let mut listing = Listing::default();
        listing.add(path).unwrap();
        listing.sort();
        let names = |paths: Vec<PathBuf>| {
            let name = |path: &PathBuf| path.strip_prefix(root).unwrap().display().to_string();
            paths.iter().map(name).collect()
        };
        (names(listing.files), names(listing.folders), listing.skipped)
    }

    #[test]
    fn regular_files_come_in_sorted_order_and_once() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        for file in ["b", "a/2", "a/1", "a/0/x", "a-", "c"] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        let (files, folders, _) = listed(root, root);
        assert_eq!(files, ["a/0/x", "a/1", "a/2", "a-", "b", "c"]);
        assert_eq!(folders, ["a", "a/0"]);
        assert_eq!(listed(root, &root.join("b")).0, ["b"]);
        let mut twice = Listing::default();
        for path in [root.join("c"), root.to_owned(), root.join("a")] {
            twice.add(&path).unwrap();
        }
        twice.sort();
        assert_eq!(twice.files.len(), 6);
        assert!(twice.add(&root.join("absent")).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn links_and_special_files_are_skipped() {
        use std::os::unix::{fs::symlink, net::UnixListener};

        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir(at("store")).unwrap();
        fs::write(at("store/file"), "x").unwrap();
        symlink("file", at("store/link")).unwrap();
        symlink(".", at("store/circle")).unwrap();
        let _socket = UnixListener::bind(at("store/socket")).unwrap();
        symlink("store", at("way")).unwrap();
        assert_eq!(listed(root.path(), &at("store")), (vec!["store/file".to_owned()], vec![], 3));
        assert_eq!(listed(root.path(), &at("way")).0, ["way/file"]);
        assert_eq!(listed(root.path(), &at("store/socket")), (vec![], vec![], 1));
    }
}
