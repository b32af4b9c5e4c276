//! Maintenance of a store while sessions work: copies, checks, and what keeps it small and fast.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Error, Result, words::words};

words! {
    /// A kind of maintenance of an open store.
    pub enum Maintenance as "maintenance" {
        /// The log is moved into the store.
        Checkpoint = "checkpoint",
        /// The store is rewritten without free space.
        Vacuum = "vacuum",
        /// The statistics of the query planner are collected.
        Analyze = "analyze",
        /// The engine's own way to back up an open store.
        Backup = "backup",
        /// The engine's own integrity check.
        IntegrityCheck = "integrity-check",
        /// The levels or pages of the store are compacted.
        Compact = "compact",
        /// The store is copied without its free space, or file by file.
        Copy = "copy",
    }
}

/// Maintenance that is asked for while roles work, as in `backup` or `backup=always`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Meanwhile {
    /// The kind.
    pub what: Maintenance,
    /// Whether it starts again whenever it has ended; otherwise it runs once in a pass.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub always: bool,
}

impl FromStr for Meanwhile {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once('=') {
            None => Ok(Self { what: text.parse()?, always: false }),
            Some((what, "always")) => Ok(Self { what: what.parse()?, always: true }),
            Some((what, other)) => {
                Err(Error::usage(format!("{what}={other}: accepted is {what} or {what}=always")))
            }
        }
    }
}
