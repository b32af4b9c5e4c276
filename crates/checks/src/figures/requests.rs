//! Requests to services that charge for them, and their cost.

use std::collections::BTreeMap;

use model::{
    BYTES_RECEIVED, BYTES_SENT, COST, DELETES, GETS, PUTS, Requests, Sample, record::Record,
};
use schemars::JsonSchema;
use serde::Serialize;

/// The requests of a part of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RequestFigures {
    /// The workload and the target of the passes; `None` for the whole run.
    #[serde(skip)]
    pub passes: Option<(usize, usize)>,
    /// Requests of all kinds.
    pub requests: u64,
    /// The requests of each kind, their bytes and their cost.
    #[serde(flatten)]
    pub sent: Requests,
}

impl RequestFigures {
    fn new(passes: Option<(usize, usize)>, sent: Requests) -> Self {
        Self { passes, requests: sent.count(), sent }
    }
}

/// Returns a row for each target and workload whose passes sent requests, and one for the whole
/// run, if it has ended; empty if it sent no requests.
pub fn requests(record: &Record) -> Vec<RequestFigures> {
    let mut passes = BTreeMap::<_, Requests>::new();
    for sample in &record.samples {
        if let Some(sent) = sample_requests(sample) {
            *passes.entry((sample.workload, sample.target)).or_default() += sent;
        }
    }
    let all = record.end.as_ref().and_then(|end| end.requests);
    let passes = passes.into_iter().map(|(place, sent)| RequestFigures::new(Some(place), sent));
    passes.chain(all.map(|sent| RequestFigures::new(None, sent))).collect()
}

/// Returns the requests of a trial; `None` if its target sends none.
pub fn sample_requests(sample: &Sample) -> Option<Requests> {
    let counter = |name: &str| sample.counters.get(name).copied();
    let count = |name: &str| counter(name).map_or(0, i64::unsigned_abs);
    counter(GETS)?;
    Some(Requests {
        puts: count(PUTS),
        gets: count(GETS),
        deletes: count(DELETES),
        sent_bytes: count(BYTES_SENT),
        received_bytes: count(BYTES_RECEIVED),
        cost: counter(COST).map(|millionths| millionths as f64 / 1e6),
    })
}
