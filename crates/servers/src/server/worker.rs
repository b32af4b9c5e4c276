//! One worker's connection: its batches, and operations that are repeated.

use std::cell::{Cell, RefCell};

use kit::refusal::read_only;
use model::{Access, Error, Facet, Mode, Result, Visit};

use super::{
    dialect::{Answer, Dialect, EachRow, Failure, SqlValue, Why, statistics},
    host::Host,
};

/// The most times that an operation is repeated that lost against another session.
const TRIES: u32 = 10;

/// Returns the rows in a part of a scan: few with values, because these are large.
pub(super) const fn rows_in_part(values: bool) -> i64 {
    if values { 32 } else { 1000 }
}

/// A worker's connection to a server.
pub(super) struct Worker<'s, D: Dialect> {
    host: &'s Host<D>,
    access: Access,
    /// The connection, in a cell because counting waits asks the server.
    conn: RefCell<D>,
    /// Whether a batch is open: between `begin` and `commit`, unless an error ended the
    /// transaction.
    in_batch: bool,
    /// The number of operations repeated since the last call.
    retries: Cell<i64>,
}

impl<'s, D: Dialect> Worker<'s, D> {
    /// Connects, and returns the worker with the result of `prepare`.
    pub(super) fn connect<T>(
        host: &'s Host<D>,
        access: Access,
        prepare: impl FnOnce(&mut D) -> Answer<T>,
    ) -> Result<(Self, T)> {
        let (conn, prepared) = host.session(&host.connect, Facet::Blobs, prepare)?;
        let (conn, retries) = (RefCell::new(conn), Cell::new(0));
        Ok((Self { host, access, conn, in_batch: false, retries }, prepared))
    }

    /// Returns the meaning of `failure`, after a rollback of the batch.
    #[cold]
    fn resolve_failure(&mut self, failure: Failure) -> Error {
        if std::mem::take(&mut self.in_batch) && !failure.why.is_over() {
            // A failure says no more than the one that led here.
            let _ = self.conn.get_mut().run("ROLLBACK");
        }
        self.host.explain(failure)
    }

    /// Returns whether the server undid an operation for another session, and nothing else.
    fn can_repeat(&self, failure: &Failure) -> bool {
        failure.why == Why::Waited || failure.why == Why::Undone && !self.in_batch
    }

    /// Runs a statement that writes; returns whether it found or inserted a row.
    pub(super) fn write(
        &mut self,
        statement: &D::Statement,
        values: &[SqlValue<'_>],
    ) -> Result<bool> {
        if self.access == Access::Read {
            return Err(read_only());
        }
        let mut tries = 1;
        loop {
            match self.conn.get_mut().execute(statement, values) {
                Ok(rows) => return Ok(rows > 0),
                Err(failure) if tries < TRIES && self.can_repeat(&failure) => {
                    tries += 1;
                    self.retries.set(self.retries.get() + 1);
                }
                Err(failure) => return Err(self.resolve_failure(failure)),
            }
        }
    }

    fn run(&mut self, sql: &str) -> Result<()> {
        self.conn.get_mut().run(sql).map(drop).map_err(|failure| self.resolve_failure(failure))
    }

    pub(super) fn visit_rows(
        &mut self,
        query: &D::Statement,
        values: &[SqlValue<'_>],
        visit: EachRow<'_, D::Row>,
    ) -> Visit {
        let visited = self.conn.get_mut().visit_rows(query, values, visit);
        visited.map_err(|failure| self.resolve_failure(failure))?
    }

    /// Visits the rows of a query that may take as long as a whole table needs.
    pub(super) fn visit_table(
        &mut self,
        query: &D::Statement,
        visit: EachRow<'_, D::Row>,
    ) -> Visit {
        self.conn.get_mut().set_limit(self.host.table_limit());
        let visited = self.visit_rows(query, &[], visit);
        self.conn.get_mut().set_limit(self.host.limit());
        visited
    }

    pub(super) fn begin(&mut self, mode: Mode) -> Result<()> {
        self.run(D::begin(mode))?;
        self.in_batch = true;
        Ok(())
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.in_batch) {
            return Err(Error::failed("an error has ended the batch; it was rolled back"));
        }
        self.run("COMMIT")
    }

    /// Starts a batch in which all parts of a scan see one moment, unless there is one. Returns whether it
    /// did.
    pub(super) fn begin_view(&mut self) -> Result<bool> {
        let is_alone = !self.in_batch;
        if is_alone {
            self.begin(Mode::Read)?;
        }
        Ok(is_alone)
    }

    /// Ends the batch that [`Self::begin_view`] started, unless an error of the server has ended it.
    pub(super) fn end_view(&mut self, is_alone: bool) -> Result<()> {
        if is_alone && self.in_batch { self.commit() } else { Ok(()) }
    }

    /// Returns the counters since the last call.
    pub(super) fn statistics(&self) -> Vec<(&'static str, i64)> {
        statistics(self.conn.borrow_mut().waits(), self.retries.take())
    }
}
