//! Repairs a database that does not open with SQLite's shell.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use super::database;

/// The commands of SQLite's shell that write what can be read as statements for a new database, and what
/// the shell of a system runs. `.recover` finds more, but fails in a shell whose library lacks
/// `SQLITE_ENABLE_DBPAGE_VTAB`, as that of Debian 12 does; a damaged table makes `.dump` end with a rollback.
const COMMANDS: [(&str, &str); 2] = [
    (".recover", "sqlite3 \"$1\" .recover | sqlite3 \"$2\""),
    (".dump", "sqlite3 \"$1\" .dump | sed '$s/^ROLLBACK;.*/COMMIT;/' | sqlite3 \"$2\""),
];

/// Replaces the database at `location` by what can be read of it. Returns the command; `None` if that is
/// nothing, or SQLite's shell is not installed.
pub(super) fn repair(location: &Path) -> Option<String> {
    let recovered = database::with_suffix(location, "-recovered");
    let mut commands = COMMANDS.into_iter();
    let (command, _) = commands.find(|(_, script)| writes(script, location, &recovered))?;
    // Journal and log belong to the damaged database.
    for file in database::files(location) {
        // Some of them may not exist.
        let _ = fs::remove_file(file);
    }
    fs::rename(recovered, location).ok()?;
    Some(format!("sqlite3 DATABASE {command}"))
}

/// Runs a script of the system's shell on a database, and returns whether anything is in the new one.
fn writes(script: &str, location: &Path, recovered: &Path) -> bool {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", script, "sh"]).arg(location).arg(recovered).stdin(Stdio::null());
    let ended = shell.stdout(Stdio::null()).stderr(Stdio::null()).status();
    ended.is_ok() && fs::metadata(recovered).is_ok_and(|new| new.len() > 0)
}
