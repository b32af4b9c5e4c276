//! Dropping the caches of the whole machine.

use std::{fs, io, io::Write};

const SWITCH: &str = "/proc/sys/vm/drop_caches";

/// Writes back what is dirty and drops all pages, names and inodes of the whole machine that
/// nobody uses. Needs root; `Unsupported` on other systems than Linux.
pub fn drop_all() -> io::Result<()> {
    let mut switch = switch()?;
    // Dirty pages and inodes cannot be dropped.
    #[cfg(unix)]
    rustix::fs::sync();
    // 1: pages, 2: names and inodes.
    switch.write_all(b"3")
}

/// Checks whether [`drop_all`] can work, without doing it: the error says what is missing.
pub fn can_drop_all() -> io::Result<()> {
    switch().map(drop)
}

fn switch() -> io::Result<fs::File> {
    if !cfg!(target_os = "linux") {
        return Err(crate::unsupported("dropping all caches"));
    }
    fs::OpenOptions::new().write(true).open(SWITCH).map_err(|error| {
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
