//! The calls into SQLite's C interface, all of them through a table of functions: the SQLite that is
//! linked into this program, and others that are loaded, are called in the same way.
//!
//! Statements and blob handles may outlive their connection here: it is closed with
//! `sqlite3_close_v2`, which frees it only after the last of them. A handle stays on the thread
//! that made it (`!Send` by its raw pointer); connections are opened without SQLite's own
//! mutexes, and [`Connection`] is `Send` because nothing else refers to it while it moves.

mod backup;
mod blob;
mod connection;
mod loaded;
mod statement;
mod table;

use std::ffi::{CStr, c_char};

use libsqlite3_sys as sys;

pub(super) use blob::Blob;
pub(super) use connection::{Connection, Open};
pub(super) use loaded::load;
pub(super) use statement::Parameter;
pub(crate) use statement::Statement;
pub(super) use table::{Functions, LINKED};

/// Returns the process-wide memory counters of the SQLite that is linked, as kvtest's `--stats`
/// shows them: name, current, highest.
pub fn memory_counters() -> [(&'static str, i64, i64); 6] {
    [
        ("memory used (bytes)", sys::SQLITE_STATUS_MEMORY_USED),
        ("outstanding allocations", sys::SQLITE_STATUS_MALLOC_COUNT),
        ("page cache pages used", sys::SQLITE_STATUS_PAGECACHE_USED),
        ("page cache overflow (bytes)", sys::SQLITE_STATUS_PAGECACHE_OVERFLOW),
        ("largest allocation (bytes)", sys::SQLITE_STATUS_MALLOC_SIZE),
        ("largest page cache allocation (bytes)", sys::SQLITE_STATUS_PAGECACHE_SIZE),
    ]
    .map(|(name, which)| {
        let (mut current, mut highest) = (0, 0);
        if let Some(status) = LINKED.sqlite3_status64 {
            // SAFETY: both pointers are to live integers.
            unsafe { status(which, &raw mut current, &raw mut highest, 0) };
        }
        (name, current, highest)
    })
}

/// Copies a string of SQLite.
///
/// # Safety
///
/// `raw` points to a NUL-terminated string that lives during the call.
unsafe fn text(raw: *const c_char) -> String {
    // SAFETY: promised by the caller.
    unsafe { CStr::from_ptr(raw) }.to_string_lossy().into_owned()
}
