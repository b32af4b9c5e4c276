//! What the first process and its workers say to each other, a line of JSON each.

use std::{collections::BTreeMap, ffi::OsString, ops::Range};

use model::{
    Error, ErrorKind, Settings,
    rows::{Operation, Style},
};
use serde::{Deserialize, Serialize};

/// A worker's first line: what it will work on.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) engine: String,
    /// The store's. Not a path, which JSON could not hold whatever its bytes.
    pub(super) location: OsString,
    pub(super) settings: Settings,
    pub(super) database: u32,
    pub(super) rows: Range<i64>,
    pub(super) style: Style,
    pub(super) batch: u64,
}

/// A further line to a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Order {
    /// Begin at this time of [`host::now_ns`].
    Work { operation: Operation, at_ns: u64 },
    /// Count and sum all rows of the database.
    Check,
}

/// What a worker answers to each line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Ready,
    Done(Done),
    Checked(Held),
    Failed { message: String, unsupported: bool },
}

/// What a worker did.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Done {
    /// Times of [`host::now_ns`].
    pub(super) started_ns: u64,
    pub(super) ended_ns: u64,
    /// The sum, or the number of rows changed.
    pub(super) result: i64,
    /// The engine's own counters.
    pub(super) counters: BTreeMap<String, i64>,
}

/// What a database holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Held {
    pub(super) count: u64,
    pub(super) sum: i64,
}

impl From<&Error> for Answer {
    fn from(error: &Error) -> Self {
        Self::Failed {
            message: error.to_string(),
            unsupported: error.kind() == ErrorKind::Unsupported,
        }
    }
}
