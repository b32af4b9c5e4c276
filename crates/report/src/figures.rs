//! Computes the figures of a comparison from its samples.

use std::collections::BTreeMap;

use model::{Sample, record::Record};
use stats::{Estimate, geometric_mean, paired_ratio};

use crate::{histogram, judgement::Judgement};

/// What one target did under one workload, over all rounds. Absent: not measured.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Index into the plan's workloads.
    pub workload: usize,
    /// Index into the plan's targets.
    pub target: usize,
    /// Rounds with a sample.
    pub rounds: usize,
    /// Microseconds per operation.
    pub us_per_op: Option<Estimate>,
    /// Millions of bytes per second.
    pub mb_per_s: Option<Estimate>,
    /// Latencies.
    pub latency: Option<Percentiles>,
    /// Processor time.
    pub cpu: Option<CpuTime>,
    /// Time over the baseline's, paired by round; absent for the baseline itself.
    pub ratio: Option<Estimate>,
    /// What the ratio says.
    pub judgement: Judgement,
}

/// Latencies of all rounds together, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentiles {
    /// Median.
    pub p50_us: f64,
    /// 99th percentile.
    pub p99_us: f64,
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

/// A row for each target of the plan under each workload of the plan, in their order, measured
/// or not.
pub fn figures(record: &Record) -> Vec<Figures> {
    let plan = &record.header.plan;
    (0..plan.workloads.len())
        .flat_map(|workload| (0..plan.targets.len()).map(move |target| (workload, target)))
        .map(|(workload, target)| row(record, workload, target))
        .collect()
}

fn row(record: &Record, workload: usize, target: usize) -> Figures {
    let samples = usable_samples(record, workload, target);
    let times = us_by_round(&samples);
    let ratio = ratio(record, workload, target, &times);
    let us_per_op = geometric_mean(&times.values().copied().collect::<Vec<_>>());
    Figures {
        workload,
        target,
        rounds: times.len(),
        us_per_op,
        mb_per_s: throughput(&samples),
        latency: latency(&samples),
        cpu: cpu(&samples, us_per_op.as_ref()),
        ratio,
        judgement: Judgement::of(record, workload, target, ratio.as_ref()),
    }
}

/// A sample without operations or time has no figure per operation.
fn usable_samples(record: &Record, workload: usize, target: usize) -> Vec<&Sample> {
    record
        .samples_of(workload, target)
        .filter(|sample| sample.operations > 0 && sample.wall_ns > 0)
        .collect()
}

fn us_by_round(samples: &[&Sample]) -> BTreeMap<u32, f64> {
    samples.iter().map(|s| (s.round, s.wall_ns as f64 / s.operations as f64 / 1e3)).collect()
}

/// Only rounds in which both were measured count.
fn ratio(
    record: &Record,
    workload: usize,
    target: usize,
    times: &BTreeMap<u32, f64>,
) -> Option<Estimate> {
    let baseline = record.header.plan.baseline;
    if target == baseline {
        return None;
    }
    let theirs = us_by_round(&usable_samples(record, workload, baseline));
    let (numerator, denominator): (Vec<f64>, Vec<f64>) = times
        .iter()
        .filter_map(|(round, time)| theirs.get(round).map(|theirs| (time, theirs)))
        .unzip();
    paired_ratio(&numerator, &denominator)
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
    let all = histogram::merge(samples.iter().map(|s| s.latency.histogram.as_str()))?;
    let us = |ns: u64| ns as f64 / 1e3;
    Some(Percentiles {
        p50_us: us(all.value_at_quantile(0.50)),
        p99_us: us(all.value_at_quantile(0.99)),
        max_us: us(samples.iter().map(|s| s.latency.max_ns).max()?),
    })
}

/// Processor time as a share of all the time, times the time per operation: so it is averaged as
/// that is, and the two can be compared.
fn cpu(samples: &[&Sample], us_per_op: Option<&Estimate>) -> Option<CpuTime> {
    let sum = |part: fn(&Sample) -> u64| samples.iter().map(|s| part(s) as f64).sum::<f64>();
    let us_per_ns = us_per_op?.point / sum(|s| s.wall_ns);
    Some(CpuTime {
        user_us_per_op: sum(|s| s.cost.user_ns) * us_per_ns,
        system_us_per_op: sum(|s| s.cost.system_ns) * us_per_ns,
    })
}
