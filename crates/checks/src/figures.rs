//! Computes the figures of a comparison from its samples.

use hdrhistogram::Histogram;
use model::{Cache, Case, Latency, Sample, record::Record};
use stats::{Estimate, geometric_mean};

use crate::{histogram, series::Series, verdict::Verdict};

/// What one target did under one workload in one cache state, over all rounds. Absent: not
/// measured.
#[derive(Clone, Debug)]
pub struct Figures {
    pub case: Case,
    /// Index into the plan's targets.
    pub target: usize,
    /// Rounds with a sample.
    pub rounds: usize,
    /// Microseconds per operation of the first pass after opening, if a steady one follows it.
    pub first_us_per_op: Option<Estimate>,
    pub us_per_op: Option<Estimate>,
    /// Millions of bytes per second.
    pub mb_per_s: Option<Estimate>,
    pub latency: Option<Percentiles>,
    pub cpu: Option<CpuTime>,
    /// Bytes read from a device for each byte of the values.
    pub device_read_per_byte: Option<f64>,
    /// Time over the baseline's, paired by round; absent for the baseline itself.
    pub ratio: Option<Estimate>,
    /// Time in a cold state over that in the warm one, paired by round.
    pub over_warm: Option<Estimate>,
    /// How the schedule was kept, if there was one.
    pub paced: Option<Schedule>,
    /// What the ratio says.
    pub verdict: Verdict,
}

/// How a schedule was kept over all rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Operations a second that were done.
    pub reached: f64,
    /// Whether that is too few in any round.
    pub saturated: bool,
    /// Median of how late operations started.
    pub lag_p50_us: f64,
    /// 99th percentile of that.
    pub lag_p99_us: f64,
}

/// Latencies of all rounds together, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentiles {
    pub p50_us: f64,
    pub p90_us: f64,
    pub p99_us: f64,
    pub p999_us: f64,
    pub p9999_us: f64,
    pub max_us: f64,
}

/// Processor time of the process over all rounds, in microseconds per operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuTime {
    pub user_us_per_op: f64,
    pub system_us_per_op: f64,
}

/// A row for each target of the plan in each of its cases, in their order, measured or not.
pub fn figures(record: &Record) -> Vec<Figures> {
    all_series(record).map(row).collect()
}

/// Every target in every case of the plan.
pub(crate) fn all_series(record: &Record) -> impl Iterator<Item = Series<'_>> {
    let targets = 0..record.header.plan.targets.len();
    let cases = record.header.plan.cases();
    cases.flat_map(move |case| targets.clone().map(move |target| Series::new(record, case, target)))
}

fn row(series: Series<'_>) -> Figures {
    let Series { record, case, target } = series;
    let samples: Vec<_> = series.samples().collect();
    let times: Vec<f64> = series.times().into_values().collect();
    let us_per_op = geometric_mean(&times);
    let is_baseline = target == record.header.plan.baseline;
    let ratio = if is_baseline { None } else { series.ratio_to(series.baseline()) };
    let warm = Series { case: Case { cache: Cache::Warm, ..case }, ..series };
    Figures {
        case,
        target,
        rounds: times.len(),
        first_us_per_op: first(&samples),
        us_per_op,
        mb_per_s: throughput(&samples),
        latency: percentiles(samples.iter().filter_map(|sample| sample.latency())),
        cpu: cpu(&samples, us_per_op.as_ref()),
        device_read_per_byte: device_read(&samples),
        ratio,
        over_warm: if case.cache == Cache::Warm { None } else { series.ratio_to(warm) },
        paced: paced(&samples),
        verdict: Verdict::of(series, ratio.as_ref()),
    }
}

fn first(samples: &[&Sample]) -> Option<Estimate> {
    let passes = samples.iter().filter_map(|s| s.first());
    let passes = passes.filter(|first| first.operations > 0 && first.wall_ns > 0);
    let times: Vec<f64> = passes.map(|f| f.wall_ns as f64 / f.operations as f64 / 1e3).collect();
    geometric_mean(&times)
}

fn throughput(samples: &[&Sample]) -> Option<Estimate> {
    let moved = samples.iter().filter(|s| s.bytes > 0);
    let rates: Vec<f64> = moved.map(|s| s.bytes as f64 / s.wall_ns as f64 * 1e3).collect();
    geometric_mean(&rates)
}

/// Percentiles of all latencies together.
pub fn percentiles<'a>(latencies: impl Iterator<Item = &'a Latency>) -> Option<Percentiles> {
    let latencies: Vec<_> = latencies.collect();
    let all = histogram::merge(latencies.iter().map(|latency| latency.histogram.as_str()))?;
    let max_us = latencies.iter().map(|latency| latency.max_ns).max()? as f64 / 1e3;
    Some(Percentiles { max_us, ..Percentiles::of(&all) })
}

impl Percentiles {
    /// Of latencies in nanoseconds.
    pub fn of(all: &Histogram<u64>) -> Self {
        let at = |quantile| all.value_at_quantile(quantile) as f64 / 1e3;
        Self {
            p50_us: at(0.5),
            p90_us: at(0.9),
            p99_us: at(0.99),
            p999_us: at(0.999),
            p9999_us: at(0.9999),
            max_us: all.max() as f64 / 1e3,
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
    let known: Vec<_> = samples.iter().filter_map(|s| Some((s.io?, s.bytes))).collect();
    let read: f64 = known.iter().map(|(io, _)| io.device_read_bytes as f64).sum();
    let bytes: f64 = known.iter().map(|(_, bytes)| *bytes as f64).sum();
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
