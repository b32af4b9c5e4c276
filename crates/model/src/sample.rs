//! What a trial measured, and what is known of the store it measured. Times are whole
//! nanoseconds, sizes whole bytes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Durability, Settings};

/// One timed trial: a throughput pass without a clock per operation, then a latency pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Round, counted from 0.
    pub round: u32,
    /// Position of this trial within its shuffled round, counted from 0.
    pub position: u32,
    /// Index into the plan's targets.
    pub target: usize,
    /// Index into the plan's workloads.
    pub workload: usize,
    /// Operations of the throughput pass.
    pub operations: u64,
    /// Bytes it read or wrote.
    pub bytes: u64,
    /// Opening the store and its sessions, before the clock of the pass.
    pub open_ns: u64,
    /// The pass, from the first operation until all that the durability class owes is done.
    pub wall_ns: u64,
    /// The part of `wall_ns` spent after the last commit on what the class still owed.
    pub owed_ns: u64,
    /// Flushing what was left to the background, after the clock. Not part of `wall_ns`.
    pub background_ns: u64,
    /// What the process spent during the throughput pass.
    pub cost: Cost,
    /// What else went on in the machine during it.
    pub load: Load,
    /// The latency pass.
    pub latency: Latency,
    /// The engine's own counters over the throughput pass, summed over its sessions; their
    /// names tell the units.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, i64>,
}

/// Processor time of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// User mode.
    pub user_ns: u64,
    /// Kernel mode.
    pub system_ns: u64,
}

/// What others did on the machine during a pass, as far as the system tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// Processors' worth of time that other processes used (1.0: one of them fully).
    pub other_cpus: Option<f64>,
    /// Share of all processor time stolen by the hypervisor.
    pub steal: Option<f64>,
}

/// The latency pass of a trial, in the sessions that the throughput pass has used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Operations, each between two clock reads. The last of a batch includes the commit.
    pub operations: u64,
    /// The whole pass.
    pub wall_ns: u64,
    /// Sum of all latencies, exact; with several workers more than `wall_ns`.
    pub sum_ns: u64,
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Largest, as the histogram holds it (within 0.1 %).
    pub max_ns: u64,
    /// All latencies: an HDR histogram, V2 with DEFLATE, in base64.
    pub histogram: String,
}

/// What is known of a store once it is ready to be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreFacts {
    /// Index into the plan's targets.
    pub target: usize,
    /// All settings as read back from the engine.
    pub in_effect: Settings,
    /// The durability class they give.
    pub durability: Durability,
    /// Sum of its files' lengths.
    pub apparent_bytes: u64,
    /// What they occupy on disk.
    pub allocated_bytes: u64,
    /// Making the scratch store; absent for one that was there.
    pub fill_ns: Option<u64>,
    /// Reading every value once before the rounds, through the target's own path, checked.
    pub check_ns: u64,
}
