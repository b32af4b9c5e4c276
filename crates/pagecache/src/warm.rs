//! Filling the cache and evicting from it, by file; dropping the caches of the whole machine.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
use crate::names::open;
use crate::{Span, pages::pages, residency_map};

/// The bytes of the buffer that fills the cache: one size for every file of every store.
pub const BUFFER: usize = 1 << 20;

/// Reads what `file` has of `span`, from start to end. Returns the bytes read.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn warm(mut file: &File, span: Span, buffer: &mut [u8]) -> io::Result<u64> {
    let Some((offset, length)) = span.range_in(file.metadata()?.len()) else { return Ok(0) };
    if offset > 0 {
        file.seek(SeekFrom::Start(offset))?;
    }
    // Data that is appended meanwhile is read as well when the whole file is wanted.
    let mut left = if span.end.is_none() { u64::MAX } else { length };
    let mut bytes = 0;
    while left > 0 {
        let most = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        match file.read(&mut buffer[..most]) {
            Ok(0) => break,
            Ok(length) => {
                bytes += length as u64;
                left -= length as u64;
            }
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(bytes)
}

/// Reads those parts of `file` that are not whole in memory, each as long as `buffer`, as far as the
/// system reports its pages. Returns the bytes read.
pub(crate) fn warm_missing(file: &File, buffer: &mut [u8]) -> io::Result<u64> {
    let part = buffer.len() as u64;
    let parts = residency_map(file, Span::ALL, pages(part))?.unwrap_or_default();
    let size = file.metadata()?.len();
    let mut bytes = 0;
    for (start, resident) in (0..size).step_by(buffer.len()).zip(parts) {
        if resident < pages(part.min(size - start)) {
            bytes += warm(file, Span { start, end: Some(start + part) }, buffer)?;
        }
    }
    Ok(bytes)
}

/// Asks the system to read the front of the file at `path` meanwhile, as far as it takes such requests.
pub(crate) fn read_ahead(path: &Path) {
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    if let Ok(opened) = open(path, false) {
        // Of a large file the rest is read ahead anyway, in larger pieces.
        let front = std::num::NonZeroU64::new(128 << 10);
        let _ = rustix::fs::fadvise(&opened.file, 0, front, rustix::fs::Advice::WillNeed);
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
    let _ = path;
}

/// The number of dirty files that are flushed one by one; the next one flushes its whole file
/// system, which is faster than an fsync of each of thousands (0.6 ms each on a virtual disk).
#[cfg(target_os = "linux")]
const FEW: u32 = 16;

/// Writes dirty pages in `span` of `file` back and drops its pages, as far as the kernel agrees. A
/// page that is only partly in the span stays. For many files, see [`Evictor`].
///
/// # Errors
///
/// Fails with `Unsupported` if the system has no such request.
pub fn evict(file: &File, span: Span) -> io::Result<()> {
    Evictor::default().evict(file, span)
}

/// An evictor of many files, one after the other.
#[derive(Debug, Default)]
pub struct Evictor {
    /// The number of files that had to be flushed since a whole file system was.
    flushed: u32,
}

impl Evictor {
    /// Evicts one file as [`evict`] does. When many files were dirty, on Linux the whole file
    /// system is flushed, so that the next ones are clean.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be flushed, or the system cannot drop pages.
    pub fn evict(&mut self, file: &File, span: Span) -> io::Result<()> {
        // Without it, flushing a file that was opened to be read may be refused.
        can_evict()?;
        let Some((offset, length)) = span.range_in(file.metadata()?.len()) else { return Ok(()) };
        if !crate::pages::is_clean(file, offset, length) {
            // Dirty pages cannot be dropped.
            self.flush(file)?;
        }
        drop_pages(file, offset, length)
    }

    fn flush(&mut self, file: &File) -> io::Result<()> {
        self.flushed += 1;
        #[cfg(target_os = "linux")]
        if self.flushed > FEW {
            self.flushed = 0;
            return Ok(rustix::fs::syncfs(file)?);
        }
        file.sync_all()
    }
}

/// Checks whether this system has a request to drop a file's pages; it may decline each one.
///
/// # Errors
///
/// Fails with `Unsupported` if it has none.
pub fn can_evict() -> io::Result<()> {
    if cfg!(unix) { Ok(()) } else { Err(crate::unsupported("dropping pages")) }
}

fn drop_pages(file: &File, offset: u64, length: u64) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    {
        let length = std::num::NonZeroU64::new(length);
        Ok(rustix::fs::fadvise(file, offset, length, rustix::fs::Advice::DontNeed)?)
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
    crate::sys::Mapping::new(file, offset, length)?.invalidate()
}

const SWITCH: &str = "/proc/sys/vm/drop_caches";

/// Writes dirty pages back and drops all pages, names and inodes of the whole machine that are not
/// in use.
///
/// # Errors
///
/// Fails if the caller is not root, and with `Unsupported` on other systems than Linux.
pub fn drop_all() -> io::Result<()> {
    let mut switch = switch()?;
    // Dirty pages and inodes cannot be dropped.
    #[cfg(unix)]
    rustix::fs::sync();
    // 1: pages, 2: names and inodes.
    switch.write_all(b"3")
}

/// Checks whether [`drop_all`] can work, without doing it.
///
/// # Errors
///
/// Fails if it cannot; the error says what is missing.
pub fn can_drop_all() -> io::Result<()> {
    switch().map(drop)
}

fn switch() -> io::Result<File> {
    if !cfg!(target_os = "linux") {
        return Err(crate::unsupported("dropping all caches"));
    }
    File::options().write(true).open(SWITCH).map_err(|error| {
        let needs = match error.kind() {
            io::ErrorKind::PermissionDenied => "dropping all caches needs root",
            io::ErrorKind::ReadOnlyFilesystem => {
                "dropping all caches needs a writable /proc/sys, which containers rarely have"
            }
            io::ErrorKind::NotFound => "dropping all caches needs /proc to be mounted",
            _ => "dropping all caches is not possible",
        };
        io::Error::new(error.kind(), format!("{needs} ({SWITCH}: {error})"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_read_again() {
        const PARTS: u64 = 48;
        let mut file = tempfile::tempfile().unwrap();
        let mut buffer = vec![1; BUFFER];
        (0..PARTS).for_each(|_| file.write_all(&buffer).unwrap());
        if evict(&file, Span::ALL).is_err() {
            return;
        }
        file.rewind().unwrap();
        let part = BUFFER as u64;
        // Some parts may be read ahead, and in memory nothing can be evicted.
        warm(&file, Span { start: 0, end: Some(part) }, &mut buffer).unwrap();
        let Ok(Some(seen)) = residency_map(&file, Span::ALL, pages(part)) else { return };
        let missing = seen.iter().filter(|seen| **seen < pages(part)).count() as u64;
        assert!(missing < PARTS, "the first part was read");
        file.rewind().unwrap();
        assert_eq!(warm_missing(&file, &mut buffer).unwrap(), missing * part);
        assert_eq!(warm_missing(&file, &mut buffer).unwrap(), 0);
    }
}
