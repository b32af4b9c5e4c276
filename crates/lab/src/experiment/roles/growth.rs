//! The sizes of a store's files while a pass is under way.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use host::now_ns;
use model::{Blobs, Growth};

use crate::store::{ReadyStore, file_bytes};

/// The interval at which sizes are read.
const EVERY: Duration = Duration::from_millis(100);

/// Runs `pass`, and also returns the sizes of the store's files meanwhile. Files of a folder each are
/// not looked at: reading the sizes of many would disturb the pass.
pub(super) fn during<T>(ready: &ReadyStore, pass: impl FnOnce() -> T) -> (T, Vec<Growth>) {
    let capabilities = ready.engine.capabilities();
    if capabilities.paths || !capabilities.persistent {
        return (pass(), Vec::new());
    }
    let (engine, path) = (ready.engine, ready.path.as_path());
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(engine, path, &over));
        let passed = pass();
        over.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        (passed, watcher.join().unwrap_or_default())
    })
}

fn watch(engine: &dyn Blobs, path: &Path, over: &AtomicBool) -> Vec<Growth> {
    let start_ns = now_ns();
    let mut all = Vec::new();
    while !over.load(Ordering::Relaxed) {
        // A file may be gone between its listing and its stat; the next look shows the rest.
        if let Some((bytes, log_bytes)) = sizes(engine, path) {
            all.push(Growth { at_ns: now_ns() - start_ns, bytes, log_bytes });
        }
        thread::park_timeout(EVERY);
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
