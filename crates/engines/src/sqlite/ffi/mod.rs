//! The calls into SQLite's C interface.
//!
//! Statements and blob handles may outlive their connection here: it is closed with
//! `sqlite3_close_v2`, which frees it only after the last of them. A handle stays on the thread
//! that made it (`!Send` by its raw pointer); connections are opened without SQLite's own
//! mutexes, and [`Connection`] is `Send` because nothing else refers to it while it moves.

mod blob;
mod connection;
mod handlers;
mod statement;

use std::ffi::{CStr, c_char, c_int};

use libsqlite3_sys as sys;
use model::{Error, ErrorKind, Result};

pub(super) use blob::Blob;
pub(super) use connection::{Connection, Open};
pub(super) use statement::{Statement, Value};

/// Process-wide memory counters of SQLite, as kvtest's `--stats` shows them: name, current,
/// highest.
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
        // SAFETY: both pointers are to live integers.
        unsafe { sys::sqlite3_status64(which, &raw mut current, &raw mut highest, 0) };
        (name, current, highest)
    })
}

/// # Safety
/// `raw` points to a NUL-terminated string that lives during the call.
unsafe fn text(raw: *const c_char) -> String {
    // SAFETY: promised by the caller.
    unsafe { CStr::from_ptr(raw) }.to_string_lossy().into_owned()
}

/// SQLite has one code for "no such row" and other mistakes; only its message differs.
fn no_such_row(db: *mut sys::sqlite3) -> bool {
    // SAFETY: the connection is alive as long as a handle on it is.
    unsafe { CStr::from_ptr(sys::sqlite3_errmsg(db)) }.to_bytes().starts_with(b"no such rowid")
}

/// What `code` means, by SQLite's own message.
#[inline]
fn check(db: *mut sys::sqlite3, code: c_int) -> Result<()> {
    if code == sys::SQLITE_OK { Ok(()) } else { Err(error(db, code)) }
}

#[cold]
fn error(db: *mut sys::sqlite3, code: c_int) -> Error {
    // SAFETY: null is allowed where opening failed for lack of memory; otherwise alive.
    let message = unsafe { text(sys::sqlite3_errmsg(db)) };
    let kind = match code & 0xff {
        sys::SQLITE_CORRUPT | sys::SQLITE_NOTADB => ErrorKind::Corrupt,
        sys::SQLITE_CANTOPEN => ErrorKind::Missing,
        _ => ErrorKind::Failed,
    };
    Error::new(kind, message)
}
