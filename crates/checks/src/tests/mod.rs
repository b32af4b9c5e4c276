//! Hand-written records: each finding appears above its bound, and not just below it.

mod costs;
mod counters;
mod fixture;
mod record;
mod sample;
mod stores;
mod verdict;
mod writes;

use hdrhistogram::Histogram;
use model::{
    BlobsData, Cache, Experiment, Finding, FindingKind, Operation, Sample, Workload, record::Record,
};

use crate::histogram;

const KEYS: u64 = 10_000;
const DATA: u64 = KEYS * fixture::VALUE;

/// A record of one read workload, in the given states, on two stores with files, that raises no
/// finding except that all was warm.
pub(crate) fn sound(caches: &[Cache]) -> Record {
    let mut record = fixture::record(&["base", "other"], KEYS);
    record.header.plan.caches = caches.to_vec();
    record.samples = vec![sample()];
    record
}

fn sample() -> Sample {
    let mut sample = fixture::sample(3, 1, KEYS, 4_000);
    let mut latencies = Histogram::<u64>::new(3).unwrap();
    latencies.record_n(4_000, KEYS).unwrap();
    sample.passes_mut().unwrap().latency.histogram = histogram::encode(&latencies).unwrap();
    sample
}

pub(crate) fn workload(operation: Operation) -> Workload {
    fixture::workload(operation, KEYS)
}

/// Changes what is known of the data of `record`.
fn data(record: &mut Record, change: impl FnOnce(&mut model::DatasetSummary, &mut u64)) {
    let Experiment::Blobs(BlobsData { summary, available, .. }) =
        &mut record.header.plan.experiment
    else {
        panic!("the fixture is of blobs");
    };
    change(summary, available);
}

fn kinds(findings: Vec<Finding>) -> Vec<FindingKind> {
    findings.into_iter().map(|finding| finding.kind).collect()
}
