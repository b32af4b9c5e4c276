//! The online backup of a database.

use std::{ffi::c_int, thread, time::Duration};

use libsqlite3_sys as sys;
use model::Result;

use super::{Connection, Functions};

/// The pages that are copied in one step, as in the sqlite3 shell.
const PAGES: c_int = 100;
/// How long to wait for a lock.
const WAIT: Duration = Duration::from_millis(1);

impl Connection {
    /// Returns the library of the connection.
    pub(crate) fn functions(&self) -> &'static Functions {
        self.sqlite
    }

    /// Copies the database into the empty one of `to`. It starts again whenever another connection has
    /// written; returns `false` if it is not done when `is_over` returns `true`.
    pub(crate) fn back_up(&self, to: &Self, is_over: &dyn Fn() -> bool) -> Result<bool> {
        let (main, sqlite) = (c"main".as_ptr(), self.sqlite);
        // SAFETY: both handles are open and live longer than the backup, which is finished below.
        let backup = unsafe { sqlite.sqlite3_backup_init(to.raw, main, self.raw, main) };
        if backup.is_null() {
            return Err(to.add_file_name(sqlite.error(to.raw, sys::SQLITE_ERROR)));
        }
        let mut done = Ok(true);
        loop {
            // SAFETY: the backup is not finished yet.
            match unsafe { sqlite.sqlite3_backup_step(backup, PAGES) } {
                sys::SQLITE_DONE => break,
                sys::SQLITE_OK | sys::SQLITE_BUSY | sys::SQLITE_LOCKED if is_over() => {
                    done = Ok(false);
                    break;
                }
                sys::SQLITE_OK => {}
                sys::SQLITE_BUSY | sys::SQLITE_LOCKED => thread::sleep(WAIT),
                code => {
                    done = Err(code);
                    break;
                }
            }
        }
        // SAFETY: finished once; the code of a failed step is returned again.
        unsafe { sqlite.sqlite3_backup_finish(backup) };
        done.map_err(|code| to.add_file_name(sqlite.error(to.raw, code)))
    }
}
