//! Removes folders of stores that stand to the end of a test's process.

use std::{
    ffi::OsStr,
    fs,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

/// Removes `folder` after this process, which drops nothing that is static: the end of its
/// standard input says so. Until then a server may still be writing.
pub(crate) fn undertaker(folder: TempDir) -> Child {
    const SCRIPT: &str = r#"read -r _; n=0
        while [ -e "$1" ] && [ $n -lt 50 ]; do rm -rf -- "$1"; n=$((n + 1)); sleep 0.2; done"#;
    let folder = folder.keep();
    Command::new("sh")
        .args([OsStr::new("-c"), OsStr::new(SCRIPT), OsStr::new("undertaker"), folder.as_os_str()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .inspect_err(|_| fs::remove_dir_all(&folder).unwrap())
        .unwrap()
}
