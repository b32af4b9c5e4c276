//! Connections.

use std::{
    ffi::{CStr, CString, c_int},
    path::Path,
    ptr,
    rc::Rc,
};

use libsqlite3_sys as sys;
use model::{Error, Result};

use super::{Blob, Statement, busy::Waits, check, checkpoints::Checkpoints, error, no_such_row};

unsafe extern "C" {
    // libsqlite3-sys leaves this one out of its bindings.
    fn sqlite3_close_v2(db: *mut sys::sqlite3) -> c_int;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    ReadWrite,
    ReadOnly,
    /// An existing file that nobody writes to, to read without locks or side files.
    Immutable,
    /// A database in this process's memory, gone with its connection.
    Memory,
}

pub(crate) struct Connection {
    pub(super) raw: *mut sys::sqlite3,
    file: String,
    /// `None` until it is open.
    waits: Option<Rc<Waits>>,
    /// Where its checkpoints are timed.
    pub(super) checkpoints: Option<Rc<Checkpoints>>,
}

// SAFETY: SQLite is compiled threadsafe; a connection without mutexes may move between threads
// as long as one uses it at a time, which `&mut`/`Mutex` around it ensure.
unsafe impl Send for Connection {}

/// `path` as SQLite takes it: never one of its special names, so `./` leads a relative path.
fn file_name(path: &Path, open: Open) -> Result<CString> {
    if open == Open::Memory {
        return Ok(c":memory:".to_owned());
    }
    let bytes = path.as_os_str().as_encoded_bytes();
    let lead: &[u8] = if path.is_relative() { b"./" } else { b"" };
    let plain = [lead, bytes].concat();
    let name = if open == Open::Immutable {
        let escaped = plain.iter().flat_map(|b| match b {
            b'%' | b'?' | b'#' => format!("%{b:02X}").into_bytes(),
            _ => vec![*b],
        });
        b"file:".iter().copied().chain(escaped).chain(*b"?immutable=1").collect()
    } else {
        plain
    };
    CString::new(name).map_err(|_| Error::usage(format!("{}: has a NUL byte", path.display())))
}

impl Connection {
    /// Opens `path`, which must be there.
    pub(crate) fn open(path: &Path, open: Open) -> Result<Self> {
        let name = file_name(path, open)?;
        let flags = sys::SQLITE_OPEN_NOMUTEX
            | match open {
                Open::ReadWrite | Open::Memory => sys::SQLITE_OPEN_READWRITE,
                Open::ReadOnly => sys::SQLITE_OPEN_READONLY,
                Open::Immutable => sys::SQLITE_OPEN_READONLY | sys::SQLITE_OPEN_URI,
            };
        let mut raw = ptr::null_mut();
        // SAFETY: `name` is NUL-terminated, `raw` receives the handle, also on failure.
        let code = unsafe { sys::sqlite3_open_v2(name.as_ptr(), &raw mut raw, flags, ptr::null()) };
        let file = path.display().to_string();
        let mut connection = Self { raw, file, waits: None, checkpoints: None };
        connection.ok(code)?;
        // SAFETY: the handle is open; the handler is taken back when the connection is dropped.
        connection.waits = Some(unsafe { Waits::of(raw) });
        Ok(connection)
    }

    /// Does what comes before all else, with short waits: nothing is lost yet.
    pub(crate) fn first<T>(&self, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let Some(waits) = &self.waits else { return work(self) };
        match waits.shorten(|| work(self)) {
            (Err(_), Some(s)) => {
                Err(self
                    .named(Error::usage(format!("another process holds it locked (waited {s} s)"))))
            }
            (done, _) => done,
        }
    }

    /// Runs statements that return nothing of interest.
    pub(crate) fn execute(&self, sql: &str) -> Result<()> {
        self.execute_c(&CString::new(sql).expect("SQL of this engine has no NUL byte"))
    }

    /// The same, from a text that ends with a NUL.
    #[inline]
    pub(crate) fn execute_c(&self, sql: &CStr) -> Result<()> {
        // SAFETY: open handle, NUL-terminated text, no callback.
        let code = unsafe {
            sys::sqlite3_exec(self.raw, sql.as_ptr(), None, ptr::null_mut(), ptr::null_mut())
        };
        self.ok(code)
    }

    /// Prepares a statement that will be used many times.
    pub(crate) fn prepare(&self, sql: &str) -> Result<Statement> {
        let length = c_int::try_from(sql.len()).expect("SQL of this engine is short");
        let mut raw = ptr::null_mut();
        // SAFETY: `sql` has `length` bytes; `raw` receives the statement or null.
        let code = unsafe {
            sys::sqlite3_prepare_v3(
                self.raw,
                sql.as_ptr().cast(),
                length,
                sys::SQLITE_PREPARE_PERSISTENT,
                &raw mut raw,
                ptr::null_mut(),
            )
        };
        self.ok(code)?;
        Ok(Statement { raw, db: self.raw })
    }

    /// All rows of `sql`, first column only, as text.
    pub(crate) fn column(&self, sql: &str) -> Result<Vec<String>> {
        let mut statement = self.prepare(sql)?;
        let mut rows = Vec::new();
        while statement.step().map_err(|e| self.named(e))? {
            rows.push(String::from_utf8_lossy(statement.text(0)).into_owned());
        }
        Ok(rows)
    }

    /// First column of the first row of `sql` as a number; 0 where there is no row.
    pub(crate) fn number(&self, sql: &str) -> Result<i64> {
        let mut statement = self.prepare(sql)?;
        let row = statement.step().map_err(|e| self.named(e))?;
        Ok(if row { statement.integer(0) } else { 0 })
    }

    /// Opens a handle on a blob; `None` where there is no such row.
    pub(crate) fn blob(
        &self,
        table: &CStr,
        column: &CStr,
        rowid: i64,
        write: bool,
    ) -> Result<Option<Blob>> {
        let mut raw = ptr::null_mut();
        // SAFETY: open handle, NUL-terminated names; `raw` receives the blob or null.
        let code = unsafe {
            sys::sqlite3_blob_open(
                self.raw,
                c"main".as_ptr(),
                table.as_ptr(),
                column.as_ptr(),
                rowid,
                c_int::from(write),
                &raw mut raw,
            )
        };
        match code {
            sys::SQLITE_OK => Ok(Some(Blob { raw, db: self.raw })),
            sys::SQLITE_ERROR if no_such_row(self.raw) => Ok(None),
            _ => Err(error(self.raw, code)),
        }
    }

    pub(crate) fn changes(&self) -> i64 {
        // SAFETY: the handle is open.
        unsafe { sys::sqlite3_changes64(self.raw) }
    }

    /// How often it waited for others' locks, since last asked.
    pub(crate) fn waits(&self) -> Vec<(&'static str, i64)> {
        self.waits.as_ref().map_or_else(Vec::new, |waits| waits.take().into())
    }

    /// Counters of this connection's own page cache.
    pub(crate) fn cache_counters(&self) -> Vec<(&'static str, i64)> {
        [
            ("pager heap (bytes)", sys::SQLITE_DBSTATUS_CACHE_USED),
            ("page cache hits", sys::SQLITE_DBSTATUS_CACHE_HIT),
            ("page cache misses", sys::SQLITE_DBSTATUS_CACHE_MISS),
            ("page cache writes", sys::SQLITE_DBSTATUS_CACHE_WRITE),
        ]
        .into_iter()
        .map(|(name, which)| {
            let (mut current, mut highest) = (0, 0);
            // SAFETY: open handle, both pointers are to live integers.
            unsafe {
                sys::sqlite3_db_status(self.raw, which, &raw mut current, &raw mut highest, 1)
            };
            (name, i64::from(current))
        })
        .collect()
    }

    pub(crate) fn named(&self, error: Error) -> Error {
        error.context(&self.file)
    }

    fn ok(&self, code: c_int) -> Result<()> {
        check(self.raw, code).map_err(|e| self.named(e))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: the handle came from open and is closed once. Null, where opening failed for lack
        // of memory, is allowed in the latter only.
        unsafe {
            if !self.raw.is_null() {
                sys::sqlite3_busy_handler(self.raw, None, ptr::null_mut());
                sys::sqlite3_wal_hook(self.raw, None, ptr::null_mut());
            }
            sqlite3_close_v2(self.raw);
        }
    }
}
