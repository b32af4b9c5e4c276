//! Incremental blob handles.

use std::ffi::c_int;

use libsqlite3_sys as sys;
use model::Result;

use super::{check, error, no_such_row};

pub(crate) struct Blob {
    pub(super) raw: *mut sys::sqlite3_blob,
    pub(super) db: *mut sys::sqlite3,
}

impl Blob {
    /// Moves the handle to another row; `false` where there is none, after which the handle is
    /// of no use and must be dropped.
    #[inline]
    pub(crate) fn reopen(&mut self, rowid: i64) -> Result<bool> {
        // SAFETY: the handle is open.
        match unsafe { sys::sqlite3_blob_reopen(self.raw, rowid) } {
            sys::SQLITE_OK => Ok(true),
            sys::SQLITE_ERROR if no_such_row(self.db) => Ok(false),
            code => Err(error(self.db, code)),
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        // SAFETY: the handle is open.
        usize::try_from(unsafe { sys::sqlite3_blob_bytes(self.raw) }).unwrap_or(0)
    }

    /// Reads the first `into.len()` bytes; at most [`Self::len`] may be asked for.
    #[inline]
    pub(crate) fn read(&mut self, into: &mut [u8]) -> Result<()> {
        let length = c_int::try_from(into.len()).expect("a blob's length fits SQLite's int");
        // SAFETY: `into` has room for `length` bytes.
        let code = unsafe { sys::sqlite3_blob_read(self.raw, into.as_mut_ptr().cast(), length, 0) };
        check(self.db, code)
    }

    /// Overwrites the whole blob; `value` is as long as [`Self::len`].
    #[inline]
    pub(crate) fn write(&mut self, value: &[u8]) -> Result<()> {
        let length = c_int::try_from(value.len()).expect("a blob's length fits SQLite's int");
        // SAFETY: `value` has `length` bytes.
        let code = unsafe { sys::sqlite3_blob_write(self.raw, value.as_ptr().cast(), length, 0) };
        check(self.db, code)
    }
}

impl Drop for Blob {
    fn drop(&mut self) {
        // SAFETY: closed once; the code repeats an earlier failure or a failed autocommit, and
        // sessions only hold blobs inside a transaction that they commit themselves.
        unsafe { sys::sqlite3_blob_close(self.raw) };
    }
}
