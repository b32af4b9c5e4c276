//! A connection with the statements that are used on it, which stay together: they may move
//! from thread to thread.

use model::Result;

use super::ffi::{Connection, Statement};

/// A connection and its statements, each prepared when it is first used.
pub(crate) struct Prepared {
    statements: Vec<Option<Statement>>,
    texts: &'static [&'static str],
    db: Connection,
}

// SAFETY: a connection without mutexes, and the statements on it, may move between threads as long
// as one uses them at a time (see `Connection`). The statements never leave this value, and what
// uses them takes `&mut self`.
unsafe impl Send for Prepared {}

impl Prepared {
    /// Statements that change rows; their parameters are texts.
    pub(crate) fn new(db: Connection, texts: &'static [&'static str]) -> Self {
        Self { statements: texts.iter().map(|_| None).collect(), texts, db }
    }

    /// Executes the statement at `index` with `values`, in autocommit; rows changed.
    pub(crate) fn execute(&mut self, index: usize, values: &[&[u8]]) -> Result<i64> {
        let statement = match &mut self.statements[index] {
            Some(statement) => statement,
            unused => unused.insert(self.db.prepare(self.texts[index])?),
        };
        for (parameter, value) in (1..).zip(values) {
            // SAFETY: `values` outlive this call, which resets the statement after its only step.
            unsafe { statement.bind_text(parameter, value)? };
        }
        // A step that fails resets the statement by itself.
        statement.step().map_err(|e| self.db.named(e))?;
        statement.reset();
        Ok(self.db.changes())
    }

    pub(crate) fn waits(&self) -> Vec<(&'static str, i64)> {
        self.db.waits()
    }

    /// The connection, its statements finalised.
    pub(crate) fn into_connection(self) -> Connection {
        self.db
    }
}
