//! Computes what the stores of a comparison cost besides the time of operations.

use model::{Durability, Settings, StoreFacts, record::Record};

/// One target's store. Absent: not known.
#[derive(Clone, Debug, PartialEq)]
pub struct StoreFigures {
    pub target: usize,
    /// Lengths of its files.
    pub apparent: Option<Space>,
    /// What its files occupy on disk.
    pub allocated: Option<Space>,
    /// Making it, in seconds.
    pub fill_s: Option<f64>,
    /// Opening it, in milliseconds: median of the trials in the first cache state.
    pub open_ms: Option<f64>,
    pub durability: Option<Durability>,
    /// Settings as read back.
    pub in_effect: Settings,
}

/// What the files of a store take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Space {
    /// In millions of bytes.
    pub mb: f64,
    /// Per byte of the values in it; absent where the run touches only a part of them, as nobody
    /// counted the rest.
    pub per_byte: Option<f64>,
}

/// A row for each target of the plan, ready or not.
pub fn stores(record: &Record) -> Vec<StoreFigures> {
    (0..record.header.plan.targets.len()).map(|target| row(record, target)).collect()
}

fn row(record: &Record, target: usize) -> StoreFigures {
    let facts = record.stores.iter().rfind(|store| store.target == target);
    let space = |size: fn(&StoreFacts) -> u64| space(record, size(facts?));
    StoreFigures {
        target,
        apparent: space(|facts| facts.apparent_bytes),
        allocated: space(|facts| facts.allocated_bytes),
        fill_s: facts.and_then(|facts| facts.fill_ns).map(|ns| ns as f64 / 1e9),
        open_ms: median_open(record, target).map(|ns| ns as f64 / 1e6),
        durability: facts.map(|facts| facts.durability),
        in_effect: facts.map(|facts| facts.in_effect.clone()).unwrap_or_default(),
    }
}

/// A store without files (`memory:`) takes none.
fn space(record: &Record, bytes: u64) -> Option<Space> {
    let experiment = &record.header.plan.experiment;
    let counted = experiment.summary().filter(|summary| {
        experiment.available().is_none_or(|all| all == summary.count) && summary.bytes > 0
    });
    (bytes > 0).then(|| Space {
        mb: bytes as f64 / 1e6,
        per_byte: counted.map(|summary| bytes as f64 / summary.bytes as f64),
    })
}

/// In the first cache state of the plan: opening a cold store is another thing.
fn median_open(record: &Record, target: usize) -> Option<u64> {
    let cache = record.header.plan.caches.first()?;
    let samples = record.samples.iter().filter(|s| s.target == target && s.cache == *cache);
    let mut times: Vec<u64> = samples.map(|s| s.open_ns).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}
