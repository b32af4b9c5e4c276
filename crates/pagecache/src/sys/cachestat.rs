//! cachestat(2), since Linux 6.5.

use std::{fs::File, io, os::fd::AsRawFd};

/// Since Linux 5.1 calls are added on all architectures in the same way, so that the distance from a known
/// one is the same on each (on most, 437 and 451).
const NUMBER: libc::c_long = libc::SYS_openat2 + 14;

/// `struct cachestat_range` of linux/mman.h, in bytes.
#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

/// `struct cachestat` of linux/mman.h, in pages.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Cachestat {
    pub(crate) cached: u64,
    pub(crate) dirty: u64,
    pub(crate) writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Pages of these bytes of `file`. The kernel refuses for a file that the caller neither
/// owns nor may write.
pub(crate) fn cachestat(file: &File, offset: u64, length: u64) -> io::Result<Cachestat> {
    let range = Range { offset, length };
    let mut stat = Cachestat::default();
    // SAFETY: both pointers are to live values of the form the kernel declares; it writes no
    // more than the second, and the descriptor stays open meanwhile.
    let code =
        unsafe { libc::syscall(NUMBER, file.as_raw_fd(), &raw const range, &raw mut stat, 0) };
    if code == 0 { Ok(stat) } else { Err(io::Error::last_os_error()) }
}
