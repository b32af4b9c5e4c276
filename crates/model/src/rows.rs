//! Rows: a table of two integers, and what `storemark rows` asks of an engine. Row `i` is
//! `(i, 2 i)`.
//!
//! Small traits again, from kind to running store to one worker's use of it: [`Rows`](crate::Rows),
//! [`RowStore`], [`RowTables`], [`RowSession`]. A store runs for as long as its targets are measured
//! (a server is started once); each trial creates its tables and removes them. The workers are
//! processes: each [`Rows::join`](crate::Rows::join)s the tables that the first process created.

use std::{ops::Range, path::PathBuf};

use crate::{Accepts, Durability, Facet, Result, Setting, Settings, words::words};

words! {
    /// What a trial of rows does, in this order.
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
    /// Whether it changes the table.
    pub fn writes(self) -> bool {
        self != Self::Sum
    }
}

words! {
    /// How rows are handed to an engine.
    pub enum Style as "style" {
        /// One SQL string a row, built and parsed for each.
        Text = "text",
        /// One statement, prepared once, executed for each row.
        Prepared = "prepared",
        /// One SQL string for [`MULTI_ROWS`] rows.
        Multi = "multi",
        /// The engine's own way to load many rows.
        Bulk = "bulk",
        /// As [`Style::Text`], but the server may answer before it has the row: `INSERT DELAYED`.
        Delayed = "delayed",
    }
}

/// Rows of one statement in [`Style::Multi`].
pub const MULTI_ROWS: u64 = 1000;

/// Counter of [`RowTables::statistics`]: rows that the server really put off.
pub const DELAYED_ROWS: &str = "delayed rows";

/// The setting that says whether the columns may be NULL: `yes`, as published and by default, or
/// `no`.
pub const NULL: Setting = Setting::new(
    "null",
    Accepts::Words(&["yes", "no"]),
    "whether the columns may be NULL (no: NOT NULL)",
)
.only(&[Facet::Rows]);

/// A store that runs.
pub trait RowStore: Send + Sync {
    /// Where another process finds it, for [`Rows::join`](crate::Rows::join).
    fn location(&self) -> PathBuf;

    /// Creates as many databases, numbered from 0, each with an empty table; none exists yet. An
    /// engine that keeps its rows in the session creates them there.
    fn create(&self, databases: u32, settings: &Settings) -> Result<Box<dyn RowTables + '_>>;

    /// Other processes that do its work (a server's), each with all that descend from it.
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Stops the store (a server) and removes what it has at a location of its own.
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// Databases of a store, a table in each.
pub trait RowTables: Send + Sync {
    /// A worker's own use of a database. Created on the thread that uses it.
    fn session(&self, database: u32) -> Result<Box<dyn RowSession + '_>>;

    /// All settings as read back from the engine, asked for or not, and the durability class that
    /// they give.
    fn in_effect(&self) -> Result<(Settings, Durability)>;

    /// The files that hold a database's table, present or not; what is asked for its size and
    /// flushed. A folder means all in it. None: it is kept in memory.
    fn files(&self, database: u32) -> Vec<PathBuf>;

    /// Flushes what the last commits left to do: what the durability class asks for, and what the
    /// engine put off (delayed rows). No session is at work; it counts as measured time.
    fn flush_writes(&self) -> Result<()> {
        Ok(())
    }

    /// The store's own counters since they were last asked for, named with their units:
    /// [`DELAYED_ROWS`], say.
    fn statistics(&self) -> Result<Vec<(&'static str, i64)>> {
        Ok(Vec::new())
    }

    /// Removes the databases; no session is open. Never asked of tables that were joined.
    fn remove(self: Box<Self>) -> Result<()>;
}

/// One worker's use of a database. What the engine gives up for the sake of another session
/// (busy, deadlock) is repeated until it is done.
pub trait RowSession {
    /// Inserts `rows` in order, a transaction for every `batch` of them; the last may be shorter.
    /// All are committed when it returns, and the durability class holds for them, except for what
    /// [`RowTables::flush_writes`] does.
    fn insert(&mut self, rows: Range<i64>, style: Style, batch: u64) -> Result<()>;

    /// Sum of the second column over all rows; 0 without any.
    fn sum(&mut self) -> Result<i64>;

    /// Adds `by` to the second column of every row, in one transaction. Returns the number of
    /// rows changed.
    fn add(&mut self, by: i64) -> Result<u64>;

    /// Number of rows. Never timed.
    fn count(&mut self) -> Result<u64>;

    /// The engine's own counters for this session since they were last asked for. Waiting for
    /// others is counted under [`LOCK_WAITS`](crate::LOCK_WAITS) and
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
