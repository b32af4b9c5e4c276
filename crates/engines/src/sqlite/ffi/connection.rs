//! Connections.

use std::{
    ffi::{CString, c_int, c_uint},
    ops::ControlFlow,
    path::Path,
    ptr,
    rc::Rc,
};

use libsqlite3_sys as sys;
use model::{Error, Result};

use super::{Statement, check, handlers::Handlers, text};

/// The first with `octet_length()`.
const LEAST_VERSION: c_int = 3_043_000;

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
    file: Rc<str>,
    pub(super) handlers: Rc<Handlers>,
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
    /// Opens `path`, which must be there. A library of the system's that is too old is refused.
    pub(crate) fn open(path: &Path, open: Open) -> Result<Self> {
        // SAFETY: takes nothing and returns a number.
        if unsafe { sys::sqlite3_libversion_number() } < LEAST_VERSION {
            // SAFETY: returns a static NUL-terminated string.
            let version = unsafe { text(sys::sqlite3_libversion()) };
            let why = format!("SQLite {version} is linked; 3.43 or newer is needed");
            return Err(Error::unsupported(why));
        }
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
        let connection =
            Self { raw, file: path.display().to_string().into(), handlers: Rc::default() };
        connection.ok(code)?;
        connection.handle_waits();
        Ok(connection)
    }

    /// Runs a statement that returns nothing of interest.
    #[inline]
    pub(crate) fn execute(&self, sql: &str) -> Result<()> {
        self.prepare_for(0, sql)?.rows([], |_| Ok(ControlFlow::Continue(())))
    }

    /// Prepares a statement that will be used many times.
    pub(crate) fn prepare(&self, sql: &str) -> Result<Statement> {
        self.prepare_for(sys::SQLITE_PREPARE_PERSISTENT, sql)
    }

    fn prepare_for(&self, flags: c_uint, sql: &str) -> Result<Statement> {
        let length = c_int::try_from(sql.len()).expect("SQL of this engine is short");
        let mut raw = ptr::null_mut();
        let (start, end) = (sql.as_ptr().cast(), ptr::null_mut());
        // SAFETY: `sql` has `length` bytes; `raw` receives the statement or null.
        let code =
            unsafe { sys::sqlite3_prepare_v3(self.raw, start, length, flags, &raw mut raw, end) };
        self.ok(code)?;
        Ok(Statement { raw, db: self.raw, file: self.file.clone() })
    }

    /// All rows of `sql`, first column only, as text.
    pub(crate) fn column(&self, sql: &str) -> Result<Vec<String>> {
        let mut rows = Vec::new();
        self.prepare_for(0, sql)?.rows([], |row| {
            rows.push(String::from_utf8_lossy(row.text(0)).into_owned());
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(rows)
    }

    /// First column of the first row of `sql` as a number; 0 where there is no row.
    pub(crate) fn number(&self, sql: &str) -> Result<i64> {
        Ok(self.prepare_for(0, sql)?.row([], |row| row.integer(0))?.unwrap_or(0))
    }

    pub(crate) fn changes(&self) -> i64 {
        // SAFETY: the handle is open.
        unsafe { sys::sqlite3_changes64(self.raw) }
    }

    /// Counters of this connection's own page cache.
    pub(crate) fn cache_counters(&self) -> [(&'static str, i64); 4] {
        [
            ("pager heap (bytes)", sys::SQLITE_DBSTATUS_CACHE_USED),
            ("page cache hits", sys::SQLITE_DBSTATUS_CACHE_HIT),
            ("page cache misses", sys::SQLITE_DBSTATUS_CACHE_MISS),
            ("page cache writes", sys::SQLITE_DBSTATUS_CACHE_WRITE),
        ]
        .map(|(name, which)| {
            let (mut current, mut highest) = (0, 0);
            // SAFETY: open handle, both pointers are to live integers.
            unsafe {
                sys::sqlite3_db_status(self.raw, which, &raw mut current, &raw mut highest, 1)
            };
            (name, i64::from(current))
        })
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
