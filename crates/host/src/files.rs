//! Operations on files and folders that the standard library lacks.

use std::{
    fs::{self, DirBuilder, File, FileTimes, Metadata},
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use model::{Error, Result};

use crate::{Stop, os};

/// Returns the numbers of the file, folder or link at `path`, which `meta` describes: device and inode, on
/// Windows those of the volume and of the file in it. `None` if the system does not report them.
pub fn identity(path: &Path, meta: &Metadata) -> Option<(u64, u64)> {
    os::identity(path, meta)
}

/// Returns whether two paths lead to one file or folder.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let one = os::file_identity(one);
    one.is_some() && one == os::file_identity(other)
}

/// Returns the path with links resolved; on Windows as programs show it, without the prefix `\\?\` unless it is long.
///
/// # Errors
///
/// Fails if nothing is there.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().map(os::shown_path)
}

/// Returns the effective user (0 is root), if the system has such numbers.
pub fn user_id() -> Option<u32> {
    os::user_id()
}

/// Returns whether a file or folder belongs to this user: in a folder open to all, another user may
/// have set a trap under a name of ours.
pub fn is_mine(meta: &Metadata) -> bool {
    os::user_id().is_none_or(|user| user == os::owner(meta).0)
}

/// Returns whether other users may write to a file or folder.
pub fn is_open_to_write(meta: &Metadata) -> bool {
    os::user_id().is_some() && os::mode(meta) & 0o022 != 0
}

/// Returns whether its owner may move a folder to another one, which changes its entry `..`.
pub fn may_be_moved(meta: &Metadata) -> bool {
    os::mode(meta) & 0o300 == 0o300
}

/// Returns whether the folder at `path` is a mount point: it is on another device than its parent.
pub fn is_mount_point(path: &Path) -> bool {
    let device = |path: &Path| Some(os::file_identity(path)?.0);
    // The folder of `name` has an empty path.
    let parent = path.parent().map(|folder| folder.join("."));
    device(path) != parent.as_deref().and_then(device)
}

/// Creates a folder of this mode, if the system has modes.
///
/// # Errors
///
/// Fails if something exists at `path`, or its parent does not.
pub fn create_folder(path: &Path, mode: u32) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    os::set_creation_mode(&mut builder, mode);
    builder.create(path)
}

/// Checks that this user can create files in `folder`, by creating one: permissions do not show it
/// for root, nor for file systems like proc.
///
/// # Errors
///
/// Fails if the file cannot be created or removed.
pub fn check_writable(folder: &Path) -> io::Result<()> {
    static TRIED: AtomicU32 = AtomicU32::new(0);
    let number = TRIED.fetch_add(1, Relaxed);
    let file = folder.join(format!(".storemark-{}-{number}", std::process::id()));
    File::create_new(&file)?;
    fs::remove_file(file)
}

const BUFFER: usize = 1 << 20;

/// Copies the bytes, times and mode of the file `from` to `to`, which must not exist; returns the
/// number of bytes. After a failure there is nothing at `to`.
///
/// The bytes go through memory on purpose: `copy_file_range` may let both files share their blocks,
/// and the first write to the copy would then pay for separating them.
///
/// # Errors
///
/// Fails if `from` cannot be read, `to` exists or cannot be written, or the work has to stop.
pub fn copy_file(from: &Path, to: &Path, stop: &Stop) -> Result<u64> {
    let read = |cause| Error::io(from.display(), cause);
    let mut source = File::open(from).map_err(read)?;
    // Reading it may change when it was last read.
    let meta = source.metadata().map_err(read)?;
    let mut copy = File::create_new(to).map_err(|cause| Error::io(to.display(), cause))?;
    let failed =
        |cause| Error::io(format!("cannot copy {} to {}", from.display(), to.display()), cause);
    let filled = fill(&mut source, &mut copy, stop, failed);
    let done = filled.and_then(|bytes| finish(&copy, &meta).map(|()| bytes).map_err(failed));
    if done.is_err() {
        // The first failure is the one to report.
        let _ = fs::remove_file(to);
    }
    done
}

fn fill(
    source: &mut File,
    copy: &mut File,
    stop: &Stop,
    failed: impl Fn(io::Error) -> Error,
) -> Result<u64> {
    let (mut buffer, mut all) = (vec![0; BUFFER], 0);
    loop {
        stop.check()?;
        match source.read(&mut buffer) {
            Ok(0) => return Ok(all),
            Ok(length) => {
                copy.write_all(&buffer[..length]).map_err(&failed)?;
                all += length as u64;
            }
            Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
            Err(cause) => return Err(failed(cause)),
        }
    }
}

/// Gives the copy the times and mode of its source.
fn finish(copy: &File, meta: &Metadata) -> io::Result<()> {
    copy.set_times(FileTimes::new().set_accessed(meta.accessed()?).set_modified(meta.modified()?))?;
    if cfg!(windows) && meta.permissions().readonly() {
        // Nobody can flush it any more afterwards.
        copy.sync_all()?;
    }
    copy.set_permissions(meta.permissions())
}

/// Renames `from` to `to`, which must not exist. Both must be on one file system.
///
/// Linux and macOS check and rename in one step. If the file system or the system cannot, a file is
/// linked under its new name, which is as safe; for a folder the name is checked first, which
/// leaves a moment in which another process could take it.
///
/// # Errors
///
/// Fails with the kind `Exists` if a file, folder or link is at `to`, which stays as it is.
pub fn rename_new(from: &Path, to: &Path) -> Result<()> {
    os::rename_new(from, to)
        .or_else(|| link_then_remove(from, to))
        .unwrap_or_else(|| check_then_rename(from, to))
        .map_err(|cause| {
            Error::io(format!("cannot rename {} to {}", from.display(), to.display()), cause)
        })
}

/// Exchanges the names of two files or folders, so that at every moment both names exist; returns
/// `None` if the file system or the system cannot.
pub fn exchange(one: &Path, other: &Path) -> Option<Result<()>> {
    let failed = |cause| {
        Error::io(format!("cannot exchange {} and {}", one.display(), other.display()), cause)
    };
    Some(os::exchange(one, other)?.map_err(failed))
}

/// Links a file under its new name and removes the old one. Returns `None` if it cannot be linked:
/// folders never can, and some file systems have no links.
fn link_then_remove(from: &Path, to: &Path) -> Option<io::Result<()>> {
    match fs::hard_link(from, to) {
        Ok(()) => Some(fs::remove_file(from)),
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => Some(Err(cause)),
        Err(_) => None,
    }
}

fn check_then_rename(from: &Path, to: &Path) -> io::Result<()> {
    match fs::symlink_metadata(to) {
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
        Err(cause) if cause.kind() == ErrorKind::NotFound => fs::rename(from, to),
        Err(cause) => Err(cause),
    }
}

#[cfg(test)]
mod copy_tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn bytes_times_and_mode_are_copied() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a"), folder.path().join("b"));
        let bytes: Vec<u8> = (0..=250).cycle().take(BUFFER * 2 + 7).collect();
        fs::write(&from, &bytes).unwrap();
        let then = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_000_000);
        let times = FileTimes::new().set_modified(then).set_accessed(then);
        File::options().write(true).open(&from).unwrap().set_times(times).unwrap();
        let mut permissions = fs::metadata(&from).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&from, permissions.clone()).unwrap();

        assert_eq!(copy_file(&from, &to, &Stop::new()).unwrap(), bytes.len() as u64);
        // Before it is read.
        let copied = fs::metadata(&to).unwrap();
        assert_eq!(fs::read(&to).unwrap(), bytes);
        assert_eq!([copied.modified().unwrap(), copied.accessed().unwrap()], [then, then]);
        assert_eq!(fs::metadata(&to).unwrap().permissions(), permissions);
    }

    #[test]
    fn nothing_is_overwritten_and_no_part_of_a_copy_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "a").unwrap();
        fs::write(at("b"), "b").unwrap();
        let copy = |from: &Path, to: &str| copy_file(from, &at(to), &Stop::new());
        assert_eq!(copy(&at("a"), "b").unwrap_err().kind(), model::ErrorKind::Exists);
        assert_eq!(fs::read(at("b")).unwrap(), b"b");
        assert!(copy(folder.path(), "c").is_err());
        let stop = Stop::new();
        stop.set();
        let stopped = copy_file(&at("a"), &at("c"), &stop).unwrap_err();
        assert_eq!(stopped.kind(), model::ErrorKind::Interrupted);
        assert!(!at("c").exists());
    }
}

#[cfg(test)]
mod rename_tests {
    use model::ErrorKind;

    use super::*;

    #[test]
    fn two_folders_exchange_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a", "b"] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("name"), name).unwrap();
        }
        let Some(done) = exchange(&at("a"), &at("b")) else {
            let is_linux = cfg!(target_os = "linux");
            return assert!(!is_linux, "ext4, XFS, btrfs and tmpfs can");
        };
        done.unwrap();
        assert_eq!(fs::read(at("a").join("name")).unwrap(), b"b");
        assert_eq!(fs::read(at("b").join("name")).unwrap(), b"a");
        assert!(exchange(&at("a"), &at("absent")).unwrap().is_err());
    }

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
    #[cfg(windows)]
    fn a_file_that_another_program_has_open_is_renamed_once_it_is_closed() {
        use std::{os::windows::fs::OpenOptionsExt, thread, time::Duration};

        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("from"), "x").unwrap();
        let open = File::options().read(true).share_mode(0).open(at("from")).unwrap();
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(200));
            drop(open);
        });
        rename_new(&at("from"), &at("to")).unwrap();
        assert!(at("to").exists());
    }

    #[test]
    fn an_absent_source_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = rename_new(&folder.path().join("x"), &folder.path().join("y")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Missing);
        assert!(error.to_string().contains("y: "), "{error}");
    }
}

#[cfg(test)]
mod write_tests {
    use super::*;

    #[test]
    fn a_folder_of_ones_own_is_writable() {
        let folder = tempfile::tempdir().unwrap();
        check_writable(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        check_writable(&folder.path().join("absent")).unwrap_err();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn not_even_root_can_write_to_proc() {
        check_writable(Path::new("/proc")).unwrap_err();
    }
}
