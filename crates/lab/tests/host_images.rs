//! What the host tells of a loop device and a compressing file system: on a real image where this
//! user may mount one, and that it claims neither where not.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

// The name the workspace calls it by.
extern crate storemark_lab as lab;

use std::{
    env,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use lab::host;
use model::Filesystem;
use tempfile::TempDir;

/// The least that mkfs.btrfs takes is 109 MiB; the file is sparse.
const IMAGE_BYTES: u64 = 110 << 20;

/// A compressing btrfs in an image file, mounted through a loop device. Unmounted, detached and
/// removed when it is dropped.
struct Image {
    folder: TempDir,
    device: Option<String>,
    mounted: bool,
}

impl Image {
    /// Or what could not be done here.
    fn mount() -> Result<Self, String> {
        let mut image = Self { folder: tempfile::tempdir().unwrap(), device: None, mounted: false };
        let (file, mount) = (image.folder.path().join("image"), image.mount_point());
        File::create(&file).unwrap().set_len(IMAGE_BYTES).unwrap();
        fs::create_dir(&mount).unwrap();
        command("mkfs.btrfs", &["-q".as_ref(), &file])?;
        let losetup = ["--find", "--show", "--direct-io=off"].map(Path::new);
        let [find, show, cached] = losetup;
        let device = command("losetup", &[find, show, cached, &file])?.trim().to_owned();
        image.device = Some(device.clone());
        let options = ["-t", "btrfs", "-o", "compress=zstd"].map(Path::new);
        let [t, kind, o, compress] = options;
        command("mount", &[t, kind, o, compress, device.as_ref(), &mount])?;
        image.mounted = true;
        Ok(image)
    }

    fn mount_point(&self) -> PathBuf {
        self.folder.path().join("mount")
    }

    fn told(&self) -> Filesystem {
        filesystem(&self.mount_point().join("not/there/yet"))
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // The mount before its device; the folder goes last, by itself.
        if self.mounted {
            report(command("umount", &[&self.mount_point()]));
        }
        if let Some(device) = &self.device {
            report(command("losetup", &["--detach".as_ref(), device.as_ref()]));
        }
    }
}

/// A second panic would hide the first.
fn report(done: Result<String, String>) {
    if let Err(why) = done {
        eprintln!("{why}");
    }
}

fn command(program: &str, arguments: &[&Path]) -> Result<String, String> {
    // Where Debian's mkfs and losetup are, which not every user's path names.
    let path = format!("{}:/usr/sbin:/sbin", env::var("PATH").unwrap_or_default());
    let output = Command::new(program).args(arguments).env("PATH", path).output();
    let output = output.map_err(|e| format!("{program}: {e}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let done = output.status.success();
    done.then(|| text(&output.stdout)).ok_or_else(|| format!("{program}: {}", text(&output.stderr)))
}

fn filesystem(path: &Path) -> Filesystem {
    let mut all = host::environment(&[path.to_owned()]).filesystems;
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

/// Where no image can be mounted: nothing is claimed of the file system that is there.
fn nothing_is_claimed(why: &str) {
    eprintln!("no image can be mounted here: {why}");
    let folder = tempfile::tempdir().unwrap();
    let told = filesystem(folder.path());
    let looped = told.loop_direct_io.is_some();
    let may_be_looped = ["/dev/loop", "/dev/mapper", "/dev/dm-", "/dev/md"]
        .into_iter()
        .any(|device| told.device.starts_with(device));
    assert!(!looped || may_be_looped, "{told:?}");
    let may_compress = ["btrfs", "bcachefs", "f2fs", "ntfs3", "zfs"];
    assert!(told.compression.is_none() || may_compress.contains(&told.kind.as_str()), "{told:?}");
}

#[test]
fn a_loop_device_and_compression_are_told() {
    let image = match Image::mount() {
        Ok(image) => image,
        Err(why) => return nothing_is_claimed(&why),
    };
    let told = image.told();
    assert_eq!((told.kind.as_str(), Some(&told.device)), ("btrfs", image.device.as_ref()));
    assert_eq!(told.compression.as_deref(), Some("zstd:3"), "{told:?}");
    assert_eq!(told.loop_direct_io, Some(false), "{told:?}");
    writes_are_counted(&image.mount_point());
    let device = Path::new(&told.device);
    match command("losetup", &["--direct-io=on".as_ref(), device]) {
        Ok(_) => assert_eq!(image.told().loop_direct_io, Some(true)),
        // The file system that holds the image may not offer it.
        Err(why) => {
            eprintln!("{why}");
            assert_eq!(image.told().loop_direct_io, Some(false));
        }
    }
}

/// Bytes that do not compress reach the device under a btrfs, whose own number has no device.
fn writes_are_counted(mount: &Path) {
    let before = host::device(mount).unwrap();
    let mut random = vec![0; 1 << 20];
    blake3::Hasher::new().finalize_xof().fill(&mut random);
    let mut file = File::create(mount.join("random")).unwrap();
    file.write_all(&random).unwrap();
    file.sync_all().unwrap();
    let moved = host::device(mount).unwrap().since(before);
    assert!((1 << 20..1 << 27).contains(&moved.written_bytes), "{moved:?}");
}
