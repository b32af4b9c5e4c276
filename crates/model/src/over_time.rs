//! A pass in slices of time, and what the engine did in the background.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a pass went over time. All times count from the start that its workers have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverTime {
    /// Length of a slice; the last one ends with the pass.
    pub slice_ns: u64,
    /// One after the other from the start on.
    pub slices: Vec<Slice>,
    /// What the engine reports that it did meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background_work: Vec<BackgroundWork>,
}

/// The operations that ended in a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slice {
    /// How many; of none the rest is 0.
    pub operations: u64,
    /// 99th percentile of their latencies, within 2 %.
    pub p99_ns: u64,
    /// The longest of them.
    #[serde(flatten)]
    pub longest: Longest,
}

/// The longest operation of a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Longest {
    /// How long it took.
    pub max_ns: u64,
    /// When it ended.
    pub max_end_ns: u64,
    /// Whether it ended with the commit of several operations.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub max_commits: bool,
}

/// What an engine did: a checkpoint, a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundWork {
    /// In the engine's own word.
    pub name: String,
    /// When it began; 0 also where it was under way already.
    pub start_ns: u64,
    /// When it ended, or was last seen.
    pub end_ns: u64,
}

/// Length of a slice.
pub const SLICE_NS: u64 = 100_000_000;
