//! Through a descriptor of the folder, so that no read walks the folder's own path.

use std::{
    ffi::{CStr, OsStr},
    io,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
};

use model::{How, Meta};
use rustix::{
    fs::{self, AtFlags, FileType, Mode, OFlags, Timespec, Timestamps},
    io::Errno,
};

use super::{Facts, Sync, Writing};

/// A pipe or a link in a file's place must neither block nor lead elsewhere.
const PLAIN: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK);

pub(in crate::files) struct Root(OwnedFd);

impl Root {
    pub(in crate::files) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(fs::open(path, flags, Mode::empty())?))
    }

    /// Opens a regular file for reading; `None` where there is none.
    #[inline]
    pub(in crate::files) fn read(&self, name: &[u8]) -> io::Result<Option<(File, Facts)>> {
        match fs::openat(&self.0, c_str(name)?, OFlags::RDONLY | PLAIN, Mode::empty()) {
            Ok(fd) => Ok(facts(&fs::fstat(&fd)?).map(|facts| (File(fd), facts))),
            Err(errno) => absent(errno),
        }
    }

    /// Opens a file for writing, emptied unless its old bytes are to be written over; `None`
    /// where `how` forbids it or a folder is missing.
    pub(in crate::files) fn write(
        &self,
        name: &[u8],
        how: How,
        write: Writing,
    ) -> io::Result<Option<File>> {
        let cut = if write == Writing::Overwrite { OFlags::empty() } else { OFlags::TRUNC };
        let how = match how {
            How::Upsert => OFlags::CREATE,
            How::Insert => OFlags::CREATE | OFlags::EXCL,
            How::Update => OFlags::empty(),
        };
        let flags = OFlags::WRONLY | cut | PLAIN | how;
        match fs::openat(&self.0, c_str(name)?, flags, Mode::from_raw_mode(0o666)) {
            Ok(fd) => Ok(Some(File(fd))),
            Err(Errno::NOENT | Errno::EXIST) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// What the system reports about a regular file; `None` if there is none.
    pub(in crate::files) fn facts(&self, name: &[u8]) -> io::Result<Option<Facts>> {
        match fs::statat(&self.0, c_str(name)?, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(facts(&stat)),
            Err(errno) => absent(errno),
        }
    }

    pub(in crate::files) fn rename(&self, from: &[u8], to: &[u8]) -> io::Result<()> {
        Ok(fs::renameat(&self.0, c_str(from)?, &self.0, c_str(to)?)?)
    }

    pub(in crate::files) fn remove(&self, name: &[u8]) -> io::Result<()> {
        Ok(fs::unlinkat(&self.0, c_str(name)?, AtFlags::empty())?)
    }

    /// Makes a folder; `false` where one is already.
    pub(in crate::files) fn make_folder(&self, name: &[u8]) -> io::Result<bool> {
        match fs::mkdirat(&self.0, c_str(name)?, Mode::from_raw_mode(0o777)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Flushes the entries of a folder below this one.
    pub(in crate::files) fn flush_folder(&self, name: &[u8]) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = fs::openat(&self.0, c_str(name)?, flags, Mode::empty())?;
        Ok(flush(&fd, Sync::Full)?)
    }
}

pub(in crate::files) struct File(OwnedFd);

impl File {
    /// Reads until `into` is full or at the end of the file, and returns how much it read.
    #[inline]
    pub(in crate::files) fn fill(&self, into: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < into.len() {
            match rustix::io::read(&self.0, &mut into[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(filled)
    }

    pub(in crate::files) fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::io::write(&self.0, bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => bytes = &bytes[n..],
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    /// Cuts off what is past `length`.
    pub(in crate::files) fn cut(&self, length: usize) -> io::Result<()> {
        let length = length as u64;
        if u64::try_from(fs::fstat(&self.0)?.st_size).is_ok_and(|size| size > length) {
            fs::ftruncate(&self.0, length)?;
        }
        Ok(())
    }

    pub(in crate::files) fn set_meta(&self, meta: &Meta) -> io::Result<()> {
        fs::fchmod(&self.0, permissions(meta.mode))?;
        let unchanged = Timespec { tv_sec: 0, tv_nsec: fs::UTIME_OMIT };
        let time = Timespec { tv_sec: meta.seconds, tv_nsec: meta.nanoseconds.into() };
        let times = Timestamps { last_access: unchanged, last_modification: time };
        Ok(fs::futimens(&self.0, &times)?)
    }

    pub(in crate::files) fn flush(&self, sync: Sync) -> io::Result<()> {
        Ok(flush(&self.0, sync)?)
    }
}

pub(in crate::files) fn path(name: &[u8]) -> PathBuf {
    OsStr::from_bytes(name).into()
}

fn c_str(name: &[u8]) -> io::Result<&CStr> {
    CStr::from_bytes_with_nul(name).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Errors that mean that there is no regular file of that name.
fn absent<T>(errno: Errno) -> io::Result<Option<T>> {
    match errno {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::MLINK | Errno::NXIO => Ok(None),
        errno => Err(errno.into()),
    }
}

/// The permission bits of `mode`, without set-user-ID and its kin, which a store that someone
/// else creates must not hand out; systems differ in the width of a mode.
#[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast)]
fn permissions(mode: u32) -> Mode {
    Mode::from_raw_mode((mode & 0o777) as fs::RawMode)
}

/// `None`: not a regular file. The fields of `stat` differ in width from system to system.
#[allow(clippy::useless_conversion, clippy::unnecessary_cast, clippy::cast_sign_loss)]
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
fn facts(stat: &fs::Stat) -> Option<Facts> {
    let meta = Meta {
        mode: u32::from(stat.st_mode),
        seconds: stat.st_mtime as i64,
        nanoseconds: stat.st_mtime_nsec as u32,
    };
    (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
        .then_some(Facts { length: stat.st_size as u64, meta })
}

/// On Apple's systems `fsync` leaves the bytes in the drive's cache; only `F_FULLFSYNC` does not.
#[cfg(target_vendor = "apple")]
fn flush(fd: &OwnedFd, sync: Sync) -> rustix::io::Result<()> {
    match sync {
        Sync::None => Ok(()),
        Sync::File | Sync::Full => fs::fcntl_fullfsync(fd),
    }
}

#[cfg(not(target_vendor = "apple"))]
fn flush(fd: &OwnedFd, sync: Sync) -> rustix::io::Result<()> {
    match sync {
        Sync::None => Ok(()),
        Sync::File => fs::fdatasync(fd),
        Sync::Full => fs::fsync(fd),
    }
}
