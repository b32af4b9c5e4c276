//! Prepared statements.

use std::{ffi::c_int, ops::ControlFlow, rc::Rc, slice};

use libsqlite3_sys as sys;
use model::{Result, Visit};

use super::{check, error};

/// A prepared statement. Every parameter is bound before each step, so that a bound slice is
/// never read after the call that bound it.
pub(crate) struct Statement {
    pub(super) raw: *mut sys::sqlite3_stmt,
    pub(super) db: *mut sys::sqlite3,
    /// The database's name in errors.
    pub(super) file: Rc<str>,
}

impl Statement {
    /// Binds an integer or NULL to parameter `index`, counted from 1.
    #[inline]
    pub(crate) fn bind_integer(
        &mut self,
        index: c_int,
        value: impl Into<Option<i64>>,
    ) -> Result<()> {
        let code = match value.into() {
            // SAFETY: the statement is alive.
            Some(value) => unsafe { sys::sqlite3_bind_int64(self.raw, index, value) },
            // SAFETY: as above.
            None => unsafe { sys::sqlite3_bind_null(self.raw, index) },
        };
        check(self.db, code)
    }

    /// Binds bytes without copying them.
    ///
    /// # Safety
    /// `value` must stay alive and unchanged until the statement was reset after its last step
    /// with this binding.
    pub(crate) unsafe fn bind_blob(&mut self, index: c_int, value: &[u8]) -> Result<()> {
        // An empty slice may dangle, and a null pointer would bind NULL.
        let start = if value.is_empty() { c"".as_ptr().cast() } else { value.as_ptr().cast() };
        let length = value.len() as u64;
        // SAFETY: `value` has that many bytes; no destructor: SQLite reads them in place.
        let code = unsafe { sys::sqlite3_bind_blob64(self.raw, index, start, length, None) };
        check(self.db, code)
    }

    /// Binds text without copying it. The bytes need not be UTF-8: SQLite does not look.
    ///
    /// # Safety
    /// As [`Self::bind_blob`].
    pub(crate) unsafe fn bind_text(&mut self, index: c_int, value: &[u8]) -> Result<()> {
        let (start, length) = (value.as_ptr().cast(), value.len() as u64);
        // SAFETY: as in `bind_blob`.
        let code = unsafe { sys::sqlite3_bind_text64(self.raw, index, start, length, None, UTF8) };
        check(self.db, code)
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
                Err(failure.context(&self.file))
            }
        }
    }

    /// Ends the execution, so that no lock or row is held.
    #[inline]
    pub(crate) fn reset(&mut self) {
        // SAFETY: the statement is alive. The code repeats the last step's error.
        unsafe { sys::sqlite3_reset(self.raw) };
    }

    /// Steps once, for a statement that returns no rows.
    #[inline]
    pub(crate) fn run(&mut self) -> Result<()> {
        self.step()?;
        self.reset();
        Ok(())
    }

    /// Reads the first row, if there is one.
    #[inline]
    pub(crate) fn row<T>(&mut self, read: impl FnOnce(&Self) -> T) -> Result<Option<T>> {
        let found = self.step()?.then(|| read(self));
        self.reset();
        Ok(found)
    }

    /// Shows rows to `visit` until it stops.
    pub(crate) fn rows(&mut self, mut visit: impl FnMut(&Self) -> Visit) -> Result<()> {
        while self.step()? {
            let visited = visit(self);
            if !matches!(visited, Ok(ControlFlow::Continue(()))) {
                self.reset();
                return visited.map(drop);
            }
        }
        self.reset();
        Ok(())
    }

    /// A column's bytes, until the next step or reset. NULL reads as no bytes.
    #[inline]
    pub(crate) fn blob(&self, column: c_int) -> &[u8] {
        // SAFETY: the statement is alive.
        unsafe { self.bytes(sys::sqlite3_column_blob(self.raw, column).cast(), column) }
    }

    /// A column's text as UTF-8 bytes, whatever the database's encoding, until the next step or
    /// reset.
    pub(crate) fn text(&self, column: c_int) -> &[u8] {
        // SAFETY: the statement is alive.
        unsafe { self.bytes(sys::sqlite3_column_text(self.raw, column), column) }
    }

    /// # Safety
    /// `start` is where SQLite has just put the bytes of the column.
    #[inline]
    unsafe fn bytes(&self, start: *const u8, column: c_int) -> &[u8] {
        if start.is_null() {
            return &[];
        }
        // SAFETY: SQLite keeps the bytes in place until the statement is stepped, reset or
        // finalised, all of which take `&mut self`; length is asked after the conversion.
        unsafe {
            let length = sys::sqlite3_column_bytes(self.raw, column);
            slice::from_raw_parts(start, usize::try_from(length).unwrap_or(0))
        }
    }

    pub(crate) fn integer(&self, column: c_int) -> i64 {
        // SAFETY: the statement is alive.
        unsafe { sys::sqlite3_column_int64(self.raw, column) }
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
