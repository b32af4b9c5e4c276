//! A file of an overlay, whose pages belong to the file system underneath.

use std::{fs, path::Path, process::Command};

use storemark_pagecache::{Files, page_size};

use crate::folder::folder;

/// Unmounted when dropped.
struct Overlay<'a>(&'a Path);

impl<'a> Overlay<'a> {
    /// None where this user may not mount one.
    fn mount(folder: &'a Path) -> Option<Self> {
        for name in ["lower", "upper", "work", "merged"] {
            fs::create_dir(folder.join(name)).unwrap();
        }
        let options = "lowerdir=lower,upperdir=upper,workdir=work";
        let mut mount = Command::new("mount");
        let mount = mount.args(["-t", "overlay", "overlay", "-o", options, "merged"]);
        let told = mount.current_dir(folder).output().ok()?;
        if !told.status.success() {
            eprintln!("no overlay here: {}", String::from_utf8_lossy(&told.stderr));
        }
        told.status.success().then_some(Self(folder))
    }
}

impl Drop for Overlay<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.join("merged")).status();
    }
}

#[test]
fn pages_of_the_file_underneath_count() {
    let folder = folder();
    let overlay = Overlay::mount(folder.path());
    let place = if overlay.is_some() { "merged" } else { "lower" };
    let path = folder.path().join("lower/file");
    fs::write(path, vec![1; 64 << 10]).unwrap();
    let files = Files::below([folder.path().join(place).join("file")]).unwrap();
    // Other programs may empty the caches at any time.
    let resident = (0..5).any(|_| {
        files.warm().unwrap();
        files.pages().unwrap().resident == (64 << 10) / page_size()
    });
    assert!(resident, "{:?}", files.pages());
}
