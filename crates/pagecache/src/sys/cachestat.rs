//! The system call cachestat(2), since Linux 6.5.

use std::{fs::File, io};

/// The number of the call. Since Linux 5.1 calls are added on all architectures in the same way, so
/// that the distance from a known one is the same on each (on most, 437 and 451).
#[cfg(target_os = "linux")]
const NUMBER: libc::c_long = libc::SYS_openat2 + 14;

/// `struct cachestat_range` of linux/mman.h, in bytes.
#[cfg(target_os = "linux")]
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

/// Returns the pages of these bytes of `file`.
///
/// # Errors
///
/// Fails for a file that the caller neither owns nor may write.
#[cfg(target_os = "linux")]
pub(crate) fn cachestat(file: &File, offset: u64, length: u64) -> io::Result<Cachestat> {
    use std::os::fd::AsRawFd;

    let range = Range { offset, length };
    let mut stat = Cachestat::default();
    // SAFETY: both pointers are to live values of the form the kernel declares; it writes no
    // more than the second, and the descriptor stays open meanwhile.
    let code =
        unsafe { libc::syscall(NUMBER, file.as_raw_fd(), &raw const range, &raw mut stat, 0) };
    match code {
        0 if stat.cached == 0 && is_stacked(file) => Err(io::ErrorKind::Unsupported.into()),
        0 => Ok(stat),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns whether the pages belong to a file of another file system underneath: cachestat counts
/// those of the upper one, which are none (overlayfs, Linux 6.18); mincore sees the mapped ones.
#[cfg(target_os = "linux")]
fn is_stacked(file: &File) -> bool {
    /// `OVERLAYFS_SUPER_MAGIC`, see statfs(2).
    const OVERLAY: i128 = 0x794c_7630;
    rustix::fs::fstatfs(file).is_ok_and(|found| i128::from(found.f_type) == OVERLAY)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn cachestat(_: &File, _: u64, _: u64) -> io::Result<Cachestat> {
    Err(io::ErrorKind::Unsupported.into())
}
