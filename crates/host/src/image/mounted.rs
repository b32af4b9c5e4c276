//! Creating, mounting and releasing images by the system's own programs.

use std::{
    ffi::OsStr,
    fs::{self, File},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use model::{Error, Result, units::show_size};

use super::ImageKind;
use crate::{programs::program, space::free_bytes, user::user_id};

/// Extensions of an image and of the folder next to it that it is mounted on. The cleanup guard's
/// script knows them too.
const IMAGE: &str = "image";
const MOUNT: &str = "mount";

/// How an image is created.
struct Mkfs {
    program: &'static str,
    /// Debian's.
    package: &'static str,
    /// Whatever could be left to the background is done immediately.
    options: &'static [&'static str],
    /// The least size that the program accepts.
    least: u64,
}

impl ImageKind {
    fn mkfs(self) -> Mkfs {
        match self {
            Self::Ext4 => Mkfs {
                program: "mkfs.ext4",
                package: "e2fsprogs",
                options: &["-q", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
                least: 8 << 20,
            },
            Self::Xfs => Mkfs {
                program: "mkfs.xfs",
                package: "xfsprogs",
                options: &["-q"],
                least: 300 << 20,
            },
            Self::Btrfs => Mkfs {
                program: "mkfs.btrfs",
                package: "btrfs-progs",
                options: &["-q"],
                least: 110 << 20,
            },
        }
    }
}

/// Checks that images of these kinds, of `bytes` each, can be created in `folder`.
pub fn check_images(kinds: &[ImageKind], bytes: u64, folder: &Path) -> Result<()> {
    for kind in kinds {
        let wrong = |why: String| Error::usage(format!("{kind}: {why}"));
        may_mount(user_id()).map_err(wrong)?;
        let Mkfs { program: mkfs, package, least, .. } = kind.mkfs();
        for (name, package) in
            [(mkfs, package), ("losetup", "mount"), ("mount", "mount"), ("umount", "mount")]
        {
            program(name).ok_or_else(|| {
                wrong(format!("{name} is not installed (Debian: apt-get install {package})"))
            })?;
        }
        if !Path::new("/dev/loop-control").exists() {
            return Err(wrong("there is no loop device (/dev/loop-control)".to_owned()));
        }
        if bytes < least {
            let (asked, least) = (show_size(bytes), show_size(least));
            return Err(wrong(format!("an image of {asked} is too small; it takes {least}")));
        }
    }
    let needed = bytes.saturating_mul(kinds.len() as u64);
    let free = if kinds.is_empty() { u64::MAX } else { free_bytes(folder)? };
    if free < needed {
        return Err(Error::usage(format!(
            "images may take {}, {} has {} free; a smaller size, or another place, helps",
            show_size(needed),
            folder.display(),
            show_size(free)
        )));
    }
    Ok(())
}

fn may_mount(user: Option<u32>) -> Result<(), String> {
    if user == Some(0) {
        return Ok(());
    }
    Err("only root may mount an image; a folder on such a file system can be named instead"
        .to_owned())
}

/// Creates an image in `folder`, a scratch folder, and returns where it is mounted. What was done
/// before an error is undone when the folder is removed.
pub fn mount_image(kind: ImageKind, folder: &Path, bytes: u64) -> Result<PathBuf> {
    let number = fs::read_dir(folder).map_or(0, Iterator::count);
    let image = folder.join(format!("{number}-{kind}.{IMAGE}"));
    let point = image.with_extension(MOUNT);
    let file = File::create_new(&image).and_then(|file| file.set_len(bytes));
    file.and_then(|()| fs::create_dir(&point)).map_err(|e| Error::io(image.display(), e))?;
    let device = attach(&image)?;
    let device = OsStr::new(&device);
    let Mkfs { program, options, .. } = kind.mkfs();
    let options: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
    run(program, &[&options[..], &[device]].concat())?;
    run("mount", &["-t".as_ref(), kind.as_str().as_ref(), device, point.as_ref()])?;
    // A device in use is detached once it is not: so only unmounting remains to be done.
    run("losetup", &["--detach".as_ref(), device])?;
    Ok(point)
}

/// A loop device for the image, without the page cache unless the file system that holds it
/// refuses. A run reads back which it is when it describes its file systems.
fn attach(image: &Path) -> Result<String> {
    let find = ["--find", "--show"].map(OsStr::new);
    let direct = [&find[..], &["--direct-io=on".as_ref(), image.as_ref()]].concat();
    let device = run("losetup", &direct)
        .or_else(|_| run("losetup", &[&find[..], &[image.as_ref()]].concat()))?;
    Ok(device.trim().to_owned())
}

/// Unmounts and detaches what [`mount_image`] left in `folder`, as far as possible: what is in use
/// is released once it is not.
pub(crate) fn release(folder: &Path) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let ends = |with: &str| path.extension().is_some_and(|extension| extension == with);
        if ends(MOUNT) && is_mounted(&path) {
            let _ = run("umount", &[path.as_ref()])
                .or_else(|_| run("umount", &["--lazy".as_ref(), path.as_ref()]));
        }
        if ends(IMAGE) {
            let listed = run("losetup", &["--associated".as_ref(), path.as_ref()]);
            for device in devices(&listed.unwrap_or_default()) {
                let _ = run("losetup", &["--detach".as_ref(), device.as_ref()]);
            }
        }
    }
}

/// Whether another file system starts at `path`.
fn is_mounted(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| fs::metadata(path).ok().map(|meta| meta.dev());
    device(path) != path.parent().and_then(device)
}

/// `/dev/loop0: [65024]:1234 (/path)`, a line each.
fn devices(listed: &str) -> impl Iterator<Item = &str> {
    listed.lines().filter_map(|line| line.split_once(':')).map(|(device, _)| device)
}

/// Returns what the program printed. In a group of its own, a terminal's interrupt does not end
/// it early.
fn run(name: &str, arguments: &[&OsStr]) -> Result<String> {
    let path = program(name).ok_or_else(|| Error::usage(format!("{name} is not installed")))?;
    let mut command = Command::new(path);
    let command = command.args(arguments).stdin(Stdio::null()).process_group(0);
    let output = command.output().map_err(|e| Error::io(name, e))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<&str> = errors.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    Err(Error::usage(format!("{name} failed ({}): {}", output.status, errors.join("; "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_may_mount() {
        assert!(may_mount(Some(0)).is_ok());
        for user in [Some(1000), None] {
            assert!(may_mount(user).unwrap_err().contains("only root"));
        }
    }

    #[test]
    fn devices_are_read_from_what_losetup_prints() {
        let listed = "/dev/loop3: [65024]:12 (/x y/0-xfs.image)\n/dev/loop11: []: (/z)\n";
        assert_eq!(devices(listed).collect::<Vec<_>>(), ["/dev/loop3", "/dev/loop11"]);
        assert_eq!(devices("losetup\n\n").count(), 0);
    }

    #[test]
    fn a_folder_without_images_has_nothing_to_release() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a.mount")).unwrap();
        assert!(!is_mounted(&folder.path().join("a.mount")));
        release(folder.path());
        assert!(folder.path().join("a.mount").exists());
        assert!(check_images(&[], u64::MAX, folder.path()).is_ok());
    }
}
