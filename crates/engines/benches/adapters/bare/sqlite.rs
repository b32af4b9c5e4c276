//! SQLite's C interface without anything around it: one transaction, everything prepared once.

use std::{
    ffi::{CString, c_int},
    path::Path,
    ptr, slice,
};

use libsqlite3_sys as sys;
use model::{Error, Result};

use super::{Bare, Work};

/// A connection, never closed: the process ends with the bench.
#[derive(Clone, Copy)]
struct Connection(*mut sys::sqlite3);

impl Connection {
    fn open(path: &Path, flags: c_int, pragmas: &str) -> Result<Self> {
        let name = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| Error::usage("the path has a zero byte"))?;
        let flags = flags | sys::SQLITE_OPEN_NOMUTEX;
        let mut raw = ptr::null_mut();
        // SAFETY: the name ends in a zero byte, `raw` receives the handle.
        let code = unsafe { sys::sqlite3_open_v2(name.as_ptr(), &raw mut raw, flags, ptr::null()) };
        assert_eq!(code, sys::SQLITE_OK, "opening {}", path.display());
        let connection = Self(raw);
        connection.execute(pragmas);
        Ok(connection)
    }

    fn execute(self, sql: &str) {
        let text = CString::new(sql).expect("SQL has no zero byte");
        // SAFETY: the handle is open, the text ends in a zero byte, there is no callback.
        let code = unsafe {
            sys::sqlite3_exec(self.0, text.as_ptr(), None, ptr::null_mut(), ptr::null_mut())
        };
        assert_eq!(code, sys::SQLITE_OK, "{sql}");
    }

    fn prepare(self, sql: &str) -> *mut sys::sqlite3_stmt {
        let length = c_int::try_from(sql.len()).expect("SQL is short");
        let flags = sys::SQLITE_PREPARE_PERSISTENT;
        let (text, mut raw) = (sql.as_ptr().cast(), ptr::null_mut());
        // SAFETY: the text has that length, `raw` receives the statement.
        let code = unsafe {
            sys::sqlite3_prepare_v3(self.0, text, length, flags, &raw mut raw, ptr::null_mut())
        };
        assert_eq!(code, sys::SQLITE_OK, "{sql}");
        raw
    }

    fn blob(self, key: i64, write: bool) -> *mut sys::sqlite3_blob {
        let (main, table, column) = (c"main".as_ptr(), c"kv".as_ptr(), c"v".as_ptr());
        let mut raw = ptr::null_mut();
        // SAFETY: the handle is open, names end in a zero byte, `raw` receives the blob.
        let code = unsafe {
            sys::sqlite3_blob_open(self.0, main, table, column, key, write.into(), &raw mut raw)
        };
        assert_eq!(code, sys::SQLITE_OK, "opening a blob");
        raw
    }
}

/// `SELECT`, copied out of the row.
pub(crate) struct Select {
    db: Connection,
    statement: *mut sys::sqlite3_stmt,
}

impl Select {
    pub(crate) fn open(path: &Path, pragmas: &str) -> Result<Self> {
        Self::by(path, pragmas, "SELECT v FROM kv WHERE k=?1")
    }

    /// By a statement whose parameter is the key.
    pub(crate) fn by(path: &Path, pragmas: &str, sql: &str) -> Result<Self> {
        let db = Connection::open(path, sys::SQLITE_OPEN_READONLY, pragmas)?;
        Ok(Self { db, statement: db.prepare(sql) })
    }

    /// Does `work` in one transaction.
    pub(super) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        self.db.execute("BEGIN");
        let done = work();
        self.db.execute("COMMIT");
        done
    }

    /// Copies the value of `key` to the front of `into` and returns its length.
    #[inline]
    pub(super) fn get(&self, key: i64, into: &mut [u8]) -> usize {
        // SAFETY: the statement is alive; the row's bytes are until it is reset.
        unsafe {
            assert_eq!(sys::sqlite3_bind_int64(self.statement, 1, key), sys::SQLITE_OK);
            assert_eq!(sys::sqlite3_step(self.statement), sys::SQLITE_ROW);
            let start = sys::sqlite3_column_blob(self.statement, 0);
            let length = sys::sqlite3_column_bytes(self.statement, 0);
            let length = usize::try_from(length).expect("a length");
            into[..length].copy_from_slice(slice::from_raw_parts(start.cast(), length));
            assert_eq!(sys::sqlite3_reset(self.statement), sys::SQLITE_OK);
            length
        }
    }
}

impl Bare for Select {
    fn pass(&mut self, work: &Work<'_>, buffer: &mut [u8]) -> usize {
        self.within(|| work.keys.iter().map(|key| self.get(*key, buffer)).sum())
    }
}

/// One handle, moved from row to row.
pub(crate) struct BlobRead(Connection);

impl BlobRead {
    pub(crate) fn open(path: &Path, pragmas: &str) -> Result<Self> {
        Connection::open(path, sys::SQLITE_OPEN_READONLY, pragmas).map(Self)
    }
}

impl Bare for BlobRead {
    fn pass(&mut self, work: &Work<'_>, buffer: &mut [u8]) -> usize {
        self.0.execute("BEGIN");
        let blob = self.0.blob(work.keys[0], false);
        let mut bytes = 0;
        for key in work.keys {
            // SAFETY: the blob is open; the buffer has room for `length` bytes, as asserted.
            unsafe {
                assert_eq!(sys::sqlite3_blob_reopen(blob, *key), sys::SQLITE_OK);
                let length = sys::sqlite3_blob_bytes(blob);
                let room = &mut buffer[..usize::try_from(length).expect("a length")];
                let code = sys::sqlite3_blob_read(blob, room.as_mut_ptr().cast(), length, 0);
                assert_eq!(code, sys::SQLITE_OK);
                bytes += room.len();
            }
        }
        // SAFETY: closed once.
        assert_eq!(unsafe { sys::sqlite3_blob_close(blob) }, sys::SQLITE_OK);
        self.0.execute("COMMIT");
        bytes
    }
}

/// `UPDATE`, the payload bound in place.
pub(crate) struct Update {
    db: Connection,
    statement: *mut sys::sqlite3_stmt,
}

impl Update {
    pub(crate) fn open(path: &Path, pragmas: &str) -> Result<Self> {
        let db = Connection::open(path, sys::SQLITE_OPEN_READWRITE, pragmas)?;
        Ok(Self { db, statement: db.prepare("UPDATE kv SET v=?2 WHERE k=?1") })
    }

    #[inline]
    fn put(&self, key: i64, value: &[u8]) {
        let length = value.len() as u64;
        // SAFETY: the statement is alive, and is stepped and reset while `value` is.
        unsafe {
            assert_eq!(sys::sqlite3_bind_int64(self.statement, 1, key), sys::SQLITE_OK);
            let start = value.as_ptr().cast();
            let code = sys::sqlite3_bind_blob64(self.statement, 2, start, length, None);
            assert_eq!(code, sys::SQLITE_OK);
            assert_eq!(sys::sqlite3_step(self.statement), sys::SQLITE_DONE);
            assert_eq!(sys::sqlite3_reset(self.statement), sys::SQLITE_OK);
            assert_eq!(sys::sqlite3_changes64(self.db.0), 1);
        }
    }
}

impl Bare for Update {
    fn pass(&mut self, work: &Work<'_>, _: &mut [u8]) -> usize {
        self.db.execute("BEGIN IMMEDIATE");
        let mut bytes = 0;
        for key in work.keys {
            let payload = work.data.payload(*key, work.salt);
            self.put(*key, payload);
            bytes += payload.len();
        }
        self.db.execute("COMMIT");
        bytes
    }
}

/// One handle, moved from row to row and written through.
pub(crate) struct BlobWrite(Connection);

impl BlobWrite {
    pub(crate) fn open(path: &Path, pragmas: &str) -> Result<Self> {
        Connection::open(path, sys::SQLITE_OPEN_READWRITE, pragmas).map(Self)
    }
}

impl Bare for BlobWrite {
    fn pass(&mut self, work: &Work<'_>, _: &mut [u8]) -> usize {
        self.0.execute("BEGIN IMMEDIATE");
        let blob = self.0.blob(work.keys[0], true);
        let mut bytes = 0;
        for key in work.keys {
            let payload = work.data.payload(*key, work.salt);
            // SAFETY: the blob is open, the payload is as long as the blob.
            unsafe {
                assert_eq!(sys::sqlite3_blob_reopen(blob, *key), sys::SQLITE_OK);
                let length = sys::sqlite3_blob_bytes(blob);
                assert_eq!(usize::try_from(length), Ok(payload.len()));
                let code = sys::sqlite3_blob_write(blob, payload.as_ptr().cast(), length, 0);
                assert_eq!(code, sys::SQLITE_OK);
            }
            bytes += payload.len();
        }
        // SAFETY: closed once.
        assert_eq!(unsafe { sys::sqlite3_blob_close(blob) }, sys::SQLITE_OK);
        self.0.execute("COMMIT");
        bytes
    }
}
