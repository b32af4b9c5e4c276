//! A folder for one test, on a disk: in a file system that lives in memory nothing is evicted.

use std::path::Path;

use tempfile::TempDir;

pub(crate) fn folder() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// In case the disk is none after all.
pub(crate) fn lives_in_memory(path: &Path) -> bool {
    let of = |path: &Path| {
        let output = std::process::Command::new("stat").args(["-f", "-c", "%T"]).arg(path).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    matches!(of(path).trim(), "tmpfs" | "ramfs")
}
