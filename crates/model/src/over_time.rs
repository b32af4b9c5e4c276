//! A pass in slices of time, and the engine's background work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A pass in slices of time. All times count from the common start of its workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverTime {
    /// The length of a slice; the last one ends with the pass.
    pub slice_ns: u64,
    /// The slices, one after the other from the start on.
    pub slices: Vec<Slice>,
    /// The background work that the engine reports for this time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background_work: Vec<BackgroundWork>,
}

/// A slice of time with the operations that ended in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slice {
    /// The number of operations; if it is 0, the other fields are 0.
    pub operations: u64,
    /// The 99th percentile of their latencies, within 2 %.
    pub p99_ns: u64,
    /// The longest operation.
    #[serde(flatten)]
    pub longest: Longest,
}

/// The longest operation of a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Longest {
    /// Its latency.
    pub max_ns: u64,
    /// The time at which it ended.
    pub max_end_ns: u64,
    /// Whether it ended with the commit of several operations.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub max_commits: bool,
}

/// A piece of an engine's background work: a checkpoint, a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundWork {
    /// The engine's own word for it.
    pub name: String,
    /// The time at which it started; 0 also if it was under way already.
    pub start_ns: u64,
    /// The time at which it ended, or was last seen.
    pub end_ns: u64,
}

/// The length of a slice in nanoseconds.
pub const SLICE_NS: u64 = 100_000_000;
