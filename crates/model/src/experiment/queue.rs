//! `storemark queue`: tasks that are created, changed and deleted.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FileBytes, First, Latency, tasks::TaskStep};

/// The tasks of a queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct QueueData {
    /// Tasks that each worker processes, one after the other.
    pub tasks: u64,
    /// The number of times that the output of each task is rewritten.
    pub rewrites: u64,
    /// Bytes of an output.
    pub output: u64,
}

/// The figures of tasks that went through all steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct QueueMeasured {
    /// The first pass after opening.
    pub first: Option<First>,
    /// The latencies of the tasks.
    pub latency: Latency,
    /// The latency of each kind of step.
    pub steps: BTreeMap<TaskStep, Latency>,
    /// The bytes of the queue afterwards.
    pub files: FileBytes,
}
