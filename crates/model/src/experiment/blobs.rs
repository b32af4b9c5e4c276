//! `storemark run`: values under keys.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{DatasetSpec, DatasetSummary, Operation, Order, SampledFrom, Ycsb, units::show_rate};

/// The values of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct BlobsData {
    /// The source of the values.
    pub dataset: DatasetSpec,
    /// The data in figures: of the keys that the run touches, or of all keys as far as those that were drawn
    /// show them.
    pub summary: DatasetSummary,
    /// Keys in each target, touched or not.
    pub available: u64,
    /// The set of values of which these are a sample, stratified by size; absent: these are all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled_from: Option<SampledFrom>,
    /// Keys that rounds choose from, drawn at random and checked; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<u64>,
}

/// The work of a pass over values: reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct BlobWork {
    /// The operation for each key.
    pub operation: Operation,
    /// In which order keys are touched.
    pub order: Order,
    /// Operations a second that all workers together start on schedule; absent: each starts
    /// when the one before it has finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
}

impl BlobWork {
    /// Returns the name of the operation, or of the benchmark that has this mix, and the rate.
    pub(super) fn name(self) -> String {
        let ycsb = Ycsb::find(self.operation, self.order);
        let name = ycsb.map_or_else(|| self.operation.to_string(), |ycsb| ycsb.to_string());
        match self.rate {
            Some(rate) => format!("{name} at {}/s", show_rate(rate)),
            None => name,
        }
    }
}
