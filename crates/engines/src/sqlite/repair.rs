//! Repairs a database that does not open with SQLite's shell.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use super::database;

/// The command, as the shell of a system runs it: what can be read goes into a new database.
const RECOVER: &str = "sqlite3 \"$1\" .recover | sqlite3 \"$2\"";

/// Replaces the database at `location` by what can be read of it. Returns the command; `None` if that is
/// nothing, or SQLite's shell is not installed.
pub(super) fn repair(location: &Path) -> Option<String> {
    let recovered = database::with_suffix(location, "-recovered");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", RECOVER, "sh"]).arg(location).arg(&recovered).stdin(Stdio::null());
    shell.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
    if fs::metadata(&recovered).ok()?.len() == 0 {
        return None;
    }
    // Journal and log belong to the damaged database.
    for file in database::files(location) {
        // Some of them may not exist.
        let _ = fs::remove_file(file);
    }
    fs::rename(recovered, location).ok()?;
    Some("sqlite3 DATABASE .recover".to_owned())
}
