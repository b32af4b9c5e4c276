//! Removing what was copied.

use std::{fs, io, path::Path};

/// Removes the file, link or folder at `path`, with all in it. Folders that their owner may not
/// change, as copied ones can be, are opened up first where they stand in the way.
pub(super) fn remove_all(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.is_dir() {
        return fs::remove_file(path);
    }
    fs::remove_dir_all(path).or_else(|_| {
        open_up(path);
        fs::remove_dir_all(path)
    })
}

/// Lets the owner into `path` and all folders below it. What fails here fails again, and is
/// reported, when it is removed.
fn open_up(path: &Path) {
    allow_all(path);
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

#[cfg(unix)]
fn allow_all(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
}

#[cfg(not(unix))]
fn allow_all(_: &Path) {}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    // As root, who may do anything, this shows less than it says.
    #[test]
    fn read_only_folders_are_no_obstacle() {
        use std::os::unix::fs::PermissionsExt;

        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("folder");
        fs::create_dir_all(folder.join("closed/deeper")).unwrap();
        fs::write(folder.join("closed/deeper/file"), "x").unwrap();
        for closed in ["closed/deeper", "closed"] {
            fs::set_permissions(folder.join(closed), fs::Permissions::from_mode(0o555)).unwrap();
        }
        remove_all(&folder).unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn a_link_is_removed_and_not_what_it_leads_to() {
        let parent = tempfile::tempdir().unwrap();
        let (file, link) = (parent.path().join("file"), parent.path().join("link"));
        fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        remove_all(&link).unwrap();
        assert!(file.exists() && !link.is_symlink());
    }
}
