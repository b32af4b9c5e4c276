//! Which operations, in which order, over which keys.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Action, Mix, Work};

/// What a trial does with each key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Read the value into the caller's buffer.
    Read,
    /// Replace the value by new random bytes, of the same length unless the stores age.
    Update,
    /// Several of them, each operation drawn by chance.
    Mix(Mix),
    /// Write a value under a key that does not exist yet.
    Insert,
}

impl Operation {
    /// Whether it changes the store.
    pub fn writes(self) -> bool {
        match self {
            Self::Read => false,
            Self::Mix(mix) => mix.writes(),
            _ => true,
        }
    }

    /// Whether it changes blobs.
    pub fn updates(self) -> bool {
        matches!(self, Self::Update | Self::Mix(_)) && self.writes()
    }

    /// All that operations do.
    pub fn actions(self) -> impl Iterator<Item = Action> {
        let mix = if let Self::Mix(mix) = self { Some(mix) } else { None };
        let alone = mix.is_none().then(|| self.action());
        mix.into_iter().flat_map(Mix::actions).chain(alone)
    }

    /// What each operation does, where all do the same.
    pub fn action(self) -> Action {
        match self {
            Self::Insert => Action::Insert,
            other if other.writes() => Action::Update,
            _ => Action::Read,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Read => "read",
            Self::Update => "update",
            Self::Mix(_) => "mix",
            Self::Insert => "insert",
        })
    }
}

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
