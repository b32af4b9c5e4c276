//! The differences among file systems and operating systems.

use std::{
    collections::HashMap,
    ffi::OsString,
    fs::{self, File, Metadata},
    io,
    path::{Component, Path},
};

use crate::entry::{Kind, Stat};

/// Returns the kind of an entry; `None` for a device, socket or pipe.
fn kind(meta: &Metadata) -> Option<Kind> {
    let file_type = meta.file_type();
    match (file_type.is_file(), file_type.is_dir(), file_type.is_symlink()) {
        (true, ..) => Some(Kind::File),
        (_, true, _) => Some(Kind::Folder),
        (.., true) => Some(Kind::Link),
        _ => None,
    }
}

/// Returns whether a name from a catalogue is that of one entry of a folder, and leads nowhere
/// else.
pub(crate) fn is_name(bytes: &[u8]) -> bool {
    let name = name(bytes);
    let mut components = Path::new(&name).components();
    let first = components.next();
    !bytes.contains(&0)
        && matches!(first, Some(Component::Normal(only)) if only == name)
        && components.next().is_none()
}

/// Returns whether an error concerns all further writes, not only one path.
pub(crate) fn concerns_all(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};

    matches!(error.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem)
}

/// Opens a regular file to read.
///
/// # Errors
///
/// Fails if anything else is at the path.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let file = open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("is not a file")) }
}

/// The file systems that a walk encounters, by device.
#[derive(Default)]
pub(crate) struct Filesystems(HashMap<u64, u64>);

impl Filesystems {
    /// Returns a number of the file system that the entry at `path` is on. Two that are mounted at
    /// the same time have different numbers, and so has one that is mounted where another one was.
    pub(crate) fn number(&mut self, path: &Path, meta: &Metadata) -> u64 {
        // On Windows each entry would have to be opened, which takes longer than to see that it is unchanged.
        let identity = if cfg!(windows) { None } else { host::identity(path, meta) };
        let Some((device, _)) = identity else { return 0 };
        // A link may lead to another one.
        let path = if meta.is_symlink() { path.parent().unwrap_or(path) } else { path };
        *self.0.entry(device).or_insert_with(|| {
            let sum = blake3::hash(&filesystem(path, device));
            u64::from_le_bytes(*sum.as_bytes().first_chunk().expect("a sum has 32 bytes"))
        })
    }
}

#[cfg(unix)]
mod imp {
    use std::os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown, lchown, symlink},
    };

    #[cfg(target_os = "linux")]
    use rustix::fs::major;
    use rustix::fs::{
        AtFlags, CWD, OFlags, StatVfsMountFlags, Timespec, Timestamps, futimens, statvfs, utimensat,
    };

    use super::{File, Kind, Metadata, OsString, Path, Stat, fs, io, kind};

    /// Returns the facts about an entry; `None` for a device, socket or pipe.
    pub(crate) fn stat(meta: &Metadata) -> Option<Stat> {
        let nanoseconds = |ns: i64| u32::try_from(ns).unwrap_or_default();
        Some(Stat {
            kind: kind(meta)?,
            mode: meta.mode(),
            user: meta.uid(),
            group: meta.gid(),
            modified: (meta.mtime(), nanoseconds(meta.mtime_nsec())),
            changed: (meta.ctime(), nanoseconds(meta.ctime_nsec())),
            size: meta.size(),
            inode: meta.ino(),
            links: u32::try_from(meta.nlink()).unwrap_or(u32::MAX),
            filesystem: 0,
        })
    }

    /// The major number of loop devices on Linux.
    const LOOP: u32 = 7;

    /// Returns the major number of a device: elsewhere those have 32 bits.
    #[cfg(not(target_os = "linux"))]
    fn major(device: u64) -> u32 {
        rustix::fs::Dev::try_from(device).map_or(0, rustix::fs::major)
    }

    /// Returns what distinguishes a file system from others: its own number, its device if that has
    /// a number that stays, and if it is read-only or in an image its mount. The files of an image
    /// may have any numbers and times, and another image may be on the same device later.
    pub(super) fn filesystem(path: &Path, device: u64) -> Vec<u8> {
        let Ok(stat) = statvfs(path) else { return device.to_le_bytes().to_vec() };
        let major = major(device);
        let stays = major != 0 || stat.f_fsid == 0;
        let mut numbers =
            [stat.f_fsid, if stays { device } else { 0 }].map(u64::to_le_bytes).concat();
        let is_image = cfg!(target_os = "linux") && major == LOOP;
        if is_image || stat.f_flag.contains(StatVfsMountFlags::RDONLY) {
            numbers.extend(mount(path));
        }
        numbers
    }

    /// Returns bytes that no other mount has, nor this one after it is mounted again. If the system
    /// does not number mounts in this way, no two backups take a mount for the same.
    #[cfg(target_os = "linux")]
    fn mount(path: &Path) -> Vec<u8> {
        use rustix::fs::{StatxFlags, statx};

        /// `STATX_MNT_ID_UNIQUE`, of Linux 6.8.
        const UNIQUE: StatxFlags = StatxFlags::from_bits_retain(0x4000);
        let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, UNIQUE);
        let found = found.ok().filter(|found| found.stx_mask & UNIQUE.bits() != 0);
        let boot = fs::read("/proc/sys/kernel/random/boot_id").ok();
        match found.zip(boot) {
            Some((found, boot)) => [&found.stx_mnt_id.to_le_bytes()[..], &boot].concat(),
            None => host::random().to_le_bytes().to_vec(),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn mount(_: &Path) -> Vec<u8> {
        host::random().to_le_bytes().to_vec()
    }

    pub(crate) fn bytes(name: OsString) -> Vec<u8> {
        name.into_vec()
    }

    pub(crate) fn name(bytes: &[u8]) -> OsString {
        std::ffi::OsStr::from_bytes(bytes).to_owned()
    }

    pub(crate) fn link(target: &[u8], path: &Path) -> io::Result<()> {
        symlink(name(target), path)
    }

    /// Sets owner, mode and time.
    ///
    /// # Errors
    ///
    /// Fails if the owner cannot be set, after mode and time are set.
    pub(crate) fn restore(path: &Path, stat: &Stat) -> io::Result<()> {
        let (mode, given) = give(stat, |user, group| lchown(path, user, group));
        if stat.kind != Kind::Link {
            fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        }
        utimensat(CWD, path, &times(stat), AtFlags::SYMLINK_NOFOLLOW)?;
        given
    }

    /// Sets owner, mode and time of an open file, as [`restore`] does.
    pub(crate) fn restore_file(file: &File, stat: &Stat) -> io::Result<()> {
        let (mode, given) = give(stat, |user, group| fchown(file, user, group));
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        futimens(file, &times(stat))?;
        given
    }

    /// Sets owner and group, and returns the mode that is right then: with another owner no
    /// set-user-ID bit, with another group no set-group-ID bit, and for the group no more than for
    /// others. Only root can give a file away: for other users it is theirs, and no error.
    fn give(
        stat: &Stat,
        chown: impl Fn(Option<u32>, Option<u32>) -> io::Result<()>,
    ) -> (u32, io::Result<()>) {
        let user = rustix::process::geteuid();
        let mut mode = stat.mode & 0o7777;
        let given = if user.is_root() { chown(Some(stat.user), Some(stat.group)) } else { Ok(()) };
        if user.is_root() && given.is_ok() {
            return (mode, given);
        }
        if user.as_raw() != stat.user {
            mode &= !0o4000;
        }
        if chown(None, Some(stat.group)).is_err() {
            mode &= !0o2070 | (mode & 0o007) << 3;
        }
        (mode, given)
    }

    /// Creates a file that only this user can read.
    pub(crate) fn create(path: &Path) -> io::Result<File> {
        fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
    }

    /// Opens a file to write, as [`open`] does, or creates one that only this user can read.
    pub(crate) fn open_to_write(path: &Path) -> io::Result<File> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
        options.open(path)
    }

    fn times(stat: &Stat) -> Timestamps {
        let time = Timespec { tv_sec: stat.modified.0, tv_nsec: stat.modified.1.into() };
        Timestamps { last_access: time, last_modification: time }
    }

    /// Opens a file to read. A link that has replaced it is refused, and a pipe not waited for.
    pub(crate) fn open(path: &Path) -> io::Result<File> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        fs::OpenOptions::new().read(true).custom_flags(flags).open(path)
    }

    pub(crate) fn read_at(file: &File, room: &mut [u8], offset: u64) -> io::Result<()> {
        file.read_exact_at(room, offset)
    }

    /// Flushes the names in a folder.
    pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}

#[cfg(windows)]
mod imp {
    use std::{
        io::{Read, Seek, SeekFrom},
        os::windows::fs::OpenOptionsExt,
    };

    use super::{File, Kind, Metadata, OsString, Path, Stat, fs, io, kind};

    pub(crate) fn stat(meta: &Metadata) -> Option<Stat> {
        let modified = meta.modified().map(model::unix_time).unwrap_or_default();
        Some(Stat { kind: kind(meta)?, modified, size: meta.len(), links: 1, ..Stat::GONE })
    }

    pub(crate) fn bytes(name: OsString) -> Vec<u8> {
        name.to_string_lossy().into_owned().into_bytes()
    }

    pub(crate) fn name(bytes: &[u8]) -> OsString {
        String::from_utf8_lossy(bytes).into_owned().into()
    }

    pub(crate) fn link(_: &[u8], _: &Path) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "symbolic links are not restored here"))
    }

    pub(super) fn filesystem(_: &Path, device: u64) -> Vec<u8> {
        device.to_le_bytes().to_vec()
    }

    pub(crate) fn create(path: &Path) -> io::Result<File> {
        File::create_new(path)
    }

    pub(crate) fn open_to_write(path: &Path) -> io::Result<File> {
        fs::OpenOptions::new().write(true).create(true).truncate(false).open(path)
    }

    /// The access that setting a time takes, and the flag without which no folder is opened
    /// (<https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-createfilew>).
    const FILE_WRITE_ATTRIBUTES: u32 = 0x100;
    const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;

    /// Sets the time.
    pub(crate) fn restore(path: &Path, stat: &Stat) -> io::Result<()> {
        if stat.kind == Kind::Link {
            return Ok(());
        }
        let mut options = fs::OpenOptions::new();
        options.access_mode(FILE_WRITE_ATTRIBUTES).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
        restore_file(&options.open(path)?, stat)
    }

    pub(crate) fn restore_file(file: &File, stat: &Stat) -> io::Result<()> {
        let (seconds, nanoseconds) = stat.modified;
        let time = model::system_time(seconds, nanoseconds).ok_or(io::ErrorKind::InvalidInput)?;
        file.set_modified(time)
    }

    pub(crate) fn open(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    pub(crate) fn read_at(mut file: &File, room: &mut [u8], offset: u64) -> io::Result<()> {
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(room)
    }

    #[expect(clippy::unnecessary_wraps, reason = "as on systems where it can fail")]
    pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
        Ok(())
    }
}

use imp::filesystem;
pub(crate) use imp::{
    bytes, create, link, name, open, open_to_write, read_at, restore, restore_file, stat,
    sync_folder,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_nowhere_else() {
        for name in ["", ".", "..", "/", "/etc", "a/b", "a/", "./a", "../a", "a/..", "a\0b", "\0"] {
            assert!(!is_name(name.as_bytes()), "{name:?}");
        }
        for name in ["a", "...", ".a", "..a", "a b", "\u{1b}[2J", "\n"] {
            assert!(is_name(name.as_bytes()), "{name:?}");
        }
    }
}
