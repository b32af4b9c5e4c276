//! This program, and the words that start it again.

use std::{ffi::OsString, path::PathBuf};

use model::{Error, Result};

/// The variable with the words, separated by spaces, that start this program where the system cannot: an
/// emulator with its options.
const LAUNCHER: &str = "STOREMARK_LAUNCHER";

/// Returns the program and the arguments that start a worker.
pub(crate) fn worker_command() -> Result<Vec<OsString>> {
    starting("worker")
}

/// Returns the words that start this program with `command`.
pub(crate) fn starting(command: &str) -> Result<Vec<OsString>> {
    let launcher = std::env::var(LAUNCHER).unwrap_or_default();
    let words = launcher.split_whitespace().map(OsString::from);
    Ok(words.chain([path()?.into(), command.into()]).collect())
}

pub(crate) fn path() -> Result<PathBuf> {
    let program = std::env::current_exe();
    program.and_then(|path| path.canonicalize()).map_err(|e| Error::io("this program", e))
}
