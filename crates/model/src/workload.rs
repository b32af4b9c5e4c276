//! Which operations, in which order, over which keys.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Work;

/// Operations per commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Batch {
    /// The whole pass is one batch.
    All,
    /// This many operations; the last batch of a pass may be shorter.
    Of(u64),
}

impl fmt::Display for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all operations"),
            Self::Of(1) => f.write_str("1 operation"),
            Self::Of(n) => write!(f, "{n} operations"),
        }
    }
}

/// A workload, the same for every target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
    /// What is done; of the experiment of the plan.
    pub work: Work,
    /// Operations in a pass; past the number of keys the order starts again.
    pub count: u64,
    /// Operations per commit.
    pub batch: Batch,
    /// Workers of each process, a session each; all share the keys out among themselves.
    pub threads: u32,
    /// Processes.
    pub processes: u32,
}

impl Workload {
    /// Workers of all processes together.
    pub fn workers(&self) -> u32 {
        self.processes.saturating_mul(self.threads)
    }
}
