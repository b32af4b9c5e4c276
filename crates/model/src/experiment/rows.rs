//! `storemark rows`: a table of two integers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FileBytes, rows::RowOperation};

/// The rows that processes insert.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RowsData {
    /// Rows that each process inserts.
    pub rows: u64,
}

/// An operation on all rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RowsWork {
    /// What is done.
    pub operation: RowOperation,
    /// Each process has its own database; otherwise all processes share one.
    pub own_databases: bool,
}

/// The figures of an operation on rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RowsMeasured {
    /// The bytes of the tables afterwards; `None` if they are not in files.
    pub files: Option<FileBytes>,
}

impl RowsWork {
    /// Returns the name of the operation in the published table.
    pub fn name(self) -> &'static str {
        if self.operation == RowOperation::Add { "update" } else { self.operation.as_str() }
    }
}
