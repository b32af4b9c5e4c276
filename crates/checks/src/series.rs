//! The trials of one target in one case, and what is computed from them round by round.

use std::collections::{BTreeMap, BTreeSet};

use model::{Case, Durability, Sample, StoreFacts, record::Record};
use stats::{Estimate, paired_ratio};

/// The trials of one target in one case of a record.
#[derive(Clone, Copy)]
pub struct Series<'a> {
    pub record: &'a Record,
    pub case: Case,
    pub target: usize,
}

impl<'a> Series<'a> {
    pub fn new(record: &'a Record, case: Case, target: usize) -> Self {
        Self { record, case, target }
    }

    #[must_use]
    pub fn of(self, target: usize) -> Self {
        Self { target, ..self }
    }

    #[must_use]
    pub fn baseline(self) -> Self {
        self.of(self.record.header.plan.baseline)
    }

    /// Those that give figures.
    pub fn samples(self) -> impl Iterator<Item = &'a Sample> {
        self.all().filter(move |sample| is_usable(self.record, sample))
    }

    fn all(self) -> impl Iterator<Item = &'a Sample> {
        self.record.samples_of(self.case, self.target)
    }

    /// The rounds that it has a trial of, whether that gives figures or not.
    pub(crate) fn rounds(self) -> BTreeSet<u32> {
        self.all().map(|sample| sample.round).collect()
    }

    /// Whether it has any trial: stores that age have some cache states in some workloads only.
    pub fn is_tried(&self) -> bool {
        self.all().next().is_some()
    }

    /// How many trials it has, in their cache state or not.
    pub(crate) fn tried(self) -> usize {
        self.all().count()
    }

    /// Whether any trial was in its cache state.
    pub(crate) fn is_measured(self) -> bool {
        self.all().any(|sample| self.record.in_state(sample))
    }

    /// Microseconds per operation by round.
    pub fn times(self) -> BTreeMap<u32, f64> {
        self.samples().map(|s| (s.round, s.ns_per_operation() / 1e3)).collect()
    }

    /// Microseconds per operation of each round by the wall clock. Empty: that is what
    /// [`times`](Self::times) are.
    pub fn wall_times(self) -> Vec<f64> {
        let known = self.samples().filter(|s| s.waited_ns.is_some() && s.paced().is_none());
        known.map(|s| s.wall_ns as f64 / s.operations as f64 / 1e3).collect()
    }

    /// The 99th percentile of the latencies of each round in microseconds.
    pub fn p99s(self) -> Vec<f64> {
        let latencies = self.samples().filter_map(Sample::latency);
        latencies.filter(|latency| latency.operations > 0).map(|l| l.p99_ns as f64 / 1e3).collect()
    }

    /// Its time over that of `other`, paired by round.
    pub fn ratio_to(self, other: Self) -> Option<Estimate> {
        let (times, others): (Vec<f64>, Vec<f64>) = self.pairs(other).into_iter().unzip();
        paired_ratio(&times, &others)
    }

    /// Its time over that of `other`, one for each round in which both were measured.
    pub fn ratios_to(self, other: Self) -> Vec<f64> {
        self.pairs(other).into_iter().map(|(time, other)| time / other).collect()
    }

    fn pairs(self, other: Self) -> Vec<(f64, f64)> {
        by_round(self.times(), &other.times())
    }

    /// The median of its latencies over that of `other`, paired by round.
    pub(crate) fn medians_to(self, other: Self) -> Option<Estimate> {
        let (own, others): (Vec<f64>, Vec<f64>) =
            by_round(self.medians(), &other.medians()).into_iter().unzip();
        paired_ratio(&own, &others)
    }

    fn medians(self) -> BTreeMap<u32, f64> {
        let median = |sample: &Sample| {
            let latency = sample.latency().filter(|latency| latency.operations > 0)?;
            Some((sample.round, latency.p50_ns as f64))
        };
        self.samples().filter_map(median).collect()
    }

    pub(crate) fn writes(self) -> bool {
        let workload = self.record.header.plan.workloads.get(self.case.workload);
        workload.is_some_and(|workload| workload.work.writes())
    }

    pub(crate) fn durability(self) -> Option<Durability> {
        facts(self.record, self.target).map(|facts| facts.durability)
    }
}

/// Figures of two series, those of a round with each other.
fn by_round(own: BTreeMap<u32, f64>, others: &BTreeMap<u32, f64>) -> Vec<(f64, f64)> {
    let own = own.into_iter();
    own.filter_map(|(round, figure)| Some((figure, *others.get(&round)?))).collect()
}

/// What is known of a target's store: what was noted last.
pub fn facts(record: &Record, target: usize) -> Option<&StoreFacts> {
    record.stores.iter().rfind(|facts| facts.target == target)
}

/// Whether a sample of `record` gives figures: one without operations or time has no figure per
/// operation, and one that did not start in its cache state has none of that state.
pub fn is_usable(record: &Record, sample: &Sample) -> bool {
    sample.operations > 0 && sample.wall_ns > 0 && record.in_state(sample)
}
