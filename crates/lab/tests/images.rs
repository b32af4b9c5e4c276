//! Throw-away images: mounted, told as what they are, and gone with their scratch folder; where none
//! can be mounted, that is said.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

// The name the workspace calls it by.
extern crate storemark_lab as lab;

use std::{fs, path::Path};

use lab::host::{self, FilesystemChoice, ImageKind, Placements};

const BYTES: u64 = 320 << 20;

fn mounted_below(folder: &Path) -> usize {
    let folder = folder.canonicalize().unwrap().display().to_string();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    mounts.lines().filter(|line| line.contains(&folder)).count()
}

fn attached_below(folder: &Path) -> usize {
    let folder = folder.canonicalize().unwrap().display().to_string();
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let files = devices
        .filter_map(|device| fs::read_to_string(device.path().join("loop/backing_file")).ok());
    files.filter(|file| file.contains(&folder)).count()
}

#[test]
fn images_are_what_they_are_called_and_go_with_their_scratch_folder() {
    let folder = tempfile::tempdir().unwrap();
    let on: Vec<_> = ImageKind::ALL.iter().map(FilesystemChoice::Image).collect();
    let sites = match Placements::open(&on, BYTES, folder.path()) {
        Ok(sites) => sites,
        Err(why) => {
            let why = why.to_string();
            let honest = ["only root", "not installed", "no loop device", "failed (exit status"];
            assert!(honest.iter().any(|words| why.contains(words)), "{why}");
            return assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        }
    };
    let names: Vec<_> = sites.or_none().flatten().map(|site| site.name.clone()).collect();
    assert_eq!(names, ["ext4", "xfs", "btrfs"]);
    for site in sites.or_none().flatten() {
        fs::write(site.path.join("file"), "x").unwrap();
        let told = host::environment(std::slice::from_ref(&site.path)).filesystems.remove(0);
        assert_eq!(told.kind, site.name);
        assert!(told.loop_direct_io.is_some(), "{told:?}");
    }
    assert_eq!((mounted_below(folder.path()), attached_below(folder.path())), (3, 3));
    drop(sites);
    assert_eq!((mounted_below(folder.path()), attached_below(folder.path())), (0, 0));
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}
