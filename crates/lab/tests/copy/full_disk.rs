//! A destination without room. Needs root, to mount a small file system; says so otherwise.
#![cfg(target_os = "linux")]

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use model::{ErrorKind, Key};

use crate::common::*;

/// A mounted tmpfs, unmounted when dropped.
struct Small(PathBuf);

impl Small {
    fn mount(at: &Path, size: &str) -> Option<Self> {
        std::fs::create_dir(at).unwrap();
        let size = format!("size={size}");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "storemark-test"])
            .arg(at)
            .stderr(std::process::Stdio::null())
            .status();
        if !mount.is_ok_and(|status| status.success()) {
            host::unchecked("root", "it mounts a tmpfs");
            return None;
        }
        Some(Self(at.to_owned()))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn too_little_room_is_an_error_before_anything_is_written() {
    let (folder, source) = source(3000);
    let Some(small) = Small::mount(&folder.path().join("small"), "4m") else { return };
    for engine in ["files", "pack", "sqlite"] {
        let (kind, line) = complaint(copy(&source, &at(engine, &small.0, "copy")));
        assert_eq!(kind, ErrorKind::Usage);
        assert!(line.contains("the copy takes about ") && line.contains(" free"), "{line}");
        assert!(entries(&small.0).is_empty());
    }
}

#[test]
fn a_disk_that_fills_up_is_an_error_of_one_line() {
    // 6 MB. The room is taken away once it has been looked at.
    let (folder, source) = source(3000);
    let Some(small) = Small::mount(&folder.path().join("small"), "16m") else { return };
    for engine in ["files", "pack", "sqlite"] {
        let to = at(engine, &small.0, "copy");
        let eater = Eater(&small.0);
        let (kind, line) = complaint(lab::copy(&job(&source, &to), &eater, &lab::Stop::new()));
        assert_eq!(kind, ErrorKind::Failed, "{line}");
        assert!(
            line.contains("No space left on device") || line.contains("disk is full"),
            "{line}"
        );
        assert!(line.contains("--resume") == partial(&small.0, "copy").exists(), "{line}");
        assert!(!small.0.join("copy").exists());
        std::fs::remove_file(small.0.join("eaten")).unwrap();
        resume(&source, &to).unwrap();
        assert_equal(&source, &to);
        remove(&small.0.join("copy"));
    }
    put(&source, Key::Int(1), b"the source was not held open");
}

fn remove(path: &Path) {
    if path.is_dir() {
        std::fs::remove_dir_all(path).unwrap();
    } else {
        std::fs::remove_file(path).unwrap();
    }
}

/// Fills the file system up when the copying begins.
struct Eater<'a>(&'a Path);

impl lab::Progress for Eater<'_> {
    fn stage(&self, what: &str, _: Option<u64>) {
        if what == "copying" {
            let eaten = std::fs::write(self.0.join("eaten"), vec![1; 12 << 20]);
            // A program that is being started may hold open for a moment what was just removed.
            let full = |error: &std::io::Error| error.kind() == std::io::ErrorKind::StorageFull;
            assert!(eaten.as_ref().err().is_none_or(full), "{eaten:?}");
        }
    }
    fn advance_to(&self, _: u64) {}
    fn say(&self, _: &str) {}
}
