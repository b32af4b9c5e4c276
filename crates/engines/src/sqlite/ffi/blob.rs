//! Incremental blob handles.

use std::{
    ffi::{CStr, c_int},
    ptr,
};

use libsqlite3_sys as sys;
use model::Result;

use super::{Connection, Functions};

/// An open handle; null if it could not be opened.
pub(crate) struct Blob {
    sqlite: &'static Functions,
    raw: *mut sys::sqlite3_blob,
    db: *mut sys::sqlite3,
}

impl Connection {
    /// Points `handle` at a row, opening it if necessary; returns `None` if there is no such row. A
    /// handle that failed to move is dropped: SQLite does not let it be used again. One that is open keeps its
    /// table and column.
    #[inline]
    pub(crate) fn move_blob<'h>(
        &self,
        handle: &'h mut Option<Blob>,
        (table, column): (&CStr, &CStr),
        rowid: i64,
        write: bool,
    ) -> Result<Option<&'h mut Blob>> {
        let code = if let Some(blob) = handle {
            // SAFETY: the handle is open.
            unsafe { blob.sqlite.sqlite3_blob_reopen(blob.raw, rowid) }
        } else {
            let (sqlite, db, write) = (self.sqlite, self.raw, c_int::from(write));
            let (main, table, column) = (c"main".as_ptr(), table.as_ptr(), column.as_ptr());
            let raw = &mut handle.insert(Blob { sqlite, raw: ptr::null_mut(), db }).raw;
            // SAFETY: open handle, NUL-terminated names; `raw` receives the blob or null.
            unsafe { sqlite.sqlite3_blob_open(db, main, table, column, rowid, write, raw) }
        };
        match code {
            sys::SQLITE_OK => return Ok(handle.as_mut()),
            sys::SQLITE_ERROR if self.sqlite.no_such_row(self.raw) => *handle = None,
            code => {
                let failure = self.sqlite.error(self.raw, code);
                *handle = None;
                return Err(failure);
            }
        }
        Ok(None)
    }
}

impl Blob {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        // SAFETY: the handle is open.
        usize::try_from(unsafe { self.sqlite.sqlite3_blob_bytes(self.raw) }).unwrap_or(0)
    }

    /// Reads the first `into.len()` bytes; at most [`Self::len`] may be asked for.
    #[inline]
    pub(crate) fn read(&mut self, into: &mut [u8]) -> Result<()> {
        let length = c_int::try_from(into.len()).expect("a blob's length fits SQLite's int");
        // SAFETY: `into` has room for `length` bytes.
        let code =
            unsafe { self.sqlite.sqlite3_blob_read(self.raw, into.as_mut_ptr().cast(), length, 0) };
        self.sqlite.check(self.db, code)
    }

    /// Overwrites the whole blob; `value` is as long as [`Self::len`].
    #[inline]
    pub(crate) fn write(&mut self, value: &[u8]) -> Result<()> {
        let length = c_int::try_from(value.len()).expect("a blob's length fits SQLite's int");
        // SAFETY: `value` has `length` bytes.
        let code =
            unsafe { self.sqlite.sqlite3_blob_write(self.raw, value.as_ptr().cast(), length, 0) };
        self.sqlite.check(self.db, code)
    }
}

impl Drop for Blob {
    fn drop(&mut self) {
        // SAFETY: closed once, null is allowed; the code repeats an earlier failure or a failed
        // autocommit, and sessions only hold blobs inside a transaction that they commit themselves.
        unsafe { self.sqlite.sqlite3_blob_close(self.raw) };
    }
}
