//! Puts the latencies of a long record together while it is read: of each case and target one
//! histogram stays instead of one a trial, so that a record of a day fits into memory. No figure
//! changes by it: latencies are only reported for all trials together.

use std::{collections::BTreeMap, mem::take};

use hdrhistogram::Histogram;
use model::{Action, Cache, Sample, record::Record};

use checks::{histogram, is_usable};

/// The number of trials of a file that are kept as they are.
pub(crate) const KEPT: usize = 10_000;

/// The latencies that were taken out of the trials of one record.
#[derive(Default)]
pub(crate) struct Merging {
    /// The number of samples whose latencies were taken.
    taken: usize,
    parts: BTreeMap<(usize, Cache, usize), Parts>,
}

/// The merged latencies of one case and target.
#[derive(Default)]
struct Parts {
    /// The index of the sample that gets them.
    first: usize,
    all: Option<Histogram<u64>>,
    actions: BTreeMap<Action, Option<Histogram<u64>>>,
    lag: Option<Histogram<u64>>,
}

impl Merging {
    /// Takes the latencies out of what was read since the last call. They are checked now, because
    /// they cannot be later.
    pub(crate) fn take(&mut self, record: &mut Record) {
        record.merged = true;
        for index in self.taken..record.samples.len() {
            let sample = &record.samples[index];
            let contradictions = checks::contradictions(record, sample);
            let usable = is_usable(record, sample);
            record.findings.extend(contradictions);
            let sample = &mut record.samples[index];
            let place = (sample.workload, sample.cache, sample.target);
            let first = || Parts { first: index, ..Parts::default() };
            // The latencies of one that is not usable count for nothing.
            let mut unused = Parts::default();
            let parts =
                if usable { self.parts.entry(place).or_insert_with(first) } else { &mut unused };
            parts.take(sample);
        }
        self.taken = record.samples.len();
    }

    /// Puts the latencies back, all with the first sample of each case and target.
    pub(crate) fn finish(self, record: &mut Record) {
        let text = |merged: Option<Histogram<u64>>| histogram::encode(&merged?);
        for parts in self.parts.into_values() {
            let sample = &mut record.samples[parts.first];
            if let Some(latency) = sample.latency_mut() {
                latency.histogram = text(parts.all).unwrap_or_default();
                let actions = parts.actions.into_iter();
                latency.actions =
                    actions.filter_map(|(action, all)| Some((action, text(all)?))).collect();
            }
            if let Some(paced) = sample.passes_mut().and_then(|passes| passes.paced.as_mut()) {
                paced.lag = text(parts.lag).unwrap_or_default();
            }
        }
    }
}

impl Parts {
    /// Moves the latencies of a sample here.
    fn take(&mut self, sample: &mut Sample) {
        if let Some(latency) = sample.latency_mut() {
            histogram::add(&mut self.all, &take(&mut latency.histogram));
            for (action, text) in take(&mut latency.actions) {
                histogram::add(self.actions.entry(action).or_default(), &text);
            }
        }
        let Some(passes) = sample.passes_mut() else { return };
        passes.over_time = None;
        if let Some(paced) = &mut passes.paced {
            histogram::add(&mut self.lag, &take(&mut paced.lag));
        }
    }
}
