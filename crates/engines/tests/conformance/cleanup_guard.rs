//! Removes folders of stores that are kept to the end of a test's process.

use std::{
    ffi::OsStr,
    fs,
    process::{Child, Command, Stdio},
};

use crate::case::StoreFolder;

/// Removes the folder of `place` after the end of this process, which does not drop what is static: the end of
/// the guard's standard input means that. A server may still be writing for a moment.
pub(crate) fn cleanup_guard(place: StoreFolder) -> Child {
    const SCRIPT: &str = r#"read -r _; n=0
        while [ -e "$1" ] && [ $n -lt 50 ]; do rm -rf -- "$1"; n=$((n + 1)); sleep 0.2; done"#;
    let folder = place.keep();
    Command::new("sh")
        .args([OsStr::new("-c"), OsStr::new(SCRIPT), OsStr::new("guard"), folder.as_os_str()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .inspect_err(|_| fs::remove_dir_all(&folder).unwrap())
        .unwrap()
}
