//! The sizes of a store's files while a pass is under way.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use host::now_ns;
use model::{Blobs, Growth};

use crate::store::{ReadyStore, file_bytes};

/// The shortest time between two readings of sizes.
const EVERY: Duration = Duration::from_millis(100);
/// The number of times that the last reading fits into the time until the next one: reading the sizes
/// of many files would otherwise disturb the pass.
const SELDOM: u32 = 100;

/// The largest number of values with a file each whose sizes are read.
const MOST_FILES: u64 = 50_000;

/// Runs `pass`, and also returns the sizes of the files of a store with so many values meanwhile.
pub(super) fn during<T>(
    ready: &ReadyStore,
    values: u64,
    pass: impl FnOnce() -> T,
) -> (T, Vec<Growth>) {
    let capabilities = ready.engine.capabilities();
    let has_many = capabilities.paths && values > MOST_FILES;
    if has_many || capabilities.remote || !capabilities.persistent {
        return (pass(), Vec::new());
    }
    let (engine, path) = (ready.engine, ready.path.as_path());
    let (passed, seen) = crate::meanwhile(|over| watch(engine, path, over), pass);
    (passed, seen.unwrap_or_default())
}

fn watch(engine: &dyn Blobs, path: &Path, over: &AtomicBool) -> Vec<Growth> {
    let start_ns = now_ns();
    let mut all = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let reading = Instant::now();
        // A file may be gone between its listing and its stat; the next look shows the rest.
        if let Some((bytes, log_bytes)) = sizes(engine, path) {
            all.push(Growth { at_ns: now_ns() - start_ns, bytes, log_bytes });
        }
        thread::park_timeout(EVERY.max(reading.elapsed() * SELDOM));
    }
    all
}

fn sizes(engine: &dyn Blobs, path: &Path) -> Option<(u64, u64)> {
    let bytes = |paths: Vec<PathBuf>| {
        let existing: Vec<_> = paths.into_iter().filter(|path| path.exists()).collect();
        Some(file_bytes(&existing).ok()?.allocated)
    };
    Some((bytes(engine.files(path))?, bytes(engine.logs(path))?))
}
