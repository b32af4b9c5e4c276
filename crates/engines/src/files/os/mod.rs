//! The system calls behind a folder of files. Names are relative to the folder and end in a
//! zero byte.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(not(unix), path = "other.rs")]
mod system;

use std::{
    fs::File,
    io::{self, Read},
    time::{Duration, SystemTime, UNIX_EPOCH},
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
    let seconds = Duration::from_secs(meta.seconds.unsigned_abs());
    let second = if meta.seconds < 0 {
        UNIX_EPOCH.checked_sub(seconds)
    } else {
        UNIX_EPOCH.checked_add(seconds)
    };
    let time = second.and_then(|second| second.checked_add(Duration::new(0, meta.nanoseconds)));
    let time = time.ok_or(io::ErrorKind::InvalidInput)?;
    file.set_modified(time)?;
    check_time(file.metadata()?.modified()?, time)
}

/// Returns the seconds since 1970, below zero before it, and the nanoseconds after these.
#[cfg(any(test, not(unix)))]
fn unix_time(time: SystemTime) -> (i64, u32) {
    let seconds = |since: Duration| i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    let before = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => return (seconds(since), since.subsec_nanos()),
        Err(error) => error.duration(),
    };
    match before.subsec_nanos() {
        0 => (-seconds(before), 0),
        nanoseconds => (-seconds(before) - 1, 1_000_000_000 - nanoseconds),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_before_1970_has_seconds_below_zero() {
        let after = |seconds, nanoseconds| UNIX_EPOCH + Duration::new(seconds, nanoseconds);
        assert_eq!(unix_time(after(0, 0)), (0, 0));
        assert_eq!(unix_time(after(4_000_000_000, 1)), (4_000_000_000, 1));
        let before = |seconds, nanoseconds| UNIX_EPOCH - Duration::new(seconds, nanoseconds);
        assert_eq!(unix_time(before(86_400, 0)), (-86_400, 0));
        assert_eq!(unix_time(before(1, 500_000_000)), (-2, 500_000_000));
    }
}
