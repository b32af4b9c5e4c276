//! The functions of SQLite that this engine calls, as a table: those of the SQLite that is linked
//! into this program, or of another one that was loaded.

use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_void};

use libsqlite3_sys::{self as sys, sqlite3, sqlite3_backup, sqlite3_blob, sqlite3_stmt};
use model::{Error, ErrorKind, Result};

use super::text;

unsafe extern "C" {
    // libsqlite3-sys leaves this one out of its bindings.
    fn sqlite3_close_v2(db: *mut sqlite3) -> c_int;
}

/// What SQLite says of a header that has its first bytes and an unknown schema format.
const UNKNOWN_FORMAT: &str = "unsupported file format";

/// A function of SQLite's interface that releases a bound value.
type Destructor = Option<unsafe extern "C" fn(*mut c_void)>;
/// A function that SQLite calls when another connection holds a lock.
type BusyHandler = Option<unsafe extern "C" fn(*mut c_void, c_int) -> c_int>;
/// A function that SQLite calls after a commit to the WAL.
type WalHook =
    Option<unsafe extern "C" fn(*mut c_void, *mut sqlite3, *const c_char, c_int) -> c_int>;

/// Declares the table, how it is filled, and a method for each function that every SQLite must have.
/// Functions after `newer` are absent in old versions.
macro_rules! functions {
    (
        $(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*
        newer: $(fn $newer:ident = $linked:path: ($($newer_type:ty),*) -> $newer_result:ty;)*
    ) => {
        /// The functions of one SQLite library.
        pub(crate) struct Functions {
            $($name: unsafe extern "C" fn($($type),*) -> $result,)*
            $(pub(super) $newer: Option<unsafe extern "C" fn($($newer_type),*) -> $newer_result>,)*
        }

        /// The functions that are linked into this program.
        pub(crate) static LINKED: Functions = Functions {
            $($name: sys::$name,)*
            $($newer: Some($linked),)*
        };

        #[allow(clippy::too_many_arguments, reason = "as many as SQLite's")]
        impl Functions {
            /// Returns the functions of a loaded library, which is never unloaded; or the name of
            /// one that it lacks.
            ///
            /// # Safety
            ///
            /// Functions of these names are those of SQLite.
            pub(super) unsafe fn load_from(
                library: &libloading::Library,
            ) -> std::result::Result<Self, &'static str> {
                // SAFETY: promised by the caller; SQLite's functions keep their types.
                unsafe {
                    Ok(Self {
                        $($name: *library.get(stringify!($name)).map_err(|_| stringify!($name))?,)*
                        $($newer: library.get(stringify!($newer)).ok().map(|symbol| *symbol),)*
                    })
                }
            }

            $(
                #[inline]
                pub(super) unsafe fn $name(&self, $($argument: $type),*) -> $result {
                    // SAFETY: promised by the caller.
                    unsafe { (self.$name)($($argument),*) }
                }
            )*
        }
    };
}

functions! {
    fn sqlite3_libversion() -> *const c_char;
    fn sqlite3_libversion_number() -> c_int;
    fn sqlite3_sourceid() -> *const c_char;
    fn sqlite3_threadsafe() -> c_int;
    fn sqlite3_open_v2(name: *const c_char, db: *mut *mut sqlite3, flags: c_int, vfs: *const c_char) -> c_int;
    fn sqlite3_close(db: *mut sqlite3) -> c_int;
    fn sqlite3_errmsg(db: *mut sqlite3) -> *const c_char;
    fn sqlite3_changes(db: *mut sqlite3) -> c_int;
    fn sqlite3_db_status(db: *mut sqlite3, which: c_int, now: *mut c_int, highest: *mut c_int, reset: c_int) -> c_int;
    fn sqlite3_busy_handler(db: *mut sqlite3, handler: BusyHandler, handed: *mut c_void) -> c_int;
    fn sqlite3_wal_hook(db: *mut sqlite3, hook: WalHook, handed: *mut c_void) -> *mut c_void;
    fn sqlite3_wal_checkpoint(db: *mut sqlite3, schema: *const c_char) -> c_int;
    fn sqlite3_prepare_v2(db: *mut sqlite3, sql: *const c_char, length: c_int, raw: *mut *mut sqlite3_stmt, end: *mut *const c_char) -> c_int;
    fn sqlite3_bind_parameter_count(statement: *mut sqlite3_stmt) -> c_int;
    fn sqlite3_bind_null(statement: *mut sqlite3_stmt, index: c_int) -> c_int;
    fn sqlite3_bind_int64(statement: *mut sqlite3_stmt, index: c_int, value: i64) -> c_int;
    fn sqlite3_bind_double(statement: *mut sqlite3_stmt, index: c_int, value: f64) -> c_int;
    fn sqlite3_bind_text(statement: *mut sqlite3_stmt, index: c_int, text: *const c_char, length: c_int, free: Destructor) -> c_int;
    fn sqlite3_bind_blob(statement: *mut sqlite3_stmt, index: c_int, blob: *const c_void, length: c_int, free: Destructor) -> c_int;
    fn sqlite3_step(statement: *mut sqlite3_stmt) -> c_int;
    fn sqlite3_reset(statement: *mut sqlite3_stmt) -> c_int;
    fn sqlite3_finalize(statement: *mut sqlite3_stmt) -> c_int;
    fn sqlite3_column_name(statement: *mut sqlite3_stmt, column: c_int) -> *const c_char;
    fn sqlite3_column_type(statement: *mut sqlite3_stmt, column: c_int) -> c_int;
    fn sqlite3_column_blob(statement: *mut sqlite3_stmt, column: c_int) -> *const c_void;
    fn sqlite3_column_text(statement: *mut sqlite3_stmt, column: c_int) -> *const c_uchar;
    fn sqlite3_column_bytes(statement: *mut sqlite3_stmt, column: c_int) -> c_int;
    fn sqlite3_column_double(statement: *mut sqlite3_stmt, column: c_int) -> f64;
    fn sqlite3_column_int64(statement: *mut sqlite3_stmt, column: c_int) -> i64;
    fn sqlite3_backup_init(to: *mut sqlite3, schema: *const c_char, from: *mut sqlite3, other: *const c_char) -> *mut sqlite3_backup;
    fn sqlite3_backup_step(backup: *mut sqlite3_backup, pages: c_int) -> c_int;
    fn sqlite3_backup_finish(backup: *mut sqlite3_backup) -> c_int;
    fn sqlite3_blob_open(db: *mut sqlite3, schema: *const c_char, table: *const c_char, column: *const c_char, row: i64, write: c_int, blob: *mut *mut sqlite3_blob) -> c_int;
    fn sqlite3_blob_reopen(blob: *mut sqlite3_blob, row: i64) -> c_int;
    fn sqlite3_blob_close(blob: *mut sqlite3_blob) -> c_int;
    fn sqlite3_blob_bytes(blob: *mut sqlite3_blob) -> c_int;
    fn sqlite3_blob_read(blob: *mut sqlite3_blob, into: *mut c_void, length: c_int, at: c_int) -> c_int;
    fn sqlite3_blob_write(blob: *mut sqlite3_blob, from: *const c_void, length: c_int, at: c_int) -> c_int;

    newer:
    fn sqlite3_close_v2 = sqlite3_close_v2: (*mut sqlite3) -> c_int;
    fn sqlite3_prepare_v3 = sys::sqlite3_prepare_v3: (*mut sqlite3, *const c_char, c_int, c_uint, *mut *mut sqlite3_stmt, *mut *const c_char) -> c_int;
    fn sqlite3_table_column_metadata = sys::sqlite3_table_column_metadata: (*mut sqlite3, *const c_char, *const c_char, *const c_char, *mut *const c_char, *mut *const c_char, *mut c_int, *mut c_int, *mut c_int) -> c_int;
    fn sqlite3_status64 = sys::sqlite3_status64: (c_int, *mut i64, *mut i64, c_int) -> c_int;
}

impl Functions {
    /// Returns the version as one number: 3.40.1 is 3,040,001.
    pub(crate) fn version_number(&self) -> c_int {
        // SAFETY: takes nothing and returns a number.
        unsafe { self.sqlite3_libversion_number() }
    }

    pub(crate) fn version(&self) -> String {
        // SAFETY: returns a static NUL-terminated string.
        unsafe { text(self.sqlite3_libversion()) }
    }

    /// Returns the check-in that it was compiled from.
    pub(crate) fn source_id(&self) -> String {
        // SAFETY: returns a static NUL-terminated string.
        unsafe { text(self.sqlite3_sourceid()) }
    }

    /// Returns whether several threads may use it at once.
    pub(super) fn is_threadsafe(&self) -> bool {
        // SAFETY: takes nothing and returns a number.
        unsafe { self.sqlite3_threadsafe() != 0 }
    }

    /// Returns whether `other` is the very same code.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.sqlite3_step as usize == other.sqlite3_step as usize
    }

    /// Returns whether the last error is "no such row": SQLite has one code for that and other
    /// mistakes; only its message differs.
    pub(super) fn no_such_row(&self, db: *mut sqlite3) -> bool {
        // SAFETY: the connection is alive as long as a handle on it is.
        unsafe { CStr::from_ptr(self.sqlite3_errmsg(db)) }.to_bytes().starts_with(b"no such rowid")
    }

    /// Converts `code` to an error with SQLite's own message.
    #[inline]
    pub(super) fn check(&self, db: *mut sqlite3, code: c_int) -> Result<()> {
        if code == sys::SQLITE_OK { Ok(()) } else { Err(self.error(db, code)) }
    }

    #[cold]
    pub(super) fn error(&self, db: *mut sqlite3, code: c_int) -> Error {
        // SAFETY: null is allowed where opening failed for lack of memory; otherwise alive.
        let message = unsafe { text(self.sqlite3_errmsg(db)) };
        let kind = match code & 0xff {
            sys::SQLITE_CORRUPT | sys::SQLITE_NOTADB => ErrorKind::Corrupt,
            sys::SQLITE_ERROR if message == UNKNOWN_FORMAT => ErrorKind::Corrupt,
            sys::SQLITE_CANTOPEN => ErrorKind::Missing,
            sys::SQLITE_BUSY => ErrorKind::Busy,
            _ => ErrorKind::Failed,
        };
        let cause = match code & 0xff {
            sys::SQLITE_NOTADB => ", or it is encrypted",
            // Only the start of an encrypted database may be left as it is.
            sys::SQLITE_ERROR if message == UNKNOWN_FORMAT => ": it is encrypted, or damaged",
            _ => "",
        };
        Error::new(kind, message + cause)
    }
}
