//! A folder through its descriptor, so that no read walks the folder's own path.

use std::{
    ffi::{CStr, OsStr},
    fs::File,
    io,
    os::{
        fd::OwnedFd,
        unix::{ffi::OsStrExt, fs::MetadataExt},
    },
    path::{Path, PathBuf},
};

use model::{EntryKind, How, Meta, mode_without_list};
use rustix::{
    fs::{self, AtFlags, FileType, Mode, OFlags},
    io::Errno,
};

use super::{Facts, Sync, WriteMethod};

/// The flags for opening a plain file: a pipe or a link in its place must neither block nor lead
/// elsewhere.
const PLAIN: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK);

/// The bytes of a file that are read ahead: the system does the rest once it is read.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
const FRONT: Option<std::num::NonZeroU64> = std::num::NonZeroU64::new(128 << 10);

/// An open folder.
pub(in crate::files) struct Root(OwnedFd);

impl Root {
    /// Opens a folder, which is flushed by its session.
    pub(in crate::files) fn open(path: &Path, _: Sync) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(fs::open(path, flags, Mode::empty())?))
    }

    /// Opens a regular file for reading; returns `None` if there is none.
    #[inline]
    pub(in crate::files) fn read(&self, name: &[u8]) -> io::Result<Option<(File, Facts)>> {
        match fs::openat(&self.0, c_str(name)?, OFlags::RDONLY | PLAIN, Mode::empty()) {
            Ok(fd) => Ok(facts(&fs::fstat(&fd)?).map(|facts| (fd.into(), facts))),
            Err(errno) => absent(errno),
        }
    }

    /// Asks the system to read the front of a file, as far as it takes such requests.
    pub(in crate::files) fn read_ahead(&self, name: &[u8]) {
        #[cfg(any(target_os = "linux", target_os = "freebsd"))]
        if let Ok(Some((file, _))) = self.read(name) {
            let _ = fs::fadvise(&file, 0, FRONT, fs::Advice::WillNeed);
        }
        #[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
        let _ = name;
    }

    /// Opens a file for writing, emptied unless its old bytes are to be overwritten; returns `None`
    /// if `how` forbids it or a folder is missing.
    pub(in crate::files) fn write(
        &self,
        name: &[u8],
        how: How,
        write: WriteMethod,
    ) -> io::Result<Option<File>> {
        let cut = if write == WriteMethod::Overwrite { OFlags::empty() } else { OFlags::TRUNC };
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

    /// Returns the facts about a regular file; `None` if there is none.
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

/// Returns `name` as a path of this system.
pub(in crate::files) fn path(name: &[u8]) -> PathBuf {
    OsStr::from_bytes(name).into()
}

/// Returns the path of a file as a name: its parts are separated by `/`.
pub(in crate::files) fn name(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// Returns the mode of a file without its access list, if it has one.
pub(in crate::files) fn real_mode(path: &Path, mode: u32) -> u32 {
    // Only a list could give somebody what neither the group nor others may do.
    let given = mode & 0o077;
    let list = if given == 0 { None } else { attributes::access_list(path) };
    list.map_or(mode, |list| mode_without_list(mode, &list))
}

/// Returns the properties of a file in addition to bytes, mode and time.
pub(in crate::files) fn properties(file: &File) -> io::Result<Vec<EntryKind>> {
    let meta = file.metadata()?;
    let mut properties = attributes::kinds(file);
    if meta.nlink() > 1 {
        properties.push(EntryKind::HardLink);
    }
    // Compressed files occupy less than their length, too.
    if meta.blocks() * 512 < meta.len() && has_holes(file, meta.len()) {
        properties.push(EntryKind::Holes);
    }
    Ok(properties)
}

#[cfg(any(target_os = "linux", target_vendor = "apple", target_os = "freebsd"))]
fn has_holes(file: &File, length: u64) -> bool {
    fs::seek(file, fs::SeekFrom::Hole(0)).is_ok_and(|hole| hole < length)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple", target_os = "freebsd")))]
fn has_holes(_: &File, _: u64) -> bool {
    true
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
mod attributes {
    use std::{fs::File, path::Path};

    use model::EntryKind;
    use rustix::fs::{flistxattr, flistxattr_query, lgetxattr, lgetxattr_query};

    const ACCESS_LIST: &str = "system.posix_acl_access";

    /// The most bytes of a value, or of all names (`XATTR_SIZE_MAX`, `XATTR_LIST_MAX`).
    const LONGEST: usize = 1 << 16;

    /// Returns the access list of a file; an empty one if it cannot be read, `None` if it has none.
    pub(super) fn access_list(path: &Path) -> Option<Vec<u8>> {
        // Most files have none.
        lgetxattr_query(path, ACCESS_LIST).ok()?;
        let mut list = vec![0; LONGEST];
        let length = lgetxattr(path, ACCESS_LIST, &mut list[..]).unwrap_or(0);
        list.truncate(length);
        Some(list)
    }

    /// Returns an access list, and attributes that a user may have set.
    pub(super) fn kinds(file: &File) -> Vec<EntryKind> {
        if flistxattr_query(file).unwrap_or(0) == 0 {
            return Vec::new();
        }
        let mut names = vec![0; LONGEST];
        let length = flistxattr(file, &mut names[..]).unwrap_or(0);
        let mut kinds: Vec<_> = names[..length].split(|byte| *byte == 0).filter_map(kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    fn kind(name: &[u8]) -> Option<EntryKind> {
        /// The attributes that the system gives to each file by its own rules.
        const OF_SYSTEM: [&[u8]; 5] =
            [b"system.", b"security.", b"btrfs.", b"com.apple.provenance", b"com.apple.quarantine"];
        let of_system = OF_SYSTEM.iter().any(|start| name.starts_with(start));
        match name {
            b"" => None,
            _ if name == ACCESS_LIST.as_bytes() => Some(EntryKind::AccessList),
            b"security.capability" => Some(EntryKind::Attribute),
            _ => (!of_system).then_some(EntryKind::Attribute),
        }
    }
}

/// The replacement on systems that have other calls for attributes.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
mod attributes {
    use std::{fs::File, path::Path};

    use model::EntryKind;

    pub(super) fn access_list(_: &Path) -> Option<Vec<u8>> {
        None
    }

    pub(super) fn kinds(_: &File) -> Vec<EntryKind> {
        Vec::new()
    }
}

fn c_str(name: &[u8]) -> io::Result<&CStr> {
    CStr::from_bytes_with_nul(name).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Returns `None` for errors that mean that there is no regular file of that name, and the others
/// as errors.
fn absent<T>(errno: Errno) -> io::Result<Option<T>> {
    match errno {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::MLINK | Errno::NXIO => Ok(None),
        errno => Err(errno.into()),
    }
}

/// Converts the facts of the system; returns `None` if it is not a regular file. The fields of
/// `stat` differ in width from system to system.
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
