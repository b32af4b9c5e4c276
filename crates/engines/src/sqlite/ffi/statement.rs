//! Prepared statements.

use std::{ffi::c_int, ops::ControlFlow, rc::Rc, slice};

use libsqlite3_sys as sys;
use model::{Error, Result, ValueType, Visit};

use super::{Functions, text};

/// A parameter of a statement. A text need not be UTF-8: SQLite does not check it.
#[derive(Clone, Copy)]
pub(crate) enum Parameter<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a [u8]),
    Blob(&'a [u8]),
}

/// A prepared statement. Each execution gets values for all parameters, and is reset before
/// those are dropped.
pub(crate) struct Statement {
    pub(super) sqlite: &'static Functions,
    pub(super) raw: *mut sys::sqlite3_stmt,
    pub(super) db: *mut sys::sqlite3,
    /// The database's name in errors.
    pub(super) file: Rc<str>,
}

impl Statement {
    /// Executes a statement that returns no rows.
    #[inline]
    pub(crate) fn run<'a>(
        &mut self,
        values: impl IntoIterator<Item = Parameter<'a>>,
    ) -> Result<()> {
        self.row(values, |_| ()).map(drop)
    }

    /// Reads the first row, if there is one.
    #[inline]
    pub(crate) fn row<'a, T>(
        &mut self,
        values: impl IntoIterator<Item = Parameter<'a>>,
        read: impl FnOnce(&Self) -> T,
    ) -> Result<Option<T>> {
        self.bind(values)?;
        let found = self.step()?.then(|| read(self));
        self.reset();
        Ok(found)
    }

    /// Shows rows to `visit` until it stops.
    pub(crate) fn rows<'a>(
        &mut self,
        values: impl IntoIterator<Item = Parameter<'a>>,
        mut visit: impl FnMut(&Self) -> Visit,
    ) -> Result<()> {
        self.bind(values)?;
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

    /// Sets all parameters. SQLite reads texts and blobs in place, so the caller resets the statement
    /// before it returns.
    #[inline]
    fn bind<'a>(&mut self, values: impl IntoIterator<Item = Parameter<'a>>) -> Result<()> {
        let mut index = 0;
        for value in values {
            index += 1;
            let (sqlite, raw) = (self.sqlite, self.raw);
            // SAFETY: the statement is alive; texts and blobs have that many bytes and no destructor.
            let code = unsafe {
                match value {
                    Parameter::Null => sqlite.sqlite3_bind_null(raw, index),
                    Parameter::Integer(value) => sqlite.sqlite3_bind_int64(raw, index, value),
                    Parameter::Real(value) => sqlite.sqlite3_bind_double(raw, index, value),
                    Parameter::Text(text) => {
                        let (start, length) = (text.as_ptr().cast(), length(text)?);
                        sqlite.sqlite3_bind_text(raw, index, start, length, None)
                    }
                    Parameter::Blob(blob) => {
                        let (start, length) = (blob.as_ptr().cast(), length(blob)?);
                        sqlite.sqlite3_bind_blob(raw, index, start, length, None)
                    }
                }
            };
            sqlite.check(self.db, code)?;
        }
        debug_assert_eq!(index, self.parameter_count());
        Ok(())
    }

    /// Returns the number of its parameters; the condition `where=` of a user must have none.
    pub(crate) fn parameter_count(&self) -> c_int {
        // SAFETY: the statement is alive.
        unsafe { self.sqlite.sqlite3_bind_parameter_count(self.raw) }
    }

    /// Steps; returns whether there is a row.
    #[inline]
    fn step(&mut self) -> Result<bool> {
        // SAFETY: the statement is alive.
        match unsafe { self.sqlite.sqlite3_step(self.raw) } {
            sys::SQLITE_ROW => Ok(true),
            sys::SQLITE_DONE => Ok(false),
            code => {
                let failure = self.sqlite.error(self.db, code);
                self.reset();
                Err(failure.at(&self.file))
            }
        }
    }

    /// Ends the execution, so that no lock or row is held.
    #[inline]
    fn reset(&mut self) {
        // SAFETY: the statement is alive. The code repeats the last step's error.
        unsafe { self.sqlite.sqlite3_reset(self.raw) };
    }

    /// Returns the name of a column.
    pub(crate) fn name(&self, column: c_int) -> String {
        // SAFETY: the statement is alive and has that column; SQLite returns null only if memory runs out.
        unsafe { text(self.sqlite.sqlite3_column_name(self.raw, column)) }
    }

    /// Returns the type of a column, before anything converts it.
    #[inline]
    pub(crate) fn kind(&self, column: c_int) -> ValueType {
        // SAFETY: the statement is alive.
        match unsafe { self.sqlite.sqlite3_column_type(self.raw, column) } {
            sys::SQLITE_INTEGER => ValueType::Integer,
            sys::SQLITE_FLOAT => ValueType::Real,
            sys::SQLITE_TEXT => ValueType::Text,
            sys::SQLITE_NULL => ValueType::Null,
            _ => ValueType::Bytes,
        }
    }

    /// Returns a column's bytes, until the next step or reset. NULL reads as no bytes, text as
    /// UTF-8.
    #[inline]
    pub(crate) fn blob(&self, column: c_int) -> &[u8] {
        self.value(column).1
    }

    /// Returns the type of a column, and its bytes as [`Self::blob`] does.
    #[inline]
    pub(crate) fn value(&self, column: c_int) -> (ValueType, &[u8]) {
        let kind = self.kind(column);
        if kind == ValueType::Text {
            // In a database of UTF-16, asking for its length would move the text.
            return (kind, self.text(column));
        }
        // SAFETY: the statement is alive.
        let start = unsafe { self.sqlite.sqlite3_column_blob(self.raw, column) };
        // SAFETY: SQLite has just put the bytes there.
        (kind, unsafe { self.bytes(start.cast(), column) })
    }

    /// Returns a column's text as UTF-8 bytes, whatever the database's encoding, until the next
    /// step or reset.
    pub(crate) fn text(&self, column: c_int) -> &[u8] {
        // SAFETY: the statement is alive.
        unsafe { self.bytes(self.sqlite.sqlite3_column_text(self.raw, column), column) }
    }

    /// Returns the bytes of a column.
    ///
    /// # Safety
    ///
    /// `start` is where SQLite has just put the bytes of the column.
    #[inline]
    unsafe fn bytes(&self, start: *const u8, column: c_int) -> &[u8] {
        if start.is_null() {
            return &[];
        }
        // SAFETY: SQLite keeps the bytes in place until the statement is stepped, reset or
        // finalised, all of which take `&mut self`; length is asked after the conversion.
        unsafe {
            let length = self.sqlite.sqlite3_column_bytes(self.raw, column);
            slice::from_raw_parts(start, usize::try_from(length).unwrap_or(0))
        }
    }

    pub(crate) fn real(&self, column: c_int) -> f64 {
        // SAFETY: the statement is alive.
        unsafe { self.sqlite.sqlite3_column_double(self.raw, column) }
    }

    pub(crate) fn integer(&self, column: c_int) -> i64 {
        // SAFETY: the statement is alive.
        unsafe { self.sqlite.sqlite3_column_int64(self.raw, column) }
    }
}

/// Converts the length of a value; no SQLite accepts longer ones.
#[inline]
fn length(value: &[u8]) -> Result<c_int> {
    c_int::try_from(value.len()).map_err(|_| Error::unsupported("string or blob too big"))
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: finalised once.
        unsafe { self.sqlite.sqlite3_finalize(self.raw) };
    }
}
