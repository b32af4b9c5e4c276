//! Latencies of all rounds together: of all operations, and of each kind in a mix.

use hdrhistogram::Histogram;
use model::{Action, Case, Sample, record::Record};

use crate::{histogram, series::Series};

/// The latencies of one target in one case, in nanoseconds.
pub struct Latencies {
    /// The kind of operation; `None` for all kinds together.
    pub action: Option<Action>,
    /// The number of operations by their latency.
    pub histogram: Histogram<u64>,
}

/// Returns the latencies of all operations first, then those of each kind in a mix.
pub fn latencies(record: &Record, case: Case, target: usize) -> Vec<Latencies> {
    let samples: Vec<_> = Series::new(record, case, target).samples().collect();
    let of = |action: Option<Action>| {
        let text = |sample: &&'_ Sample| match action {
            None => Some(sample.latency()?.histogram.clone()),
            Some(action) => sample.latency()?.actions.get(&action).cloned(),
        };
        let texts: Vec<_> = samples.iter().filter_map(text).collect();
        let histogram = histogram::merge(texts.iter().map(String::as_str))?;
        Some(Latencies { action, histogram })
    };
    let actions = Action::ALL.into_iter().map(Some);
    [None].into_iter().chain(actions).filter_map(of).collect()
}
