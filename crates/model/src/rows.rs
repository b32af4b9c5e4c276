//! Rows: a table of two integers, and what `storemark rows` asks of an engine. Row `i` is
//! `(i, 2 i)`.
//!
//! Four small traits lead from the kind of store to a running one and to one worker's use of it: [`Rows`](crate::Rows),
//! [`RowStore`], [`RowTables`], [`RowSession`]. A store runs for as long as its targets are measured
//! (a server is started once); each trial creates its tables and removes them. The workers are
//! processes: each [`Rows::join`](crate::Rows::join)s the tables that the first process created.

use std::{ops::Range, path::PathBuf};

use crate::{Accepts, Durability, Facet, Result, Setting, Settings, words::words};

words! {
    /// An operation on rows; a trial does them in this order.
    pub enum RowOperation {
        /// Insert each row.
        Insert = "insert",
        /// Sum a column over all rows.
        Sum = "sum",
        /// Add a number to a column of each row.
        Add = "add",
    }
}

impl RowOperation {
    /// Returns whether the operation changes the table.
    pub fn writes(self) -> bool {
        self != Self::Sum
    }
}

words! {
    /// The way in which rows are handed to an engine.
    pub enum Style as "style" {
        /// One SQL string for each row, built and parsed each time.
        Text = "text",
        /// One statement, prepared once, executed for each row.
        Prepared = "prepared",
        /// One SQL string for [`MULTI_ROWS`] rows.
        Multi = "multi",
        /// The engine's own way to load many rows.
        Bulk = "bulk",
        /// A statement as for [`Style::Text`], but the server may answer before it has stored the row:
        /// `INSERT DELAYED`.
        Delayed = "delayed",
    }
}

/// The number of rows in one statement of [`Style::Multi`].
pub const MULTI_ROWS: u64 = 1000;

/// The counter of rows that the server delayed, in [`RowTables::statistics`].
pub const DELAYED_ROWS: &str = "delayed rows";

/// The setting for whether the columns may be NULL: `yes`, as published and by default, or `no`.
pub const NULL: Setting = Setting::new(
    "null",
    Accepts::Words(&["yes", "no"]),
    "whether the columns may be NULL (no: NOT NULL)",
)
.only_for(&[Facet::Rows]);

/// A running store of rows.
pub trait RowStore: Send + Sync {
    /// Returns the location at which another process finds the store, for
    /// [`Rows::join`](crate::Rows::join).
    fn location(&self) -> PathBuf;

    /// Creates the given number of databases, numbered from 0, each with an empty table. An engine
    /// that keeps its rows in the session creates them there.
    ///
    /// # Errors
    ///
    /// Fails if one of them exists.
    fn create(&self, databases: u32, settings: &Settings) -> Result<Box<dyn RowTables + '_>>;

    /// Returns the other processes that do the store's work (a server's); all their descendants
    /// count with them.
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Stops the store (a server) and removes its files from a location of its own.
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// The databases of a store, each with a table.
pub trait RowTables: Send + Sync {
    /// Opens a worker's own session on a database. It is called on the thread that uses the
    /// session.
    fn session(&self, database: u32) -> Result<Box<dyn RowSession + '_>>;

    /// Returns all settings as read back from the engine, asked for or not, and the durability
    /// class that they give.
    fn in_effect(&self) -> Result<(Settings, Durability)>;

    /// Returns the files that hold a database's table, present or not, for its size and for
    /// flushing. A folder includes all in it. The list is empty if the table is in memory.
    fn files(&self, database: u32) -> Vec<PathBuf>;

    /// Flushes the remaining writes of the last commits: what the durability class requires, and
    /// what the engine delayed (delayed rows). No session works meanwhile; it counts as measured
    /// time.
    fn flush_writes(&self) -> Result<()> {
        Ok(())
    }

    /// Returns the store's own counters since the last call, named with their units:
    /// [`DELAYED_ROWS`], for example.
    fn statistics(&self) -> Result<Vec<(&'static str, i64)>> {
        Ok(Vec::new())
    }

    /// Removes the databases; no session is open. It is never called for tables that were joined.
    fn remove(self: Box<Self>) -> Result<()>;
}

/// One worker's use of a database. If the engine gives up an operation for the sake of another
/// session (busy, deadlock), the session repeats it until it succeeds.
pub trait RowSession {
    /// Inserts `rows` in order, with a transaction for every `batch` of them; the last may be
    /// shorter. When it returns, all are committed and the durability class holds for them, except
    /// for what [`RowTables::flush_writes`] does.
    fn insert(&mut self, rows: Range<i64>, style: Style, batch: u64) -> Result<()>;

    /// Returns the sum of the second column over all rows; 0 without any.
    fn sum(&mut self) -> Result<i64>;

    /// Adds `by` to the second column of every row, in one transaction. Returns the number of rows
    /// changed.
    fn add(&mut self, by: i64) -> Result<u64>;

    /// Returns the number of rows. It is never timed.
    fn count(&mut self) -> Result<u64>;

    /// Returns the engine's own counters for this session since the last call. Waiting for other
    /// sessions is counted under [`LOCK_WAITS`](crate::LOCK_WAITS) and
    /// [`BUSY_RETRIES`](crate::BUSY_RETRIES).
    fn statistics(&mut self) -> Vec<(&'static str, i64)> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_and_slips_are_answered() {
        for style in Style::ALL {
            assert_eq!(style.to_string().parse::<Style>().unwrap(), style);
        }
        let error = "perpared".parse::<Style>().unwrap_err().to_string();
        assert!(error.contains("did you mean prepared?"), "{error}");
    }
}
