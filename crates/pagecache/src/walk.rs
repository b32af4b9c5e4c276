//! The files of a store.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Visits `path`, or every regular file below it: each folder's entries sorted by their bytes,
/// folders entered where they stand.
pub(crate) fn files(path: &Path, visit: &mut dyn FnMut(&Path) -> io::Result<()>) -> io::Result<()> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() {
        return visit(path);
    }
    // A stack, read from its end: a deep tree cannot overflow it.
    let mut left = if kind.is_dir() { entries(path)? } else { Vec::new() };
    while let Some((path, kind)) = left.pop() {
        if kind.is_dir() {
            left.extend(entries(&path)?);
        } else if kind.is_file() {
            visit(&path)?;
        }
    }
    Ok(())
}

/// A folder's entries, last first.
fn entries(folder: &Path) -> io::Result<Vec<(PathBuf, fs::FileType)>> {
    let read = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.path(), entry.file_type()?))
    };
    let mut entries: Vec<_> = fs::read_dir(folder)?.map(read).collect::<io::Result<_>>()?;
    entries.sort_unstable_by(|(a, _), (b, _)| b.as_os_str().cmp(a.as_os_str()));
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(root: &Path, path: &Path) -> Vec<String> {
        let mut names = Vec::new();
        files(path, &mut |file| {
            names.push(file.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            Ok(())
        })
        .unwrap();
        names
    }

    #[test]
    fn regular_files_come_in_sorted_order() {
        let root = tempfile::tempdir().unwrap();
        for file in ["b", "a/2", "a/1", "a/0/x", "c"] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        assert_eq!(names(root.path(), root.path()), ["a/0/x", "a/1", "a/2", "b", "c"]);
        assert_eq!(names(root.path(), &root.path().join("b")), ["b"]);
        assert!(files(&root.path().join("absent"), &mut |_| Ok(())).is_err());
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
        assert_eq!(names(root.path(), &at("store")), ["store/file"]);
        assert_eq!(names(root.path(), &at("way")), ["way/file"]);
        assert!(names(root.path(), &at("store/socket")).is_empty());
    }
}
