//! Through a descriptor of the folder, so that no read walks the folder's own path.

use std::{
    ffi::{CStr, OsStr},
    fs::File,
    io,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
};

use model::{How, Meta};
use rustix::{
    fs::{self, AtFlags, FileType, Mode, OFlags},
    io::Errno,
};

use super::{Facts, Writing};

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
            Ok(fd) => Ok(facts(&fs::fstat(&fd)?).map(|facts| (fd.into(), facts))),
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
            Ok(fd) => Ok(Some(fd.into())),
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
}

/// `name` as a path of this system.
pub(in crate::files) fn path(name: &[u8]) -> PathBuf {
    OsStr::from_bytes(name).into()
}

/// The path of a file as a name: its parts are separated by `/`.
pub(in crate::files) fn name(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
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
