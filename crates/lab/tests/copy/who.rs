//! Who may read a copy: nobody who may not read its source.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
};

use crate::common::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

fn set(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_copy_takes_the_mode_of_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (source, is) in [("pack", 0o600), ("sqlite", 0o640), ("files", 0o700), ("files", 0o755)] {
        let from = at(source, folder.path(), &format!("{source}-{is:o}"));
        integers(&from, 5);
        set(&path(&format!("{source}-{is:o}")), is);
        for to in ["pack", "sqlite", "files"] {
            let name = format!("{source}-{is:o}-{to}");
            copy(&from, &at(to, folder.path(), &name)).unwrap();
            let readers = is & 0o044;
            let wanted = if to == "files" {
                0o600 | readers | 0o100 | readers >> 2
            } else {
                0o600 | readers
            };
            assert_eq!(mode(&path(&name)) & 0o755, wanted, "{name}");
        }
    }
}

#[test]
fn one_private_file_makes_its_database_private() {
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = [("files", "from"), ("sqlite", "to")].map(|(e, n)| at(e, folder.path(), n));
    names(&from);
    set(&folder.path().join("from/a b"), 0o600);
    copy(&from, &to).unwrap();
    assert_eq!(mode(&folder.path().join("to")), 0o600);
}

#[test]
fn a_copied_folder_keeps_the_modes_of_its_folders() {
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| at("files", folder.path(), name));
    names(&from);
    set(&folder.path().join("from/a"), 0o700);
    set(&folder.path().join("from"), 0o750);
    copy(&from, &to).unwrap();
    assert_eq!(mode(&folder.path().join("to")), 0o750);
    assert_eq!(mode(&folder.path().join("to/a")), 0o700);
}

#[test]
fn what_is_replaced_does_not_open_a_private_source() {
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| at("sqlite", folder.path(), name));
    integers(&from, 5);
    integers(&to, 3);
    set(&folder.path().join("from"), 0o600);
    set(&folder.path().join("to"), 0o644);
    force(&from, &to).unwrap();
    assert_eq!(mode(&folder.path().join("to")), 0o600);
    fs::create_dir(folder.path().join("empty")).unwrap();
    set(&folder.path().join("empty"), 0o755);
    copy(&from, &at("files", folder.path(), "empty")).unwrap();
    assert_eq!(mode(&folder.path().join("empty")), 0o700);
}

#[test]
fn an_interrupted_copy_is_nobody_elses() {
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| at("pack", folder.path(), name));
    integers(&from, 5);
    let job = job(&from, &to);
    let stop = lab::Stop::new();
    let seen = Seen(&stop, partial(folder.path(), "to"), std::sync::Mutex::new(0));
    lab::copy(&job, &seen, &stop).unwrap_err();
    assert_eq!(*seen.2.lock().unwrap(), 0o700);
}

/// Notes the mode of a folder when copying starts, and stops it.
struct Seen<'s>(&'s lab::Stop, std::path::PathBuf, std::sync::Mutex<u32>);

impl lab::Progress for Seen<'_> {
    fn stage(&self, what: &str, _: Option<u64>) {
        if what == "copying" {
            *self.2.lock().unwrap() = mode(&self.1);
            self.0.set();
        }
    }

    fn advance_to(&self, _: u64) {}

    fn say(&self, _: &str) {}
}

/// Only root may give files away.
#[test]
fn owners_are_kept_where_that_is_allowed() {
    if lab::host::user_id() != Some(0) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = [("files", "from"), ("files", "to")].map(|(e, n)| at(e, folder.path(), n));
    names(&from);
    let path = |name: &str| folder.path().join(name);
    std::os::unix::fs::chown(path("from/a b"), Some(65534), Some(65534)).unwrap();
    std::os::unix::fs::chown(path("from"), Some(1), Some(1)).unwrap();
    copy(&from, &to).unwrap();
    let owner = |name| fs::metadata(path(name)).map(|meta| (meta.uid(), meta.gid())).unwrap();
    assert_eq!((owner("to"), owner("to/a b"), owner("to/a-b")), ((1, 1), (65534, 65534), (0, 0)));
}
