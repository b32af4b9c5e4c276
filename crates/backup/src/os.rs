//! What file systems differ in.

use std::{
    ffi::OsString,
    fs::{self, File, Metadata},
    io,
    path::Path,
};

use crate::entry::{Kind, Stat};

/// What kind of entry it is; `None`: a device, socket or pipe.
fn kind(meta: &Metadata) -> Option<Kind> {
    let of = meta.file_type();
    match (of.is_file(), of.is_dir(), of.is_symlink()) {
        (true, ..) => Some(Kind::File),
        (_, true, _) => Some(Kind::Folder),
        (.., true) => Some(Kind::Link),
        _ => None,
    }
}

#[cfg(unix)]
mod imp {
    use std::os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown, lchown, symlink},
    };

    use rustix::fs::{AtFlags, CWD, OFlags, Timespec, Timestamps, futimens, utimensat};

    use super::{File, Kind, Metadata, OsString, Path, Stat, fs, io, kind};

    /// What is known of it; `None`: a device, socket or pipe.
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
        })
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

    /// Owner, mode and time. Only root can give a file away: for others it is theirs.
    pub(crate) fn restore(path: &Path, stat: &Stat) -> io::Result<()> {
        if rustix::process::geteuid().is_root() {
            lchown(path, Some(stat.user), Some(stat.group))?;
        }
        if stat.kind != Kind::Link {
            fs::set_permissions(path, fs::Permissions::from_mode(stat.mode & 0o7777))?;
        }
        Ok(utimensat(CWD, path, &times(stat), AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// The same for a file that is open.
    pub(crate) fn restore_file(file: &File, stat: &Stat) -> io::Result<()> {
        if rustix::process::geteuid().is_root() {
            fchown(file, Some(stat.user), Some(stat.group))?;
        }
        file.set_permissions(fs::Permissions::from_mode(stat.mode & 0o7777))?;
        Ok(futimens(file, &times(stat))?)
    }

    fn times(stat: &Stat) -> Timestamps {
        let time = Timespec { tv_sec: stat.modified.0, tv_nsec: stat.modified.1.into() };
        Timestamps { last_access: time, last_modification: time }
    }

    /// Opens a file to read, not what has taken its place: a link is refused, and a pipe not waited for.
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

#[cfg(not(unix))]
mod imp {
    use std::{
        io::{Read, Seek, SeekFrom},
        time::{Duration, SystemTime, UNIX_EPOCH},
    };

    use super::{File, Kind, Metadata, OsString, Path, Stat, fs, io, kind};

    pub(crate) fn stat(meta: &Metadata) -> Option<Stat> {
        let since = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let modified = since(meta.modified().unwrap_or(UNIX_EPOCH));
        let seconds = i64::try_from(modified.as_secs()).unwrap_or(i64::MAX);
        let time = (seconds, modified.subsec_nanos());
        let (kind, size) = (kind(meta)?, meta.len());
        Some(Stat { kind, modified: time, size, links: 1, ..Stat::GONE })
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

    pub(crate) fn restore(path: &Path, stat: &Stat) -> io::Result<()> {
        if stat.kind != Kind::File {
            return Ok(());
        }
        restore_file(&fs::OpenOptions::new().write(true).open(path)?, stat)
    }

    pub(crate) fn restore_file(file: &File, stat: &Stat) -> io::Result<()> {
        let seconds = Duration::from_secs(u64::try_from(stat.modified.0).unwrap_or_default());
        let time = UNIX_EPOCH + seconds + Duration::from_nanos(stat.modified.1.into());
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

pub(crate) use imp::{bytes, link, name, open, read_at, restore, restore_file, stat, sync_folder};
