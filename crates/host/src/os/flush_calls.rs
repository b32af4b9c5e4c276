//! Counts flushes: functions with the names of the C library's, which count and ask the kernel. The
//! linker has all code of the program call these: Rust's standard library, the engines that are linked
//! in, and libraries that are loaded later. Code that calls the kernel by itself, as rustix does, is not
//! counted.

use std::{
    ffi::{c_int, c_long, c_void},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use nix::libc;

static CALLS: AtomicU64 = AtomicU64::new(0);

/// Returns how often this process has flushed.
pub(crate) fn flush_calls() -> Option<u64> {
    Some(CALLS.load(Relaxed))
}

/// Counts `calls` flushes, and converts what the kernel returned: 0 or -1.
fn counted(calls: u64, returned: c_long) -> c_int {
    CALLS.fetch_add(calls, Relaxed);
    if returned == 0 { 0 } else { -1 }
}

// SAFETY: it has the name, the type and the effect of the C library's function: fsync(2).
#[unsafe(no_mangle)]
extern "C" fn fsync(file: c_int) -> c_int {
    // SAFETY: no argument is a pointer. The call sets `errno`.
    counted(1, unsafe { libc::syscall(libc::SYS_fsync, file) })
}

// SAFETY: it has the name, the type and the effect of the C library's function: fdatasync(2).
#[unsafe(no_mangle)]
extern "C" fn fdatasync(file: c_int) -> c_int {
    // SAFETY: as in `fsync`.
    counted(1, unsafe { libc::syscall(libc::SYS_fdatasync, file) })
}

// SAFETY: it has the name, the type and the effect of the C library's function: msync(2).
#[unsafe(no_mangle)]
extern "C" fn msync(start: *mut c_void, length: usize, flags: c_int) -> c_int {
    // Without this flag it flushes nothing.
    let calls = u64::from(flags & libc::MS_SYNC != 0);
    // SAFETY: the kernel checks the addresses, and changes nothing at them. The call sets `errno`.
    counted(calls, unsafe { libc::syscall(libc::SYS_msync, start, length, flags) })
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn flushes_count_and_fail_as_those_of_the_c_library() {
        let file = tempfile::tempfile().unwrap();
        let then = flush_calls().unwrap();
        file.sync_all().unwrap();
        file.sync_data().unwrap();
        // Other tests of this process may flush too.
        assert!(flush_calls().unwrap() >= then + 2);
        // A pipe cannot be flushed.
        let (pipe, _) = std::io::pipe().unwrap();
        let pipe = File::from(std::os::fd::OwnedFd::from(pipe));
        assert_eq!(pipe.sync_all().unwrap_err().raw_os_error(), Some(libc::EINVAL));
    }
}
