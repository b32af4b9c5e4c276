//! Throw-away file systems (Linux): an image file in a scratch folder, on a loop device without the
//! page cache if that is possible, mounted next to it by the system's own programs. The [scratch
//! folder](crate::Scratch) that holds them unmounts and detaches them before it is removed.

use std::{
    ffi::OsStr,
    fmt,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use model::{Error, Result, units::show_size};

use crate::{files::user_id, os, programs::program, space::free_bytes, text::entries};

/// The extensions of an image and of the folder next to it that it is mounted on. The cleanup
/// guard's script knows them too.
const IMAGE: &str = "image";
pub(crate) const MOUNT: &str = "mount";

/// A kind of file system that an image can be made of.
#[derive(Debug, PartialEq, Eq)]
pub struct ImageKind {
    /// The name, which is also the kernel's.
    pub(crate) name: &'static str,
    /// The Debian package with the program `mkfs.NAME`.
    package: &'static str,
    /// The options of `mkfs`, which leave nothing to the background.
    options: &'static [&'static str],
    /// The least bytes of an image.
    least: u64,
}

impl ImageKind {
    /// All kinds, in the order of messages.
    pub const ALL: &[Self] = &[
        Self {
            name: "ext4",
            package: "e2fsprogs",
            options: &["-q", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
            least: 8 << 20,
        },
        Self { name: "xfs", package: "xfsprogs", options: &["-q"], least: 300 << 20 },
        Self { name: "btrfs", package: "btrfs-progs", options: &["-q"], least: 110 << 20 },
    ];

    fn mkfs(&self) -> String {
        format!("mkfs.{}", self.name)
    }
}

impl fmt::Display for ImageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// Checks that images of these kinds, of `bytes` each, can be created in `folder`.
///
/// # Errors
///
/// Fails if a tool, the permission or space is missing; the sentence says what helps.
pub(crate) fn check_images(kinds: &[&ImageKind], bytes: u64, folder: &Path) -> Result<()> {
    for kind in kinds {
        let wrong = |why: String| Error::usage(why.clone()).at(kind);
        if !cfg!(target_os = "linux") {
            let why = "images are mounted on Linux only; a folder on such a file system can be named instead";
            return Err(Error::unsupported(why.to_string()).at(kind));
        }
        may_mount(user_id()).map_err(wrong)?;
        let tools = [("losetup", "mount"), ("mount", "mount"), ("umount", "mount")];
        for (name, package) in [(&*kind.mkfs(), kind.package)].into_iter().chain(tools) {
            program(name).ok_or_else(|| {
                wrong(format!("{name} is not installed (Debian: apt-get install {package})"))
            })?;
        }
        if !Path::new("/dev/loop-control").exists() {
            return Err(wrong("there is no loop device (/dev/loop-control)".to_owned()));
        }
        if bytes < kind.least {
            let (asked, least) = (show_size(bytes), show_size(kind.least));
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

pub(crate) fn may_mount(user: Option<u32>) -> Result<(), String> {
    if user == Some(0) {
        return Ok(());
    }
    Err("only root may mount an image; a folder on such a file system can be named instead"
        .to_owned())
}

/// Mounts a folder of `folder`, a scratch folder, a second time, and returns the mount point: what
/// is opened there is distinct from everything else on the file system.
///
/// # Errors
///
/// Fails if this is not root on Linux.
pub(crate) fn mount_again(folder: &Path) -> Result<PathBuf> {
    if user_id() != Some(0) || !cfg!(target_os = "linux") {
        return Err(Error::unsupported("only root on Linux may have the system ask a scanner"));
    }
    let own = folder.join(format!("{}-again", entries(folder).count()));
    let point = own.with_extension(MOUNT);
    let created = fs::create_dir(&own).and_then(|()| fs::create_dir(&point));
    created.map_err(|e| Error::io(point.display(), e))?;
    run("mount", &["--bind"], &[&own, &point])?;
    Ok(point)
}

/// Creates an image in `folder`, a scratch folder, and returns its mount point. What was done
/// before an error is undone when the folder is removed.
pub(crate) fn mount_image(kind: &ImageKind, folder: &Path, bytes: u64) -> Result<PathBuf> {
    let number = entries(folder).count();
    let image = folder.join(format!("{number}-{kind}.{IMAGE}"));
    let point = image.with_extension(MOUNT);
    let file = File::create_new(&image).and_then(|file| file.set_len(bytes));
    file.and_then(|()| fs::create_dir(&point)).map_err(|e| Error::io(image.display(), e))?;
    let device = attach(&image)?;
    run(&kind.mkfs(), kind.options, &[&device])?;
    run("mount", &["-t", kind.name], &[&device, &point])?;
    // A device in use is detached once it is not: so only unmounting remains.
    run("losetup", &["--detach"], &[&device])?;
    Ok(point)
}

/// Attaches the image to a loop device, without the page cache unless the file system that holds it
/// refuses. A run reads back which it is when it describes its file systems.
fn attach(image: &Path) -> Result<PathBuf> {
    let device = run("losetup", &["--find", "--show", "--direct-io=on"], &[image])
        .or_else(|_| run("losetup", &["--find", "--show"], &[image]))?;
    Ok(device.trim().into())
}

/// Unmounts and detaches what [`mount_image`] left in `folder`, as far as possible: what is in use
/// is released once it is not.
pub(crate) fn release(folder: &Path) {
    for path in entries(folder).map(|entry| entry.path()) {
        let extension = path.extension().and_then(OsStr::to_str);
        if extension == Some(MOUNT) {
            // A folder that is mounted again is on the same device as what is around it.
            let _ = run("umount", &[], &[&path]).or_else(|_| run("umount", &["--lazy"], &[&path]));
        }
        if extension == Some(IMAGE) {
            let listed = run("losetup", &["--associated"], &[&path]);
            for device in devices(&listed.unwrap_or_default()) {
                let _ = run("losetup", &["--detach"], &[Path::new(device)]);
            }
        }
    }
}

/// Parses the devices from lines such as `/dev/loop0: [65024]:1234 (/path)`.
fn devices(listed: &str) -> impl Iterator<Item = &str> {
    listed.lines().filter_map(|line| line.split_once(':')).map(|(device, _)| device)
}

/// Runs a program in a process group of its own, so that a terminal's interrupt does not end it
/// early, and returns what it printed.
///
/// # Errors
///
/// Fails if it is not installed or exits with an error, with what it printed on standard error.
pub(crate) fn run(name: &str, options: &[&str], paths: &[&Path]) -> Result<String> {
    let path = program(name).ok_or_else(|| Error::usage(format!("{name} is not installed")))?;
    let mut command = Command::new(path);
    command.args(options).args(paths).stdin(Stdio::null());
    let output = os::in_own_group(&mut command).output().map_err(|e| Error::io(name, e))?;
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
        release(folder.path());
        assert!(folder.path().join("a.mount").exists());
        assert!(check_images(&[], u64::MAX, folder.path()).is_ok());
    }
}
