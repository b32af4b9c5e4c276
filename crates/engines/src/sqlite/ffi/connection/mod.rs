//! Connections.

mod handlers;

use std::{
    ffi::{CStr, CString, c_int, c_uint},
    ops::ControlFlow,
    path::Path,
    ptr,
    rc::Rc,
};

use libsqlite3_sys as sys;
use model::{Error, Result};

use super::{Functions, Statement, loaded::OnOneThread};
use handlers::Handlers;

/// The first SQLite that reads a database in WAL mode without side files.
const IMMUTABLE: c_int = 3_008_005;
/// The VFS of this system that takes no locks.
const VFS_WITHOUT_LOCKS: &CStr = if cfg!(windows) { c"win32-none" } else { c"unix-none" };
/// The first SQLite with `octet_length()`.
const OCTET_LENGTH: c_int = 3_043_000;

/// The way in which a database is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    ReadWrite,
    ReadOnly,
    /// An existing file that nobody writes to, to read without locks or side files.
    Immutable,
    /// An existing file with a log that no process has indexed, to read what both hold; without locks, and
    /// with an index in this process's memory. Only for the SQLite that is linked.
    Unindexed,
    /// A database in this process's memory, gone with its connection.
    Memory,
}

pub(crate) struct Connection {
    pub(super) sqlite: &'static Functions,
    pub(super) raw: *mut sys::sqlite3,
    file: Rc<str>,
    handlers: Rc<Handlers>,
    /// The mark of a session with a build that is not threadsafe.
    alone: Option<OnOneThread>,
}

// SAFETY: a connection without mutexes may move between threads as long as one uses it at a time,
// which `&mut`/`Mutex` around it ensure. What connections share is guarded by SQLite itself if it is
// compiled threadsafe; otherwise `OnOneThread` lets one thread work at a time.
unsafe impl Send for Connection {}

/// Returns `path` in the form of SQLite: never one of its special names, so `./` leads a relative
/// path.
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
    CString::new(name).map_err(|_| Error::usage("has a NUL byte").at(path.display()))
}

impl Connection {
    /// Opens `path`, which must exist.
    pub(crate) fn open(sqlite: &'static Functions, path: &Path, open: Open) -> Result<Self> {
        if open == Open::Immutable && sqlite.version_number() < IMMUTABLE {
            let why = "cannot read a database in WAL mode without files next to it; 3.8.5 can";
            let why = format!("{}: SQLite {} {why}", path.display(), sqlite.version());
            return Err(Error::unsupported(why));
        }
        let name = file_name(path, open)?;
        let flags = sys::SQLITE_OPEN_NOMUTEX
            | match open {
                Open::ReadWrite | Open::Memory => sys::SQLITE_OPEN_READWRITE,
                Open::ReadOnly | Open::Unindexed => sys::SQLITE_OPEN_READONLY,
                Open::Immutable => sys::SQLITE_OPEN_READONLY | sys::SQLITE_OPEN_URI,
            };
        let vfs = if open == Open::Unindexed { VFS_WITHOUT_LOCKS.as_ptr() } else { ptr::null() };
        let mut raw = ptr::null_mut();
        // SAFETY: names are NUL-terminated, `raw` receives the handle, also on failure.
        let code = unsafe { sqlite.sqlite3_open_v2(name.as_ptr(), &raw mut raw, flags, vfs) };
        let (file, handlers) = (path.display().to_string(), Handlers::new(sqlite));
        let (file, handlers) = (file.into(), Rc::new(handlers));
        let connection = Self { sqlite, raw, file, handlers, alone: None };
        connection.ok(code)?;
        connection.handle_waits();
        if open == Open::Unindexed {
            connection.leave_log()?;
        }
        Ok(connection)
    }

    /// Keeps the index of the log in memory, and the log as it is when the connection ends: closed as usual,
    /// one that shows nothing more than the database is removed.
    fn leave_log(&self) -> Result<()> {
        let (option, none) = (sys::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, ptr::null_mut::<c_int>());
        // SAFETY: the handle is open, and of the SQLite that is linked; this option has a number and a place
        // for the answer, which may be null.
        let code = unsafe { sys::sqlite3_db_config(self.raw, option, 1 as c_int, none) };
        self.ok(code)?;
        self.execute("PRAGMA locking_mode=EXCLUSIVE")
    }

    /// Restricts the connection to this thread if the build is not threadsafe, as a session's.
    ///
    /// # Errors
    ///
    /// Fails if another thread has a session of that build.
    pub(crate) fn restrict_to_thread(mut self) -> Result<Self> {
        self.alone = OnOneThread::claim(self.sqlite).map_err(|e| self.add_file_name(e))?;
        Ok(self)
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
        let (sqlite, db) = (self.sqlite, self.raw);
        // SAFETY: `sql` has `length` bytes; `raw` receives the statement or null.
        let code = unsafe {
            match sqlite.sqlite3_prepare_v3 {
                Some(prepare) => prepare(db, start, length, flags, &raw mut raw, end),
                None => sqlite.sqlite3_prepare_v2(db, start, length, &raw mut raw, end),
            }
        };
        self.ok(code)?;
        Ok(Statement { sqlite, raw, db, file: self.file.clone() })
    }

    /// Returns `sql` without `octet_length` in front of a single word, for a build that lacks it.
    pub(crate) fn adapt_sql(&self, sql: &str) -> String {
        const NAME: &str = "octet_length(";
        let mut parts = sql.split(NAME);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |sql, part| match part.split_once(')') {
            Some((word, rest)) if self.sqlite.version_number() < OCTET_LENGTH => format!(
                "{sql}CASE typeof({word}) WHEN 'blob' THEN length({word}) \
                 ELSE length(CAST({word} AS BLOB)) END{rest}"
            ),
            _ => sql + NAME + part,
        })
    }

    /// Returns one column of all rows of `sql`, as text.
    pub(crate) fn column(&self, sql: &str, column: c_int) -> Result<Vec<String>> {
        let mut rows = Vec::new();
        self.prepare_for(0, sql)?.rows([], |row| {
            rows.push(String::from_utf8_lossy(row.text(column)).into_owned());
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(rows)
    }

    /// Returns the first column of the first row of `sql` as a number; 0 if there is no row.
    pub(crate) fn number(&self, sql: &str) -> Result<i64> {
        Ok(self.prepare_for(0, sql)?.row([], |row| row.integer(0))?.unwrap_or(0))
    }

    /// Returns whether comparisons with a column of a table are by its bytes; `false` if it has a collation
    /// that is not, or that is unknown, as in a view.
    pub(crate) fn compares_bytes(&self, table: &CStr, column: &CStr) -> bool {
        let Some(metadata) = self.sqlite.sqlite3_table_column_metadata else { return false };
        let mut collation = ptr::null();
        let none = || ptr::null_mut::<c_int>();
        // SAFETY: open handle, NUL-terminated names; `collation` receives a string of SQLite, and what is
        // null is not returned.
        unsafe {
            let (main, type_name) = (c"main".as_ptr(), ptr::null_mut());
            let (table, column, found) = (table.as_ptr(), column.as_ptr(), &raw mut collation);
            let code =
                metadata(self.raw, main, table, column, type_name, found, none(), none(), none());
            code == sys::SQLITE_OK
                && !collation.is_null()
                && CStr::from_ptr(collation).to_bytes().eq_ignore_ascii_case(b"BINARY")
        }
    }

    /// Returns whether texts are kept in UTF-16, in which they have other lengths and another order than
    /// as they are read.
    pub(crate) fn is_utf_16(&self) -> Result<bool> {
        Ok(self.column("PRAGMA encoding", 0)?.iter().any(|name| name.starts_with("UTF-16")))
    }

    pub(crate) fn version_number(&self) -> c_int {
        self.sqlite.version_number()
    }

    pub(crate) fn version(&self) -> String {
        self.sqlite.version()
    }

    pub(crate) fn source_id(&self) -> String {
        self.sqlite.source_id()
    }

    pub(crate) fn changes(&self) -> i64 {
        // SAFETY: the handle is open.
        unsafe { self.sqlite.sqlite3_changes(self.raw) }.into()
    }

    /// Returns the counters of this connection's own page cache, as far as this build has them.
    pub(crate) fn cache_counters(&self) -> impl Iterator<Item = (&'static str, i64)> {
        let counters = [
            ("pager heap (bytes)", sys::SQLITE_DBSTATUS_CACHE_USED),
            ("page cache hits", sys::SQLITE_DBSTATUS_CACHE_HIT),
            ("page cache misses", sys::SQLITE_DBSTATUS_CACHE_MISS),
            ("page cache writes", sys::SQLITE_DBSTATUS_CACHE_WRITE),
        ];
        counters.into_iter().filter_map(|(name, which)| {
            let (mut now, mut highest) = (0, 0);
            let (count, reset) = ((&raw mut now, &raw mut highest), 1);
            // SAFETY: open handle, both pointers are to live integers.
            let code =
                unsafe { self.sqlite.sqlite3_db_status(self.raw, which, count.0, count.1, reset) };
            (code == sys::SQLITE_OK).then_some((name, i64::from(now)))
        })
    }

    /// Returns the database's name in errors.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    pub(crate) fn add_file_name(&self, error: Error) -> Error {
        error.at(&self.file)
    }

    fn ok(&self, code: c_int) -> Result<()> {
        self.sqlite.check(self.raw, code).map_err(|e| self.add_file_name(e))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let (sqlite, raw) = (self.sqlite, self.raw);
        // SAFETY: the handle came from open and is closed once. Null, where opening failed for lack
        // of memory, is allowed in the last two only. Builds without the latter need statements and
        // blobs to be gone, as they are where a connection is the last field of its owner.
        unsafe {
            if !raw.is_null() {
                sqlite.sqlite3_busy_handler(raw, None, ptr::null_mut());
                sqlite.sqlite3_wal_hook(raw, None, ptr::null_mut());
            }
            match sqlite.sqlite3_close_v2 {
                Some(close) => close(raw),
                None => sqlite.sqlite3_close(raw),
            };
        }
        drop(self.alone.take());
    }
}
