//! Computes what the stores of a comparison cost besides the time of operations.

use model::{Settings, StoreFacts, record::Record};
use schemars::JsonSchema;
use serde::Serialize;

use crate::series::facts;

/// The figures of one target's store. `None` means not known. A store without files (`memory:`)
/// takes no space.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StoreFigures {
    /// Index of the target in the plan.
    #[serde(skip)]
    pub target: usize,
    /// Lengths of its files, in millions of bytes. A table in files with other tables has its own pages
    /// here and below, `None` if they were not counted.
    pub length_mb: Option<f64>,
    /// Space that its files occupy on disk, in millions of bytes.
    pub on_disk_mb: Option<f64>,
    /// Lengths per byte of the values; `None` if the run touches only a part of them, because the
    /// rest was not counted.
    #[serde(skip)]
    pub length_per_byte: Option<f64>,
    /// Bytes that they occupy on disk per byte of the values; `None` as above.
    #[serde(skip)]
    pub on_disk_per_byte: Option<f64>,
    /// Time of creating and filling it, in seconds.
    pub fill_s: Option<f64>,
    /// Time of opening it, in milliseconds: the median.
    pub open_ms: Option<f64>,
    /// The durability class in effect.
    pub durability: Option<String>,
    /// All settings as read back.
    pub in_effect: Settings,
}

/// Returns the figures of each target's store, also of those that were not prepared.
pub fn stores(record: &Record) -> Vec<StoreFigures> {
    (0..record.header.plan.targets.len()).map(|target| row(record, target)).collect()
}

fn row(record: &Record, target: usize) -> StoreFigures {
    let facts = facts(record, target);
    let known = |facts: &StoreFacts, in_files: u64| {
        let part = facts.table.as_ref().filter(|table| table.shares_files);
        let bytes = part.map_or(Some(in_files), |table| table.own_bytes);
        bytes.filter(|bytes| *bytes > 0).map(|bytes| bytes as f64)
    };
    let length = facts.and_then(|facts| known(facts, facts.apparent_bytes));
    let on_disk = facts.and_then(|facts| known(facts, facts.allocated_bytes));
    let experiment = &record.header.plan.experiment;
    let values = experiment.summary().filter(|values| {
        experiment.available().is_none_or(|all| all == values.count) && values.bytes > 0
    });
    let per_byte = |bytes: Option<f64>| Some(bytes? / values?.bytes as f64);
    StoreFigures {
        target,
        length_mb: length.map(|bytes| bytes / 1e6),
        on_disk_mb: on_disk.map(|bytes| bytes / 1e6),
        length_per_byte: per_byte(length),
        on_disk_per_byte: per_byte(on_disk),
        fill_s: facts.and_then(|facts| facts.fill_ns).map(|ns| ns as f64 / 1e9),
        open_ms: median_open(record, target).map(|ns| ns as f64 / 1e6),
        durability: facts.map(|facts| facts.durability.to_string()),
        in_effect: facts.map(|facts| facts.in_effect.clone()).unwrap_or_default(),
    }
}

/// Returns the median time of opening the store in the first cache state of the plan: opening a
/// cold store is a different operation.
fn median_open(record: &Record, target: usize) -> Option<u64> {
    let cache = record.header.plan.caches.first()?;
    let samples = record.samples.iter().filter(|s| s.target == target && s.cache == *cache);
    // A store that stays open from its making to the end is not opened for a trial.
    let mut times: Vec<u64> = samples.map(|s| s.open_ns).filter(|ns| *ns > 0).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}
