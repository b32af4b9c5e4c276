//! The replies of a worker process, which nothing else gets between.

#[cfg(unix)]
use std::sync::OnceLock;
use std::{
    fs::File,
    io::{self, Write},
};

/// Returns the file that replies are written to. Standard output was theirs: what a library prints there
/// goes to standard error from now on. `None` where that cannot be.
#[cfg(unix)]
fn moved() -> Option<&'static File> {
    static MOVED: OnceLock<Option<File>> = OnceLock::new();
    let moved = || {
        let replies = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3).ok()?;
        rustix::stdio::dup2_stdout(rustix::stdio::stderr()).ok()?;
        Some(File::from(replies))
    };
    MOVED.get_or_init(moved).as_ref()
}

#[cfg(not(unix))]
fn moved() -> Option<&'static File> {
    None
}

pub(crate) fn replies() -> Box<dyn Write + Send> {
    match moved() {
        Some(file) => Box::new(file),
        None => Box::new(io::stdout()),
    }
}

/// Returns the descriptor that replies are written to.
pub(crate) fn descriptor() -> i32 {
    #[cfg(unix)]
    if let Some(file) = moved() {
        return std::os::fd::AsRawFd::as_raw_fd(file);
    }
    1
}
