//! Renaming that replaces nothing.

use std::{fs, io, path::Path};

use model::{Error, Result};

/// Renames `from` to `to`, which must not exist: a file, folder or link there is an error of kind
/// `Exists` and stays as it is. Both must be on one file system.
///
/// Linux and macOS check and rename in one step. If the file system or the system cannot, a file is
/// linked under its new name, which is as safe; for a folder the name is checked first, which
/// leaves a moment in which another process could take it.
pub fn rename_new(from: &Path, to: &Path) -> Result<()> {
    at_once(from, to)
        .or_else(|| link_then_remove(from, to))
        .unwrap_or_else(|| check_then_rename(from, to))
        .map_err(|cause| {
            Error::io(format!("cannot rename {} to {}", from.display(), to.display()), cause)
        })
}

/// `None`: not possible here.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn at_once(from: &Path, to: &Path) -> Option<io::Result<()>> {
    use rustix::{
        fs::{CWD, RenameFlags, renameat_with},
        io::Errno,
    };

    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => None,
        done => Some(done.map_err(Into::into)),
    }
}

/// `None`: not possible here.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn at_once(_: &Path, _: &Path) -> Option<io::Result<()>> {
    None
}

/// `None`: folders cannot be linked, and some file systems have no links at all.
fn link_then_remove(from: &Path, to: &Path) -> Option<io::Result<()>> {
    match fs::hard_link(from, to) {
        Ok(()) => Some(fs::remove_file(from)),
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Some(Err(cause)),
        Err(_) => None,
    }
}

fn check_then_rename(from: &Path, to: &Path) -> io::Result<()> {
    match fs::symlink_metadata(to) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => fs::rename(from, to),
        Err(cause) => Err(cause),
    }
}

#[cfg(test)]
mod tests {
    use model::ErrorKind;

    use super::*;

    #[test]
    fn every_way_moves_a_file_and_replaces_none() {
        let ways: [fn(&Path, &Path) -> io::Result<()>; 3] = [
            |from, to| rename_new(from, to).map_err(|_| io::ErrorKind::AlreadyExists.into()),
            |from, to| link_then_remove(from, to).unwrap(),
            check_then_rename,
        ];
        for way in ways {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            fs::write(at("a"), "a").unwrap();
            fs::write(at("b"), "b").unwrap();
            assert_eq!(way(&at("a"), &at("b")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read(at("b")).unwrap(), b"b");
            way(&at("a"), &at("c")).unwrap();
            assert_eq!(fs::read(at("c")).unwrap(), b"a");
            assert!(!at("a").exists());
        }
    }

    #[test]
    fn an_empty_folder_is_not_replaced_either() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("from")).unwrap();
        fs::create_dir(at("to")).unwrap();
        assert_eq!(rename_new(&at("from"), &at("to")).unwrap_err().kind(), ErrorKind::Exists);
        assert!(link_then_remove(&at("from"), &at("new")).is_none());
        assert!(check_then_rename(&at("from"), &at("to")).is_err());
        rename_new(&at("from"), &at("new")).unwrap();
        assert!(at("new").is_dir());
    }

    #[test]
    fn an_absent_source_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = rename_new(&folder.path().join("x"), &folder.path().join("y")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Missing);
        assert!(error.to_string().contains("y: "), "{error}");
    }
}
