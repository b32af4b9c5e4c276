//! Maintenance of a database on a connection of its own, while others work.

use std::{fs::File, path::Path};

use model::{Error, Maintenance, Result};

use super::{
    database::Database,
    ffi::{Connection, Open},
};

/// The kinds of maintenance, and how each is done.
pub(super) const KINDS: &[(Maintenance, &str)] = &[
    (
        Maintenance::Checkpoint,
        "PRAGMA wal_checkpoint(TRUNCATE), which waits for readers and writers",
    ),
    (Maintenance::Vacuum, "VACUUM"),
    (Maintenance::Analyze, "ANALYZE"),
    (
        Maintenance::Backup,
        "sqlite3_backup_step of 100 pages a time, as the shell's .backup: it starts again whenever \
         another connection has written",
    ),
    (Maintenance::IntegrityCheck, "PRAGMA integrity_check"),
    (Maintenance::Copy, "VACUUM INTO"),
];

/// Maintains a database; returns whether it finished: a backup ends when `is_over` says so, and others may keep
/// a checkpoint from the whole log. A copy and a backup are written to `to`, which is new.
///
/// # Errors
///
/// Fails if SQLite does, or finds damage.
pub(super) fn maintain(
    database: &Database,
    what: Maintenance,
    to: &Path,
    is_over: &dyn Fn() -> bool,
) -> Result<bool> {
    let db = database.connect()?;
    match what {
        // Its row says whether a reader or a writer kept it from the whole log.
        Maintenance::Checkpoint => Ok(db.number("PRAGMA wal_checkpoint(TRUNCATE)")? == 0),
        Maintenance::Vacuum => db.execute("VACUUM").map(|()| true),
        Maintenance::Analyze => db.execute("ANALYZE").map(|()| true),
        Maintenance::IntegrityCheck => match db.column("PRAGMA integrity_check", 0)?.as_slice() {
            [ok] if ok == "ok" => Ok(true),
            [first, ..] => Err(db.add_file_name(Error::corrupt(first))),
            [] => Ok(true),
        },
        Maintenance::Copy => {
            let name = to.to_str().ok_or_else(|| Error::unsupported("its path is not UTF-8"))?;
            let name = name.replace('\'', "''");
            db.execute(&format!("VACUUM INTO '{name}'")).map(|()| true)
        }
        Maintenance::Backup => {
            File::create_new(to).map_err(|e| Error::io(to.display(), e))?;
            let copy = Connection::open(db.functions(), to, Open::ReadWrite)?;
            db.back_up(&copy, is_over)
        }
        Maintenance::Compact => Err(Error::unsupported("SQLite has no levels to compact")),
    }
}
