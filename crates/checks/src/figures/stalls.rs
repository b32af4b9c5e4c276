//! How many rounds had an operation as long as a stall.

use model::record::Record;

use crate::{figures::Figures, series::Series, timeline::SHORTEST_NS};

/// The number of rounds of a target, and of those with an operation as long as a stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StalledRounds {
    /// All rounds whose latencies are known.
    pub rounds: u64,
    /// Those with such an operation.
    pub stalled: u64,
}

impl StalledRounds {
    /// Returns the number of rounds of which fewer than one has a stall, with 95 % confidence; `None` if
    /// one had, or there are too few rounds to show it.
    pub fn rarer_than(self) -> Option<u64> {
        let rounds = stats::rule_of_three(self.rounds);
        (self.stalled == 0 && rounds > 1).then_some(rounds)
    }
}

/// Counts the rounds of a target with an operation as long as a stall; `None` without latencies, and if one
/// operation in a hundred takes as long.
pub fn stalled_rounds(record: &Record, row: &Figures) -> Option<StalledRounds> {
    row.latency.filter(|latency| latency.p99 < SHORTEST_NS as f64 / 1e3)?;
    let samples = Series::new(record, row.case, row.target).samples();
    let longest: Vec<u64> = samples.filter_map(|sample| Some(sample.latency()?.max_ns)).collect();
    let stalled = longest.iter().filter(|ns| **ns >= SHORTEST_NS).count() as u64;
    Some(StalledRounds { rounds: longest.len() as u64, stalled })
}
