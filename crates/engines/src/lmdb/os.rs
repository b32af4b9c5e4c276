//! The system's reports about other processes: whether one has an environment open, and whether it
//! was waited for.

use std::{ffi::c_long, path::Path};

/// Returns whether another process has an environment open: each locks the first byte of its lock
/// file (`mdb_env_excl_lock` of `mdb.c`). If that is unknown, it counts as open.
#[cfg(unix)]
pub(super) fn is_open_elsewhere(lock_file: &Path) -> bool {
    use rustix::process::{Flock, FlockType, fcntl_getlk};
    let first = Flock { length: 1, ..Flock::from(FlockType::WriteLock) };
    match std::fs::File::open(lock_file) {
        Ok(file) => !matches!(fcntl_getlk(file, &first), Ok(None)),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

/// Returns whether another process has an environment open, as above: on Windows, locks are the system's too, and
/// one of the whole file needs each of its bytes.
#[cfg(not(unix))]
pub(super) fn is_open_elsewhere(lock_file: &Path) -> bool {
    match std::fs::File::options().read(true).write(true).open(lock_file) {
        // The lock ends with the file.
        Ok(file) => file.try_lock().is_err(),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

/// Runs `act`, and returns whether this thread gave up its processor to wait meanwhile, which
/// LMDB's lock between processes makes it do at once. It returns `false` if the system does not
/// report it.
pub(super) fn waits<T>(act: impl FnOnce() -> T) -> (T, bool) {
    let before = switches();
    let done = act();
    (done, before < switches())
}

/// Returns how often this thread gave up its processor to wait.
#[cfg(target_os = "linux")]
fn switches() -> c_long {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call writes a structure of this type, for which zeros will do if it fails.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    usage.ru_nvcsw
}

#[cfg(not(target_os = "linux"))]
fn switches() -> c_long {
    0
}
