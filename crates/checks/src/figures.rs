//! Computes the figures of a comparison from its samples.

pub(crate) mod explained;
pub(crate) mod hosts;
pub(crate) mod latencies;
pub(crate) mod power_cuts;
pub(crate) mod requests;
pub(crate) mod scaling;
pub(crate) mod stalls;
pub(crate) mod stores;
pub(crate) mod study;
pub(crate) mod sweep;
pub(crate) mod workers;

use hdrhistogram::Histogram;
use model::{Cache, Case, Judge, Latency, Plan, PlannedTarget, Sample, record::Record};
use schemars::JsonSchema;
use serde::Serialize;
use stats::{Estimate, Values, geometric_mean};

use crate::{
    histogram,
    series::Series,
    verdict::{Judged, Verdict, judgements_on},
};

/// The figures of one target under one workload in one cache state, over all rounds. A figure is
/// `None` if it was not measured.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Figures {
    /// The workload and the cache state.
    #[serde(skip)]
    pub case: Case,
    /// Index into the plan's targets.
    #[serde(skip)]
    pub target: usize,
    /// Rounds that count.
    pub rounds: usize,
    /// Microseconds per operation, without waiting for a processor as far as that is known.
    pub us_per_op: Option<Estimate>,
    /// Microseconds per operation by the wall clock; null if `us_per_op` is by the wall clock.
    pub wall_us_per_op: Option<Estimate>,
    /// Microseconds per operation of the first pass after opening.
    pub first_us_per_op: Option<Estimate>,
    /// Millions of bytes per second.
    pub mb_per_s: Option<Estimate>,
    /// Latencies of all rounds together.
    #[serde(rename = "latency_us")]
    pub latency: Option<Percentiles>,
    /// Processor time in user mode, microseconds per operation.
    pub user_us_per_op: Option<f64>,
    /// Processor time in kernel mode, microseconds per operation.
    pub system_us_per_op: Option<f64>,
    /// Bytes read from a device for each byte of the values.
    #[serde(skip)]
    pub device_read_per_byte: Option<f64>,
    /// Time divided by the baseline's, paired by round, with the interval that decides its verdict.
    pub ratio: Option<Estimate>,
    /// Whether its interval is as wide as copies of the stores differ, which more rounds do not
    /// change.
    #[serde(skip)]
    pub copies_decide: bool,
    /// Time in this cache state divided by that in the warm one, paired by round.
    pub over_warm: Option<Estimate>,
    /// How the schedule was kept; `None` without a schedule.
    #[serde(skip)]
    pub paced: Option<Schedule>,
    /// The verdict on `ratio`.
    pub verdict: Verdict,
    /// The verdict on another figure than the time; absent unless one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<JudgedFigure>,
}

/// A verdict on a percentile of the latencies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JudgedFigure {
    /// The percentile.
    pub figure: Judge,
    /// Geometric mean of the percentile of each round, in microseconds.
    pub us: Option<Estimate>,
    /// That percentile divided by the baseline's, paired by round, with the interval that decides.
    pub ratio: Option<Estimate>,
    /// The verdict on `ratio`.
    pub verdict: Verdict,
}

/// The quality of a schedule over all rounds: whether operations kept up with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Operations a second that were completed.
    pub reached: f64,
    /// Whether that is too few in any round.
    pub saturated: bool,
    /// Median of how late operations started, in microseconds.
    pub lag_p50_us: f64,
    /// 99th percentile of how late operations started, in microseconds.
    pub lag_p99_us: f64,
}

/// The percentiles of latencies in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Latency")]
pub struct Percentiles {
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// 99.99th percentile.
    pub p9999: f64,
    /// Largest.
    pub max: f64,
    /// Share of the time of all operations in those above the 99th percentile.
    pub above_p99: f64,
}

impl Figures {
    /// Returns the share of the wall time for which the worker waited for a processor, which the
    /// time leaves out; `None` if the time is the wall time.
    pub fn waited_share(&self) -> Option<f64> {
        Some(1.0 - self.us_per_op?.point / self.wall_us_per_op?.point)
    }

    /// Returns the processor time in both modes, in microseconds per operation.
    pub fn cpu_us_per_op(&self) -> Option<f64> {
        Some(self.user_us_per_op? + self.system_us_per_op?)
    }
}

/// Returns the figures of each target of the plan in each of its cases, in their order, measured or
/// not.
pub fn figures(record: &Record) -> Vec<Figures> {
    let cases = record.header.plan.cases();
    let rows = cases.flat_map(|case| {
        let judged = judgements_on(Judge::Time, record, case).into_iter().enumerate();
        let rows = judged.map(|(target, judged)| row(Series::new(record, case, target), judged));
        let mut rows = without_false_limits(&record.header.plan, rows.collect());
        let judged = judged_figures(record, case);
        rows.iter_mut().zip(judged).for_each(|(row, judged)| row.judged = Some(judged));
        rows
    });
    rows.collect()
}

/// Returns the verdict on the figure that the plan asks for, of each target; empty if that is the time.
fn judged_figures(record: &Record, case: Case) -> Vec<JudgedFigure> {
    let plan = &record.header.plan;
    let figure = plan.rounds.judge;
    if figure.is_time() {
        return Vec::new();
    }
    let all = judgements_on(figure, record, case).into_iter().enumerate();
    let judged = |(target, (verdict, ratio))| {
        let us = Series::new(record, case, target).unit_figures(figure).mean();
        let verdict = if is_limit(plan, target) { Verdict::of_reference(verdict) } else { verdict };
        JudgedFigure { figure, us, ratio, verdict }
    };
    all.map(judged).collect()
}

/// Reports whether a target is a limit of the machine. A build that is loaded again is judged: a
/// difference as large as that between the two shows nothing.
fn is_limit(plan: &Plan, target: usize) -> bool {
    plan.is_reference(target) && plan.same_build(target).is_none()
}

/// Splits figures into the rows of each case.
pub fn cases(figures: &[Figures]) -> impl Iterator<Item = &[Figures]> {
    figures.chunk_by(|one, next| one.case == next.case)
}

/// Returns the target that shares the `place` of `target` (its file system or style) and the
/// baseline's `store`; `None` if the target itself has the baseline's store.
pub(crate) fn counterpart<S: PartialEq, P: PartialEq>(
    plan: &Plan,
    target: usize,
    store: fn(&PlannedTarget) -> S,
    place: fn(&PlannedTarget) -> P,
) -> Option<usize> {
    let [baseline, own] = [plan.targets.get(plan.baseline)?, plan.targets.get(target)?];
    let same =
        |other: &PlannedTarget| store(other) == store(baseline) && place(other) == place(own);
    plan.targets.iter().position(same).filter(|_| store(own) != store(baseline))
}

/// Changes limits of the machine into references if a store is faster, because then they are no
/// limits.
fn without_false_limits(plan: &Plan, mut rows: Vec<Figures>) -> Vec<Figures> {
    let time = |row: &Figures| Some(row.us_per_op?.point);
    let stores = rows.iter().filter(|row| !plan.is_reference(row.target));
    let fastest = stores.filter_map(time).fold(f64::INFINITY, f64::min);
    for row in rows.iter_mut().filter(|row| row.verdict == Verdict::Limit) {
        if time(row).is_some_and(|time| time > fastest) {
            row.verdict = Verdict::Reference;
        }
    }
    rows
}

pub(crate) fn all_series(record: &Record) -> impl Iterator<Item = Series<'_>> {
    let targets = 0..record.header.plan.targets.len();
    let cases = record.header.plan.cases();
    cases.flat_map(move |case| targets.clone().map(move |target| Series::new(record, case, target)))
}

fn row(series: Series<'_>, (verdict, ratio): Judged) -> Figures {
    let Series { record, case, target, .. } = series;
    let samples: Vec<_> = series.samples().collect();
    let us_per_op = series.unit_times().mean();
    let cpu = |part| Some(sum(&samples, part) * us_per_cpu_ns(&samples, us_per_op.as_ref())?);
    let plan = &record.header.plan;
    let verdict = if is_limit(plan, target) { verdict.of_reference() } else { verdict };
    let is_baseline = target == plan.baseline;
    let ratios = if is_baseline { Values::default() } else { series.ratios_to(series.baseline()) };
    let warm = Series { case: Case { cache: Cache::Warm, ..case }, ..series };
    Figures {
        case,
        target,
        rounds: samples.len(),
        us_per_op,
        wall_us_per_op: series.wall_times().mean(),
        first_us_per_op: first(series),
        mb_per_s: throughput(series),
        latency: percentiles(samples.iter().filter_map(|sample| sample.latency())),
        user_us_per_op: cpu(|s| s.cost.user_ns),
        system_us_per_op: cpu(|s| s.cost.system_ns),
        device_read_per_byte: per(&samples, |s| s.bytes, |s| s.io?.device_read_bytes),
        ratio,
        copies_decide: ratios.copies_decide(),
        over_warm: if case.cache == Cache::Warm { None } else { series.ratio_to(warm) },
        paced: paced(&samples),
        verdict,
        judged: None,
    }
}

fn first(series: Series<'_>) -> Option<Estimate> {
    let passes = series.samples().filter_map(|s| Some((s, s.first_pass()?)));
    let passes = passes.filter(|(_, first)| first.operations > 0 && first.ns > 0);
    series.units(passes.map(|(s, f)| (s, f.ns as f64 / f.operations as f64 / 1e3))).mean()
}

fn throughput(series: Series<'_>) -> Option<Estimate> {
    let moved = series.samples().filter(|s| s.bytes > 0);
    series.units(moved.map(|s| (s, s.bytes as f64 / s.judged_ns() as f64 * 1e3))).mean()
}

/// Computes the percentiles of merged latencies; `None` without any that can be read.
pub fn percentiles<'a>(latencies: impl Iterator<Item = &'a Latency>) -> Option<Percentiles> {
    let latencies: Vec<_> = latencies.collect();
    let all = histogram::merge(latencies.iter().map(|latency| latency.histogram.as_str()))?;
    let max = latencies.iter().map(|latency| latency.max_ns).max()? as f64 / 1e3;
    Some(Percentiles { max, ..Percentiles::from_histogram(&all) })
}

impl Percentiles {
    /// Computes the percentiles of latencies in nanoseconds.
    pub fn from_histogram(all: &Histogram<u64>) -> Self {
        let at = |quantile| all.value_at_quantile(quantile) as f64 / 1e3;
        Self {
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            p9999: at(0.9999),
            max: all.max() as f64 / 1e3,
            above_p99: above(all, all.value_at_quantile(0.99)),
        }
    }
}

/// Returns the share of the sum of all values that is in those above `limit`.
fn above(all: &Histogram<u64>, limit: u64) -> f64 {
    let (mut sum, mut above) = (0.0, 0.0);
    for step in all.iter_recorded() {
        let part =
            all.median_equivalent(step.value_iterated_to()) as f64 * step.count_at_value() as f64;
        sum += part;
        above += if step.value_iterated_to() > limit { part } else { 0.0 };
    }
    if sum > 0.0 { above / sum } else { 0.0 }
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

/// Returns microseconds per operation for a nanosecond of processor time. Processor time is
/// averaged as a share of the whole time, times the time per operation, so that the two can be
/// compared.
fn us_per_cpu_ns(samples: &[&Sample], us_per_op: Option<&Estimate>) -> Option<f64> {
    // On a schedule most of the time is spent on waiting for it.
    if samples.iter().any(|s| s.paced().is_some()) {
        return Some(1e-3 / sum(samples, |s| s.operations));
    }
    Some(us_per_op?.point / sum(samples, Sample::judged_ns))
}

/// Returns the sum of a figure over all samples.
pub fn sum(samples: &[&Sample], of: fn(&Sample) -> u64) -> f64 {
    samples.iter().map(|sample| of(sample) as f64).sum()
}

/// Returns the sum of a figure divided by the sum of `by`, over the samples that have it; `None` if
/// none has.
pub fn per(
    samples: &[&Sample],
    by: fn(&Sample) -> u64,
    of: impl Fn(&Sample) -> Option<u64>,
) -> Option<f64> {
    let known = samples.iter().filter_map(|sample| Some((of(sample)?, by(sample))));
    let (sum, whole) =
        known.fold((0.0, 0.0), |(sum, whole), (of, by)| (sum + of as f64, whole + by as f64));
    (whole > 0.0).then(|| sum / whole)
}
