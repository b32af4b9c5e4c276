//! Passes: the operations of a trial from one common start to their end, and how long each took.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Action, OverTime};

/// The figures of passes over values, in addition to the time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Passes {
    /// The first pass after opening, if a steady one follows it: the other fields of the sample are
    /// then about the steady one. In a cold state the first pass is the only one, and this is
    /// `None`.
    pub first: Option<First>,
    /// The latencies of its operations.
    pub latency: Latency,
    /// The operations of a slice if stores took turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<u64>,
    /// The copy of a scratch store that was read, from 0 on, if copies take turns, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<u32>,
    /// The part of the keys that was touched, from 0 on, if each round touches one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<u64>,
    /// Whether only half of a sample's keys were touched: the figures of all data are
    /// extrapolated from the two sizes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub half: bool,
    /// The share of the store's own cache that was filled before the first pass; `None` if it was
    /// full, or nothing had to be filled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_filled: Option<f64>,
    /// The pass over time; `None` if it took no longer than a slice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_time: Option<OverTime>,
    /// How the pass kept its schedule; latencies then count from the time at which an operation was
    /// due. `None` if it had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paced: Option<Paced>,
}

/// The first pass after opening a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct First {
    /// The number of its operations: at most one on each key.
    pub operations: u64,
    /// Its time without waiting for a processor, as far as that is known.
    pub ns: u64,
}

/// The precision with which a pass kept its schedule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Paced {
    /// The operations a second that were to start.
    pub asked: f64,
    /// The operations a second that finished.
    pub reached: f64,
    /// The median of how late operations started.
    pub lag_p50_ns: u64,
    /// The 99th percentile of how late operations started.
    pub lag_p99_ns: u64,
    /// The histogram of how late operations started, in the form of [`Latency::histogram`].
    pub lag: String,
}

/// The latencies of the operations of a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// The number of operations. The last one of a batch includes the commit.
    pub operations: u64,
    /// The operations that were timed one by one: if operations are short, a few, each counted for
    /// those around it, and all that took far longer.
    pub timed: u64,
    /// The time of the pass, without what is flushed after its last operation.
    pub wall_ns: u64,
    /// The sum of all latencies, exact; with several workers more than `wall_ns`. If not all were
    /// timed, the time of all operations together.
    pub sum_ns: u64,
    /// The median.
    pub p50_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The 99.9th percentile.
    pub p999_ns: u64,
    /// The largest, as the histogram holds it (within 0.1 %).
    pub max_ns: u64,
    /// All latencies: an HDR histogram, V2 with DEFLATE, in base64.
    pub histogram: String,
    /// The latencies of each kind of operation in a mix: histograms that add up to the whole one,
    /// except for long operations that were not timed, whose kind is not known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub actions: BTreeMap<Action, String>,
}
