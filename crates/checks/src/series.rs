//! The trials of one target in one case, and what is computed from them round by round.

use std::collections::{BTreeMap, BTreeSet};

use model::{Case, Durability, Judge, Latency, Paced, Rounds, Sample, StoreFacts, record::Record};
use stats::{Estimate, Unit, Values, geometric_mean};

/// The option that sets how many clients there are.
pub const CLIENTS: &str = "processes";

/// The smallest number of rounds for a verdict. With fewer rounds the spread itself is a guess:
/// Student's t for three degrees of freedom and less is over 3, and an interval may be narrow
/// because two or three rounds happened to agree.
pub const FEWEST_ROUNDS: u32 = Rounds::FOR_A_VERDICT;

/// The trials of one target in one case of a record.
#[derive(Clone, Copy)]
pub struct Series<'a> {
    /// The record.
    pub record: &'a Record,
    /// The workload and the cache state.
    pub case: Case,
    /// Index of the target in the plan.
    pub target: usize,
    /// Whether it has the trials over half of a sample; otherwise it has those over all keys.
    pub of_half: bool,
}

impl<'a> Series<'a> {
    /// Selects the trials of a target over all keys.
    pub fn new(record: &'a Record, case: Case, target: usize) -> Self {
        Self { record, case, target, of_half: false }
    }

    /// Selects the trials of another target in the same case.
    #[must_use]
    pub fn with_target(self, target: usize) -> Self {
        Self { target, ..self }
    }

    /// Selects the trials of the baseline in the same case.
    #[must_use]
    pub fn baseline(self) -> Self {
        self.with_target(self.record.header.plan.baseline)
    }

    /// Returns the trials that give figures.
    pub fn samples(self) -> impl Iterator<Item = &'a Sample> {
        self.trials().filter(move |sample| is_usable(self.record, sample))
    }

    /// Returns the trials, in their cache state or not.
    pub(crate) fn trials(self) -> impl Iterator<Item = &'a Sample> {
        let of_size = move |sample: &&Sample| {
            sample.passes().is_some_and(|passes| passes.half) == self.of_half
        };
        self.record.samples_of(self.case, self.target).filter(of_size)
    }

    /// Selects the trials over half of a sample.
    #[must_use]
    pub(crate) fn half(self) -> Self {
        Self { of_half: true, ..self }
    }

    /// Returns the rounds that have a trial, whether it gives figures or not.
    pub(crate) fn rounds(self) -> BTreeSet<u32> {
        self.trials().map(|sample| sample.round).collect()
    }

    /// Reports whether there is any trial: stores that age have some cache states in some workloads
    /// only.
    pub fn is_tried(&self) -> bool {
        self.trials().next().is_some()
    }

    /// Reports whether any trial was in its cache state.
    pub fn is_measured(self) -> bool {
        self.trials().any(|sample| self.record.in_state(sample))
    }

    /// Returns the microseconds per operation by round.
    pub fn times(self) -> BTreeMap<u32, f64> {
        self.samples().map(|s| (s.round, s.ns_per_operation() / 1e3)).collect()
    }

    /// Returns the microseconds per operation by the wall clock, one value for each that
    /// [`unit_times`](Self::unit_times) returns; empty if those are by the wall clock already, at
    /// least in a round.
    pub fn wall_times(self) -> Values {
        if self.samples().any(|s| s.waited_ns.is_none() || s.paced().is_some()) {
            return Values::default();
        }
        let wall = |s: &Sample| s.wall_ns as f64 / s.operations as f64 / 1e3;
        self.units_of_all(self.samples().map(|s| (s, wall(s), 1.0)))
    }

    /// Returns the values of the interval of the time, in microseconds per operation: one for each
    /// round, or of several runs the mean of each.
    pub fn unit_times(self) -> Values {
        self.units_of_all(self.samples().map(|s| (s, s.ns_per_operation() / 1e3, 1.0)))
    }

    /// Returns the microseconds per operation by the wall clock, with any number of clients: if
    /// there are more of them than processors, the time that they wait is not known.
    pub fn rate_times(self) -> Values {
        let wall = self.wall_times();
        if wall.values.is_empty() { self.unit_times() } else { wall }
    }

    /// Returns the values of the interval of a figure, in microseconds; empty if it was not measured.
    pub fn unit_figures(self, figure: Judge) -> Values {
        match figure {
            Judge::Time => self.unit_times(),
            Judge::P50 | Judge::P99 => self.units(self.percentiles(figure)),
        }
    }

    /// Returns a percentile of the latencies of each trial that has it, in microseconds. The time is
    /// none.
    fn percentiles(self, figure: Judge) -> impl Iterator<Item = (&'a Sample, f64)> {
        let latencies = self.samples().filter_map(|s| Some((s, s.latency()?)));
        let ns = move |latency: &Latency| match figure {
            Judge::Time => 0,
            Judge::P50 => latency.p50_ns,
            Judge::P99 => latency.p99_ns,
        };
        latencies
            .filter(move |(_, latency)| latency.operations > 0 && ns(latency) > 0)
            .map(move |(sample, latency)| (sample, ns(latency) as f64 / 1e3))
    }

    /// Returns a figure divided by that of `other`, one value for each round that has both; of several
    /// runs the mean of each.
    pub fn figure_ratios_to(self, figure: Judge, other: Self) -> Values {
        let by_round =
            |of: Self| of.percentiles(figure).map(|(s, value)| (s.round, value)).collect();
        match figure {
            Judge::Time => self.ratios_to(other),
            Judge::P50 | Judge::P99 => self.units(self.by_round(by_round(self), by_round(other))),
        }
    }

    /// Returns its time divided by that of `other`, paired by round.
    pub fn ratio_to(self, other: Self) -> Option<Estimate> {
        self.ratios_to(other).mean()
    }

    /// Returns its time divided by that of `other`, one value for each round in which both were
    /// measured; of several runs the mean of each.
    pub fn ratios_to(self, other: Self) -> Values {
        self.units_of_all(self.pairs(self.times(), other.times()))
    }

    /// Returns its processor time per operation divided by that of `other`, paired by round.
    pub fn processor_ratio_to(self, other: Self) -> Option<Estimate> {
        self.units(self.by_round(self.processor_times(), other.processor_times())).mean()
    }

    fn processor_times(self) -> BTreeMap<u32, f64> {
        let spent = |s: &Sample| (s.cost.user_ns + s.cost.system_ns) as f64 / s.operations as f64;
        self.samples().map(|s| (s.round, spent(s))).collect()
    }

    /// Counts the rounds in which both were measured.
    pub fn rounds_with(self, other: Self) -> usize {
        self.pairs(self.times(), other.times()).count()
    }

    /// Divides a figure by that of another series in each round that has both.
    fn by_round(
        self,
        own: BTreeMap<u32, f64>,
        others: BTreeMap<u32, f64>,
    ) -> impl Iterator<Item = (&'a Sample, f64)> {
        self.pairs(own, others).map(|(sample, own, other)| (sample, own / other))
    }

    /// Pairs a figure with that of another series in each round that has both.
    fn pairs(
        self,
        own: BTreeMap<u32, f64>,
        others: BTreeMap<u32, f64>,
    ) -> impl Iterator<Item = (&'a Sample, f64, f64)> {
        let pair = move |round| Some((*own.get(&round)?, *others.get(&round)?));
        self.samples().filter_map(move |sample| {
            let (own, other) = pair(sample.round)?;
            Some((sample, own, other))
        })
    }

    /// Returns the values of the interval of a ratio of two figures. If rounds read values of other
    /// sizes, each is a ratio of the sums over all of them: a round with a large value counts as
    /// much as that takes. If their sizes are similar, a round that was disturbed does not count
    /// for more.
    fn units_of_all(self, pairs: impl Iterator<Item = (&'a Sample, f64, f64)>) -> Values {
        let (samples, pairs): (Vec<_>, Vec<_>) =
            pairs.map(|(sample, own, other)| (sample, (own, other))).unzip();
        let sums = || {
            let evened = sizes_differ(&samples).then(|| parts_alike(&samples, &pairs));
            evened.and_then(|pairs| stats::ratios_of_sums(&pairs))
        };
        let ratios = || pairs.iter().map(|(own, other)| own / other).collect();
        let ratios: Vec<f64> = sums().unwrap_or_else(ratios);
        self.units(samples.into_iter().zip(ratios))
    }

    /// Returns the copy of a store, or the part of the keys, that a sample was measured on, if
    /// these are a random choice of all possible ones.
    fn group(self, sample: &Sample) -> Option<u64> {
        let passes = sample.passes()?;
        let copy = passes.copy.map(u64::from);
        let blobs = self.record.header.plan.experiment.blobs();
        let drawn = blobs.is_some_and(|of| of.drawn.is_some() || of.sampled_from.is_some());
        copy.or(passes.part.filter(|_| drawn))
    }

    /// Returns the values of an interval: `values` of samples, or the mean of each run.
    pub(crate) fn units(self, values: impl Iterator<Item = (&'a Sample, f64)>) -> Values {
        let (mut rounds, mut runs) = (Values::default(), BTreeMap::<u32, Vec<f64>>::new());
        for (sample, value) in values {
            rounds.push(value, self.group(sample).unwrap_or(0));
            runs.entry(sample.run).or_default().push(value);
        }
        if self.record.header.plan.rounds.runs == 1 {
            return rounds;
        }
        let means = runs.values().filter_map(|run| Some(geometric_mean(run)?.point));
        let unit = if self.record.records > 1 { Unit::Record } else { Unit::Run };
        Values { values: means.collect(), unit, ..Values::default() }
    }

    pub(crate) fn writes(self) -> bool {
        let workload = self.record.header.plan.workloads.get(self.case.workload);
        workload.is_some_and(|workload| workload.work.writes())
    }

    /// Reports whether it could not keep up with a schedule in any round.
    pub(crate) fn is_saturated(self) -> bool {
        self.samples().filter_map(Sample::paced).any(Paced::is_saturated)
    }

    pub(crate) fn durability(self) -> Option<Durability> {
        facts(self.record, self.target).map(|facts| facts.durability)
    }
}

/// The largest factor between the mean sizes of values of rounds with similar sizes.
const SIMILAR: f64 = 1.1;

/// Reports whether rounds touched values of other sizes: other parts of the keys, or all but the few
/// that came where nothing counts.
fn sizes_differ(samples: &[&Sample]) -> bool {
    let sizes = samples.iter().map(|sample| sample.bytes as f64 / sample.operations.max(1) as f64);
    let (least, most) = sizes
        .fold((f64::INFINITY, 0.0), |(least, most), size: f64| (size.min(least), size.max(most)));
    most > SIMILAR * least
}

/// Returns the pairs with weights that have each part of the keys count as much as any other: after
/// two and a half turns over all parts, some were read three times and others twice.
fn parts_alike(samples: &[&Sample], pairs: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let part = |sample: &Sample| sample.passes().and_then(|passes| passes.part);
    let mut counts = BTreeMap::<_, f64>::new();
    for sample in samples {
        *counts.entry(part(sample)).or_default() += 1.0;
    }
    let each = samples.len() as f64 / counts.len().max(1) as f64;
    let weight = |sample: &&Sample| each / counts[&part(sample)];
    let weighted = samples.iter().map(weight).zip(pairs);
    weighted.map(|(weight, (own, other))| (own * weight, other * weight)).collect()
}

/// Returns what is known of a target's store: the last facts that the record has; `None` if it has
/// none.
pub fn facts(record: &Record, target: usize) -> Option<&StoreFacts> {
    record.stores.iter().rfind(|facts| facts.target == target)
}

/// Reports whether a sample of `record` gives figures. One without operations or time has no figure
/// per operation, and one that did not start in its cache state has none of that state.
pub fn is_usable(record: &Record, sample: &Sample) -> bool {
    sample.operations > 0 && sample.judged_ns() > 0 && record.in_state(sample)
}
