//! The names in the cache of the file system.

use std::{fs::File, io, path::Path};

#[cfg(target_os = "linux")]
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

/// A number of names and how many of them are cached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// All names that were looked up.
    pub total: u64,
    /// The names that a look-up finds in memory.
    pub cached: u64,
}

impl Names {
    /// Returns the cached names as a share of all; 1 if there are none.
    pub fn share(&self) -> f64 {
        if self.total == 0 { 1.0 } else { self.cached as f64 / self.total as f64 }
    }
}

/// An open file and what opening it showed.
#[derive(Debug)]
pub struct Opened {
    /// The file, open for reading.
    pub file: File,
    /// Whether its name was cached before; `None` if the system does not report it.
    pub name_was_cached: Option<bool>,
}

/// Returns whether a look-up of `path` is answered from memory, without loading anything; `None` if
/// the system does not report it. A link is not followed.
pub fn name_is_cached(path: &Path) -> Option<bool> {
    can_see_names().is_ok().then(|| is_cached(path))
}

/// Checks whether the system reports which names are cached.
///
/// # Errors
///
/// Fails with `Unsupported` if it does not; the error says what is missing.
pub fn can_see_names() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        // Since Linux 5.12 the kernel answers from its cache alone, which some sandboxes forbid.
        static ANSWER: std::sync::OnceLock<Option<rustix::io::Errno>> = std::sync::OnceLock::new();
        // The root is always cached.
        match ANSWER.get_or_init(|| from_cache(Path::new("/"), OFlags::PATH).err()) {
            None | Some(rustix::io::Errno::AGAIN) => Ok(()),
            Some(error) => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!("asking for cached names needs openat2 of Linux 5.12 ({error})"),
            )),
        }
    }
    #[cfg(not(target_os = "linux"))]
    Err(crate::unsupported("asking for cached names"))
}

pub(crate) fn cached<'a>(paths: impl Iterator<Item = &'a Path>) -> io::Result<Names> {
    can_see_names()?;
    let mut names = Names::default();
    for path in paths {
        names.total += 1;
        names.cached += u64::from(is_cached(path));
    }
    Ok(names)
}

/// Returns whether a path is resolved from the cache. It is not opened.
#[cfg(target_os = "linux")]
fn is_cached(path: &Path) -> bool {
    from_cache(path, OFlags::PATH | OFlags::NOFOLLOW).is_ok()
}

/// Returns `false`; it is never called.
#[cfg(not(target_os = "linux"))]
fn is_cached(_: &Path) -> bool {
    false
}

#[cfg(target_os = "linux")]
fn from_cache(path: &Path, flags: OFlags) -> rustix::io::Result<rustix::fd::OwnedFd> {
    openat2(CWD, path, flags | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::CACHED)
}

/// Opens a file to look at it, and reports whether its name was cached. It does not wait for the
/// other end of a pipe.
///
/// # Errors
///
/// Fails if the file cannot be opened, or if `path` is a link and `follow` is not set.
#[cfg(target_os = "linux")]
pub fn open(path: &Path, follow: bool) -> io::Result<Opened> {
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    flags.set(OFlags::NOFOLLOW, !follow);
    let cached = can_see_names().is_ok().then(|| from_cache(path, flags));
    let name_was_cached = cached.as_ref().map(Result::is_ok);
    let file = match cached {
        Some(Ok(file)) => file,
        // Loads what the cache lacks, and finds out what else was wrong.
        _ => rustix::fs::open(path, flags, Mode::empty())?,
    };
    Ok(Opened { file: file.into(), name_was_cached })
}

/// Opens a file to look at it. It does not wait for the other end of a pipe.
///
/// # Errors
///
/// Fails if the file cannot be opened, or if `path` is a link and `follow` is not set.
#[cfg(not(target_os = "linux"))]
pub fn open(path: &Path, follow: bool) -> io::Result<Opened> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        libc::O_NONBLOCK | if follow { 0 } else { libc::O_NOFOLLOW },
    );
    #[cfg(not(unix))]
    let _ = follow;
    Ok(Opened { file: options.open(path)?, name_was_cached: None })
}
