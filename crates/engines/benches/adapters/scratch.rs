//! Where the stores are, and leaving nothing there.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use model::{Error, Result};
use tempfile::TempDir;

/// Set when the user asked to stop; whoever sees it returns, and the folder goes with its owner.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.load(Relaxed) { Err(Error::interrupted()) } else { Ok(()) }
    }
}

pub(crate) fn stop_on_interrupt() -> Result<Stop> {
    let stop = Stop::default();
    let seen = stop.clone();
    signal_hook::flag::register(signal_hook::consts::SIGINT, seen.0)
        .map_err(|e| Error::failed(e.to_string()))?;
    Ok(stop)
}

/// A folder of its own on a disk.
pub(crate) fn make() -> Result<TempDir> {
    let parent = std::env::var_os("TMPDIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from);
    let folder = TempDir::with_prefix_in("adapters-", &parent)
        .map_err(|e| Error::io(parent.display(), e))?;
    // A server's user passes through it.
    #[cfg(unix)]
    std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o711))
        .map_err(|e| Error::io(parent.display(), e))?;
    if in_memory(&folder)? {
        return Err(Error::usage(format!(
            "{} is kept in memory; set TMPDIR to a folder on a disk",
            parent.display()
        )));
    }
    Ok(folder)
}

#[cfg(target_os = "linux")]
fn in_memory(folder: &TempDir) -> Result<bool> {
    /// `TMPFS_MAGIC` of `linux/magic.h`.
    const TMPFS: u64 = 0x0102_1994;
    let facts = rustix::fs::statfs(folder.path())
        .map_err(|e| Error::io(folder.path().display(), e.into()))?;
    Ok(facts.f_type.cast_unsigned() == TMPFS)
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "the same question elsewhere may fail")]
fn in_memory(_: &TempDir) -> Result<bool> {
    Ok(false)
}
