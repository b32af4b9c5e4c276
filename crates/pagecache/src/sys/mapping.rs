//! A file mapped for reading. No byte is ever read through the mapping, so that a file that shrinks
//! meanwhile does no harm.

use std::{ffi::c_void, fs::File, io, ptr};

use rustix::mm::{MapFlags, ProtFlags};

/// A mapping, which is unmapped when dropped; locked pages are unlocked with it.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: *mut c_void,
    length: usize,
}

impl Mapping {
    /// Maps `length` bytes from `offset`, the start of a page.
    pub(crate) fn new(file: &File, offset: u64, length: u64) -> io::Result<Self> {
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
        // SAFETY: the kernel chooses an address that is free, and the bytes are never read or
        // referred to.
        let start = unsafe {
            rustix::mm::mmap(
                ptr::null_mut(),
                length,
                ProtFlags::READ,
                MapFlags::SHARED,
                file,
                offset,
            )?
        };
        Ok(Self { start, length })
    }

    #[cfg(any(
        target_os = "linux",
        target_os = "android",
        target_vendor = "apple",
        target_os = "freebsd",
        target_os = "dragonfly"
    ))]
    /// Returns one byte per page, whose lowest bit is set if the page is in memory.
    pub(crate) fn mincore(&self) -> io::Result<Vec<u8>> {
        let mut pages = vec![0; self.length.div_ceil(rustix::param::page_size())];
        // SAFETY: the range is this mapping, and the vector has a byte for each of its pages.
        let code = unsafe { libc::mincore(self.start, self.length, pages.as_mut_ptr().cast()) };
        if code == 0 { Ok(pages) } else { Err(io::Error::last_os_error()) }
    }

    #[cfg(not(any(
        target_os = "linux",
        target_os = "android",
        target_vendor = "apple",
        target_os = "freebsd",
        target_os = "dragonfly"
    )))]
    pub(crate) fn mincore(&self) -> io::Result<Vec<u8>> {
        Err(crate::unsupported("seeing pages"))
    }

    /// Loads the pages and keeps them in memory.
    pub(crate) fn lock(&self) -> io::Result<()> {
        // SAFETY: the range is this mapping.
        unsafe { rustix::mm::mlock(self.start, self.length) }.map_err(io::Error::from)
    }

    /// Asks the kernel to forget the pages.
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
    pub(crate) fn invalidate(&self) -> io::Result<()> {
        // SAFETY: the range is this mapping, of which nothing was written or read.
        unsafe { rustix::mm::msync(self.start, self.length, rustix::mm::MsyncFlags::INVALIDATE) }
            .map_err(io::Error::from)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is this mapping, and nobody else knows of it. Nothing can be done
        // about a failure.
        let _ = unsafe { rustix::mm::munmap(self.start, self.length) };
    }
}

/// Maps the pages of a range that this process has mapped, as a read of each would.
#[cfg(target_os = "linux")]
pub(crate) fn populate(start: usize, length: usize) -> io::Result<()> {
    let start = ptr::with_exposed_provenance_mut(start);
    // SAFETY: this reads pages on behalf of the process and changes none; a range that is not mapped,
    // or no longer, is an error.
    unsafe { rustix::mm::madvise(start, length, rustix::mm::Advice::LinuxPopulateRead) }
        .map_err(io::Error::from)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn populate(_: usize, _: usize) -> io::Result<()> {
    Err(crate::unsupported("mapping pages ahead"))
}

/// Loads and locks all that the process has mapped.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
pub(crate) fn lock_all() -> io::Result<()> {
    Ok(rustix::mm::mlockall(rustix::mm::MlockAllFlags::CURRENT)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
pub(crate) fn lock_all() -> io::Result<()> {
    Err(crate::unsupported("locking all that is mapped"))
}

/// Returns the bytes that an unprivileged process may lock; `None` if there is no limit.
pub(crate) fn lock_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Memlock).current
}
