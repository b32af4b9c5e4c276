//! The system calls behind a folder of files. Names are relative to the folder and end in a
//! zero byte.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(not(unix), path = "other.rs")]
mod system;

use std::{
    fs::File,
    io::{self, Read},
    time::SystemTime,
};

use model::Meta;
use strum::{Display, EnumString, VariantNames};

pub(super) use system::{Root, name, path, properties, real_mode};

/// The facts that the system reports about a regular file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub(super) length: u64,
    pub(super) meta: Meta,
}

/// The way in which a file gets new contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub(super) enum WriteMethod {
    /// The file is truncated when it is opened, then written, as most programs do it.
    #[default]
    Inplace,
    /// Written over its old bytes, and cut only if it was longer.
    Overwrite,
    /// Written to a temporary file, then renamed over it.
    Rename,
}

/// The choice what is flushed to the device, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Sync {
    #[default]
    None,
    /// A file's bytes, before it is closed.
    File,
    /// A file's bytes, mode and time before it is closed, and its folder at the commit.
    Full,
}

impl Sync {
    pub(super) fn flush(self, file: &File) -> io::Result<()> {
        match self {
            Self::None => Ok(()),
            Self::File => file.sync_data(),
            Self::Full => file.sync_all(),
        }
    }
}

/// Reads until `into` is full or at the end of the file, and returns how much it read.
#[inline]
pub(super) fn fill(mut file: &File, into: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < into.len() {
        match file.read(&mut into[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

pub(super) fn set_meta(file: &File, meta: &Meta) -> io::Result<()> {
    // The set-user-ID bit and its kin are left out: a store that someone else creates must not
    // hand them out.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(meta.mode & 0o777))?;
    let time = model::system_time(meta.seconds, meta.nanoseconds);
    let time = time.ok_or(io::ErrorKind::InvalidInput)?;
    file.set_modified(time)?;
    check_time(file.metadata()?.modified()?, time)
}

/// Checks the time that a file system set: it sets a time that it cannot hold to the nearest that
/// it can.
fn check_time(set: SystemTime, wanted: SystemTime) -> io::Result<()> {
    let (earlier, later) = if set < wanted { (set, wanted) } else { (wanted, set) };
    // FAT counts two seconds at a time.
    if later.duration_since(earlier).is_ok_and(|apart| apart.as_secs() <= 2) {
        return Ok(());
    }
    let why = "its modification time is outside what this file system holds; touch the source";
    Err(io::Error::new(io::ErrorKind::Unsupported, why))
}
