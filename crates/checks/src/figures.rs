//! Computes the figures of a comparison from its samples.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use model::{Cache, Case, Latency, Sample, record::Record};
use stats::{Estimate, geometric_mean, paired_ratio};

use crate::{histogram, judgement::Judgement};

/// What one target did under one workload in one cache state, over all rounds. Absent: not
/// measured.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Workload and cache state.
    pub case: Case,
    /// Index into the plan's targets.
    pub target: usize,
    /// Rounds with a sample.
    pub rounds: usize,
    /// Microseconds per operation of the first pass after opening, where a steady one follows it.
    pub first_us_per_op: Option<Estimate>,
    /// Microseconds per operation.
    pub us_per_op: Option<Estimate>,
    /// Millions of bytes per second.
    pub mb_per_s: Option<Estimate>,
    /// Latencies.
    pub latency: Option<Percentiles>,
    /// Processor time.
    pub cpu: Option<CpuTime>,
    /// Bytes read from a device for each byte of the values.
    pub device_read_per_byte: Option<f64>,
    /// Time over the baseline's, paired by round; absent for the baseline itself.
    pub ratio: Option<Estimate>,
    /// Time in a cold state over that in the warm one, paired by round.
    pub over_warm: Option<Estimate>,
    /// How the schedule was kept, where there was one.
    pub paced: Option<Schedule>,
    /// What the ratio says.
    pub judgement: Judgement,
}

/// How a schedule was kept over all rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Operations a second that were done.
    pub reached: f64,
    /// Whether that is too few in any round.
    pub saturated: bool,
    /// Median of how late operations began.
    pub lag_p50_us: f64,
    /// 99th percentile of that.
    pub lag_p99_us: f64,
}

/// Latencies of all rounds together, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentiles {
    /// Median.
    pub p50_us: f64,
    /// 90th percentile.
    pub p90_us: f64,
    /// 99th percentile.
    pub p99_us: f64,
    /// 99.9th percentile.
    pub p999_us: f64,
    /// 99.99th percentile.
    pub p9999_us: f64,
    /// Largest.
    pub max_us: f64,
}

/// Processor time of the process over all rounds, in microseconds per operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuTime {
    /// User mode.
    pub user_us_per_op: f64,
    /// Kernel mode.
    pub system_us_per_op: f64,
}

/// A row for each target of the plan in each of its cases, in their order, measured or not.
pub fn figures(record: &Record) -> Vec<Figures> {
    let plan = &record.header.plan;
    plan.cases()
        .flat_map(|case| (0..plan.targets.len()).map(move |target| (case, target)))
        .map(|(case, target)| row(record, case, target))
        .collect()
}

fn row(record: &Record, case: Case, target: usize) -> Figures {
    let samples = usable_samples(record, case, target);
    let times = us_by_round(&samples);
    let ratio = ratio(record, case, target, &times);
    let us_per_op = geometric_mean(&times.values().copied().collect::<Vec<_>>());
    Figures {
        case,
        target,
        rounds: times.len(),
        first_us_per_op: first(&samples),
        us_per_op,
        mb_per_s: throughput(&samples),
        latency: latency(&samples),
        cpu: cpu(&samples, us_per_op.as_ref()),
        device_read_per_byte: device_read(&samples),
        ratio,
        paced: paced(&samples),
        over_warm: over_warm(record, case, target, &times),
        judgement: Judgement::of(record, case, target, ratio.as_ref()),
    }
}

/// Microseconds per operation, one a round, in the order of the rounds.
pub fn times(record: &Record, case: Case, target: usize) -> Vec<f64> {
    us_by_round(&usable_samples(record, case, target)).into_values().collect()
}

/// The 99th percentile of the latencies of each round in microseconds.
pub fn p99s(record: &Record, case: Case, target: usize) -> Vec<f64> {
    let latencies = usable_samples(record, case, target).into_iter().filter_map(Sample::latency);
    latencies.filter(|latency| latency.operations > 0).map(|l| l.p99_ns as f64 / 1e3).collect()
}

/// A sample without operations or time has no figure per operation, and one that did not begin in
/// its cache state is none of that state.
pub fn usable_samples(record: &Record, case: Case, target: usize) -> Vec<&Sample> {
    record.samples_of(case, target).filter(|sample| is_usable(record, sample)).collect()
}

/// Whether a sample of `record` gives figures.
pub fn is_usable(record: &Record, sample: &Sample) -> bool {
    sample.operations > 0 && sample.wall_ns > 0 && record.in_state(sample)
}

fn us_by_round(samples: &[&Sample]) -> BTreeMap<u32, f64> {
    samples.iter().map(|s| (s.round, s.ns_per_operation() / 1e3)).collect()
}

/// Only rounds in which both were measured count.
fn ratio(
    record: &Record,
    case: Case,
    target: usize,
    times: &BTreeMap<u32, f64>,
) -> Option<Estimate> {
    let baseline = record.header.plan.baseline;
    if target == baseline {
        return None;
    }
    paired(times, &us_by_round(&usable_samples(record, case, baseline)))
}

/// Time of `target` over that of `other`, paired by round.
pub fn ratio_between(record: &Record, case: Case, target: usize, other: usize) -> Option<Estimate> {
    let times = |target| us_by_round(&usable_samples(record, case, target));
    paired(&times(target), &times(other))
}

/// Time over the baseline's, one a round in which both were measured.
pub fn ratios(record: &Record, case: Case, target: usize) -> Vec<f64> {
    let times = |target| us_by_round(&usable_samples(record, case, target));
    let baseline = times(record.header.plan.baseline);
    let own = times(target).into_iter();
    own.filter_map(|(round, time)| Some(time / baseline.get(&round)?)).collect()
}

/// Time of `target` in `case` over that in `other`, paired by round.
pub fn ratio_between_cases(
    record: &Record,
    target: usize,
    case: Case,
    other: Case,
) -> Option<Estimate> {
    let times = |case| us_by_round(&usable_samples(record, case, target));
    paired(&times(case), &times(other))
}

fn over_warm(
    record: &Record,
    case: Case,
    target: usize,
    times: &BTreeMap<u32, f64>,
) -> Option<Estimate> {
    let warm = Case { cache: Cache::Warm, ..case };
    let cold = case.cache != Cache::Warm;
    cold.then(|| paired(times, &us_by_round(&usable_samples(record, warm, target))))?
}

fn paired(times: &BTreeMap<u32, f64>, others: &BTreeMap<u32, f64>) -> Option<Estimate> {
    let both = times.iter().filter_map(|(round, time)| Some((time, others.get(round)?)));
    let (numerator, denominator): (Vec<f64>, Vec<f64>) = both.unzip();
    paired_ratio(&numerator, &denominator)
}

fn first(samples: &[&Sample]) -> Option<Estimate> {
    let passes = samples.iter().filter_map(|s| s.first());
    let passes = passes.filter(|first| first.operations > 0 && first.wall_ns > 0);
    let times: Vec<f64> = passes.map(|f| f.wall_ns as f64 / f.operations as f64 / 1e3).collect();
    geometric_mean(&times)
}

fn throughput(samples: &[&Sample]) -> Option<Estimate> {
    let rates: Vec<f64> = samples
        .iter()
        .filter(|s| s.bytes > 0)
        .map(|s| s.bytes as f64 / s.wall_ns as f64 * 1e3)
        .collect();
    geometric_mean(&rates)
}

fn latency(samples: &[&Sample]) -> Option<Percentiles> {
    percentiles(&samples.iter().filter_map(|sample| sample.latency()).collect::<Vec<_>>())
}

/// Of all latencies together.
pub fn percentiles(latencies: &[&Latency]) -> Option<Percentiles> {
    let all = histogram::merge(latencies.iter().map(|latency| latency.histogram.as_str()))?;
    let max_us = latencies.iter().map(|latency| latency.max_ns).max()? as f64 / 1e3;
    Some(Percentiles { max_us, ..Percentiles::of(&all) })
}

impl Percentiles {
    /// Of latencies in nanoseconds.
    pub fn of(all: &Histogram<u64>) -> Self {
        let us = |ns: u64| ns as f64 / 1e3;
        let at = |quantile| us(all.value_at_quantile(quantile));
        Self {
            p50_us: at(0.5),
            p90_us: at(0.9),
            p99_us: at(0.99),
            p999_us: at(0.999),
            p9999_us: at(0.9999),
            max_us: us(all.max()),
        }
    }
}

fn paced(samples: &[&Sample]) -> Option<Schedule> {
    let all: Vec<_> = samples.iter().filter_map(|s| s.paced()).collect();
    let lags = histogram::merge(all.iter().map(|paced| paced.lag.as_str()))?;
    let lag = |quantile| lags.value_at_quantile(quantile) as f64 / 1e3;
    let rates: Vec<_> = all.iter().map(|paced| paced.reached).collect();
    Some(Schedule {
        reached: geometric_mean(&rates)?.point,
        saturated: all.iter().any(|paced| paced.is_saturated()),
        lag_p50_us: lag(0.5),
        lag_p99_us: lag(0.99),
    })
}

fn device_read(samples: &[&Sample]) -> Option<f64> {
    let told =
        samples.iter().filter_map(|s| Some((s.io?.device_read_bytes as f64, s.bytes as f64)));
    let (read, bytes) = told.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (bytes > 0.0).then(|| read / bytes)
}

/// Processor time as a share of all the time, times the time per operation: so it is averaged as
/// that is, and the two can be compared.
fn cpu(samples: &[&Sample], us_per_op: Option<&Estimate>) -> Option<CpuTime> {
    let sum = |part: fn(&Sample) -> u64| samples.iter().map(|s| part(s) as f64).sum::<f64>();
    // On a schedule most of the time is spent on waiting for it.
    let us_per_ns = if samples.iter().any(|s| s.paced().is_some()) {
        1e-3 / sum(|s| s.operations)
    } else {
        us_per_op?.point / sum(|s| s.wall_ns)
    };
    Some(CpuTime {
        user_us_per_op: sum(|s| s.cost.user_ns) * us_per_ns,
        system_us_per_op: sum(|s| s.cost.system_ns) * us_per_ns,
    })
}
