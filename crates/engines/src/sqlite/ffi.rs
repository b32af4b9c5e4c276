//! The calls into SQLite's C interface, and the only unsafe code of this engine.
//!
//! Statements and blob handles may outlive their connection here: it is closed with
//! `sqlite3_close_v2`, which frees it only after the last of them. A handle stays on the thread
//! that made it (`!Send` by its raw pointer); connections are opened without SQLite's own
//! mutexes, and [`Connection`] is `Send` because nothing else refers to it while it moves.

mod checkpoints;

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    path::Path,
    ptr,
    rc::Rc,
    slice,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use libsqlite3_sys as sys;
use model::{Error, ErrorKind, Result};

use checkpoints::Checkpoints;

unsafe extern "C" {
    // libsqlite3-sys leaves this one out of its bindings.
    fn sqlite3_close_v2(db: *mut sys::sqlite3) -> c_int;
}

/// How to open a database file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// An existing file, to read and write.
    ReadWrite,
    /// An existing file, to read.
    ReadOnly,
    /// An existing file that nobody writes to, to read without locks or side files.
    Immutable,
    /// A database in this process's memory, gone with its connection.
    Memory,
}

/// A connection.
pub(crate) struct Connection {
    raw: *mut sys::sqlite3,
    file: String,
    /// What waiting for other connections came to, counted by [`wait`].
    waits: Arc<Waits>,
    /// Where its checkpoints are timed.
    checkpoints: Option<Rc<Checkpoints>>,
}

/// How long locks of other connections are waited for, and what that came to.
struct Waits {
    /// Milliseconds after which a call gives up.
    longest: AtomicU64,
    /// Whether one did.
    gave_up: AtomicBool,
    /// Calls that found the database busy.
    calls: AtomicI64,
    /// Attempts repeated for it.
    repeats: AtomicI64,
}

impl Waits {
    fn new() -> Self {
        Self {
            longest: AtomicU64::new(LONGEST_WAIT_MS),
            gave_up: AtomicBool::new(false),
            calls: AtomicI64::new(0),
            repeats: AtomicI64::new(0),
        }
    }
}

// SAFETY: SQLite is compiled threadsafe; a connection without mutexes may move between threads
// as long as one uses it at a time, which `&mut`/`Mutex` around it ensure.
unsafe impl Send for Connection {}

/// A prepared statement. Every parameter is bound before each step, so that a bound slice is
/// never read after the call that bound it.
pub(crate) struct Statement {
    raw: *mut sys::sqlite3_stmt,
    db: *mut sys::sqlite3,
}

/// An open blob handle.
pub(super) struct Blob {
    raw: *mut sys::sqlite3_blob,
    db: *mut sys::sqlite3,
}

/// SQLite's version as it reports it.
pub(super) fn version() -> String {
    // SAFETY: returns a static NUL-terminated string.
    unsafe { text(sys::sqlite3_libversion()) }
}

/// Refuses a library of the system's that is too old.
pub(super) fn check_version() -> Result<()> {
    /// The first with `octet_length()`.
    const LEAST: c_int = 3_043_000;
    // SAFETY: takes nothing and returns a number.
    if unsafe { sys::sqlite3_libversion_number() } >= LEAST {
        return Ok(());
    }
    let version = version();
    Err(Error::unsupported(format!("SQLite {version} is linked; 3.43 or newer is needed")))
}

/// What SQLite was compiled with.
pub(super) fn compile_options() -> Vec<String> {
    // SAFETY: returns static strings, then null past the last.
    (0..).map_while(|i| unsafe { text_or_none(sys::sqlite3_compileoption_get(i)) }).collect()
}

/// Process-wide memory counters of SQLite, as kvtest's `--stats` shows them: name, current,
/// highest.
pub(super) fn memory_counters() -> Vec<(&'static str, i64, i64)> {
    [
        ("memory used (bytes)", sys::SQLITE_STATUS_MEMORY_USED),
        ("outstanding allocations", sys::SQLITE_STATUS_MALLOC_COUNT),
        ("page cache pages used", sys::SQLITE_STATUS_PAGECACHE_USED),
        ("page cache overflow (bytes)", sys::SQLITE_STATUS_PAGECACHE_OVERFLOW),
        ("largest allocation (bytes)", sys::SQLITE_STATUS_MALLOC_SIZE),
        ("largest page cache allocation (bytes)", sys::SQLITE_STATUS_PAGECACHE_SIZE),
    ]
    .into_iter()
    .map(|(name, which)| {
        let (mut current, mut highest) = (0, 0);
        // SAFETY: both pointers are to live integers.
        unsafe { sys::sqlite3_status64(which, &raw mut current, &raw mut highest, 0) };
        (name, current, highest)
    })
    .collect()
}

/// # Safety
/// `raw` points to a NUL-terminated string that lives during the call.
unsafe fn text(raw: *const c_char) -> String {
    // SAFETY: promised by the caller.
    unsafe { CStr::from_ptr(raw) }.to_string_lossy().into_owned()
}

/// # Safety
/// As [`text`], or null.
unsafe fn text_or_none(raw: *const c_char) -> Option<String> {
    // SAFETY: not null, the rest is promised by the caller.
    (!raw.is_null()).then(|| unsafe { text(raw) })
}

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
        let connection = Self { raw, file, waits: Arc::new(Waits::new()), checkpoints: None };
        connection.ok(code)?;
        let waits = Arc::as_ptr(&connection.waits).cast_mut().cast();
        // SAFETY: the handle is open; the counters live until the handler is taken back, when the
        // connection is dropped.
        unsafe { sys::sqlite3_busy_handler(connection.raw, Some(wait), waits) };
        Ok(connection)
    }

    /// Does what comes before all else. A lock that stays is told soon then: nothing is lost yet.
    pub(crate) fn first<T>(&self, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        self.waits.longest.store(FIRST_WAIT_MS, Ordering::Relaxed);
        let done = work(self);
        self.waits.longest.store(LONGEST_WAIT_MS, Ordering::Relaxed);
        if done.is_err() && self.waits.gave_up.load(Ordering::Relaxed) {
            let waited = FIRST_WAIT_MS / 1000;
            let what = format!("another process holds it locked (waited {waited} s)");
            return Err(self.named(Error::usage(what)));
        }
        done
    }

    /// Runs statements that return nothing of interest.
    pub(crate) fn execute(&self, sql: &str) -> Result<()> {
        self.execute_c(&CString::new(sql).expect("SQL of this engine has no NUL byte"))
    }

    /// The same, from a text that ends as C has it.
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
    pub(super) fn blob(
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

    /// Rows changed by the last statement.
    pub(crate) fn changes(&self) -> i64 {
        // SAFETY: the handle is open.
        unsafe { sys::sqlite3_changes64(self.raw) }
    }

    /// How often others' locks were met and attempts repeated, since last asked.
    pub(crate) fn waits(&self) -> [(&'static str, i64); 2] {
        let Waits { calls, repeats, .. } = &*self.waits;
        [
            (model::LOCK_WAITS, calls.swap(0, Ordering::Relaxed)),
            (model::BUSY_RETRIES, repeats.swap(0, Ordering::Relaxed)),
        ]
    }

    /// Counters of this connection's own page cache.
    pub(super) fn cache_counters(&self) -> Vec<(&'static str, i64)> {
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
        if code == sys::SQLITE_OK { Ok(()) } else { Err(self.named(error(self.raw, code))) }
    }
}

/// Another process may hold the lock for a whole batch; waiting longer than this is a failure.
const LONGEST_WAIT_MS: u64 = 60_000;
/// The same before anything was done.
const FIRST_WAIT_MS: u64 = 5_000;
/// How long to sleep before each attempt; the last goes on.
const SLEEPS_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/// Waits as `sqlite3_busy_timeout` does, and counts. 0: no longer.
///
/// # Safety
/// `waits` points to live [`Waits`].
unsafe extern "C" fn wait(waits: *mut c_void, attempts: c_int) -> c_int {
    // SAFETY: promised by the caller; both parts may be changed through a shared reference.
    let waits = unsafe { &*waits.cast::<Waits>() };
    let attempt = usize::try_from(attempts).unwrap_or(0);
    let last = SLEEPS_MS.len() - 1;
    let slept = SLEEPS_MS[..attempt.min(last)].iter().sum::<u64>()
        + attempt.saturating_sub(last) as u64 * SLEEPS_MS[last];
    if slept >= waits.longest.load(Ordering::Relaxed) {
        waits.gave_up.store(true, Ordering::Relaxed);
        return 0;
    }
    waits.calls.fetch_add(i64::from(attempt == 0), Ordering::Relaxed);
    waits.repeats.fetch_add(1, Ordering::Relaxed);
    thread::sleep(Duration::from_millis(SLEEPS_MS[attempt.min(last)]));
    1
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

impl Statement {
    /// Binds an integer to parameter `index`, counted from 1.
    pub(crate) fn bind_integer(&mut self, index: c_int, value: i64) -> Result<()> {
        // SAFETY: the statement is alive.
        let code = unsafe { sys::sqlite3_bind_int64(self.raw, index, value) };
        self.ok(code)
    }

    /// Binds NULL.
    pub(super) fn bind_null(&mut self, index: c_int) -> Result<()> {
        // SAFETY: the statement is alive.
        let code = unsafe { sys::sqlite3_bind_null(self.raw, index) };
        self.ok(code)
    }

    /// Binds bytes without copying them.
    ///
    /// # Safety
    /// `value` must stay alive and unchanged until the statement was reset after its last step
    /// with this binding.
    pub(super) unsafe fn bind_blob(&mut self, index: c_int, value: &[u8]) -> Result<()> {
        // An empty slice may dangle, and a null pointer would bind NULL.
        let start = if value.is_empty() { c"".as_ptr().cast() } else { value.as_ptr().cast() };
        // SAFETY: `value` has that many bytes; no destructor: SQLite reads them in place.
        let code =
            unsafe { sys::sqlite3_bind_blob64(self.raw, index, start, value.len() as u64, None) };
        self.ok(code)
    }

    /// Binds text without copying it. The bytes need not be UTF-8: SQLite does not look.
    ///
    /// # Safety
    /// As [`Self::bind_blob`].
    pub(super) unsafe fn bind_text(&mut self, index: c_int, value: &[u8]) -> Result<()> {
        // SAFETY: `value` has that many bytes; no destructor: SQLite reads them in place.
        let code = unsafe {
            sys::sqlite3_bind_text64(
                self.raw,
                index,
                value.as_ptr().cast(),
                value.len() as u64,
                None,
                UTF8,
            )
        };
        self.ok(code)
    }

    /// Steps; `true`: there is a row.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<bool> {
        // SAFETY: the statement is alive.
        match unsafe { sys::sqlite3_step(self.raw) } {
            sys::SQLITE_ROW => Ok(true),
            sys::SQLITE_DONE => Ok(false),
            code => {
                let failure = error(self.db, code);
                self.reset();
                Err(failure)
            }
        }
    }

    /// Ends the execution, so that no lock or row stays behind.
    #[inline]
    pub(crate) fn reset(&mut self) {
        // SAFETY: the statement is alive. The code repeats the last step's error.
        unsafe { sys::sqlite3_reset(self.raw) };
    }

    /// A column's bytes, until the next step or reset. NULL reads as no bytes.
    #[inline]
    pub(super) fn blob(&self, column: c_int) -> &[u8] {
        // SAFETY: SQLite keeps the bytes in place until the statement is stepped, reset or
        // finalised, all of which take `&mut self`; length is asked after the conversion.
        unsafe {
            let start = sys::sqlite3_column_blob(self.raw, column);
            if start.is_null() {
                return &[];
            }
            let length = sys::sqlite3_column_bytes(self.raw, column);
            slice::from_raw_parts(start.cast(), usize::try_from(length).unwrap_or(0))
        }
    }

    /// A column's text as UTF-8 bytes, whatever the database's encoding, until the next step or
    /// reset.
    pub(super) fn text(&self, column: c_int) -> &[u8] {
        // SAFETY: as in `blob`.
        unsafe {
            let start = sys::sqlite3_column_text(self.raw, column);
            if start.is_null() {
                return &[];
            }
            let length = sys::sqlite3_column_bytes(self.raw, column);
            slice::from_raw_parts(start, usize::try_from(length).unwrap_or(0))
        }
    }

    /// A column as an integer.
    pub(crate) fn integer(&self, column: c_int) -> i64 {
        // SAFETY: the statement is alive.
        unsafe { sys::sqlite3_column_int64(self.raw, column) }
    }

    fn ok(&self, code: c_int) -> Result<()> {
        if code == sys::SQLITE_OK { Ok(()) } else { Err(error(self.db, code)) }
    }
}

/// `SQLITE_UTF8` as the one-byte encoding argument of `sqlite3_bind_text64`.
const UTF8: u8 = 1;

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: finalised once.
        unsafe { sys::sqlite3_finalize(self.raw) };
    }
}

impl Blob {
    /// Moves the handle to another row; `false` where there is none, after which the handle is
    /// of no use and must be dropped.
    #[inline]
    pub(super) fn reopen(&mut self, rowid: i64) -> Result<bool> {
        // SAFETY: the handle is open.
        match unsafe { sys::sqlite3_blob_reopen(self.raw, rowid) } {
            sys::SQLITE_OK => Ok(true),
            sys::SQLITE_ERROR if no_such_row(self.db) => Ok(false),
            code => Err(error(self.db, code)),
        }
    }

    /// Length of the blob.
    #[inline]
    pub(super) fn len(&self) -> usize {
        // SAFETY: the handle is open.
        usize::try_from(unsafe { sys::sqlite3_blob_bytes(self.raw) }).unwrap_or(0)
    }

    /// Reads the first `into.len()` bytes; at most [`Self::len`] may be asked for.
    #[inline]
    pub(super) fn read(&mut self, into: &mut [u8]) -> Result<()> {
        let length = c_int::try_from(into.len()).expect("a blob's length fits SQLite's int");
        // SAFETY: `into` has room for `length` bytes.
        let code = unsafe { sys::sqlite3_blob_read(self.raw, into.as_mut_ptr().cast(), length, 0) };
        self.ok(code)
    }

    /// Overwrites the whole blob; `value` is as long as [`Self::len`].
    #[inline]
    pub(super) fn write(&mut self, value: &[u8]) -> Result<()> {
        let length = c_int::try_from(value.len()).expect("a blob's length fits SQLite's int");
        // SAFETY: `value` has `length` bytes.
        let code = unsafe { sys::sqlite3_blob_write(self.raw, value.as_ptr().cast(), length, 0) };
        self.ok(code)
    }

    fn ok(&self, code: c_int) -> Result<()> {
        if code == sys::SQLITE_OK { Ok(()) } else { Err(error(self.db, code)) }
    }
}

impl Drop for Blob {
    fn drop(&mut self) {
        // SAFETY: closed once; the code repeats an earlier failure or a failed autocommit, and
        // sessions only hold blobs inside a transaction that they commit themselves.
        unsafe { sys::sqlite3_blob_close(self.raw) };
    }
}

/// SQLite has one code for "no such row" and other mistakes; its message tells them apart.
fn no_such_row(db: *mut sys::sqlite3) -> bool {
    // SAFETY: the connection is alive as long as a handle on it is.
    unsafe { CStr::from_ptr(sys::sqlite3_errmsg(db)) }.to_bytes().starts_with(b"no such rowid")
}

/// SQLite's own message for `code`.
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
