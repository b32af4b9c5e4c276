//! Checks that the figures of each sample agree with each other.

use hdrhistogram::Histogram;
use model::{Finding, FindingKind, Latency, Sample, record::Record};

use crate::{histogram, sample::in_trial};

/// The error that is accepted: figures from a histogram with three digits are off by at most 0.1 %,
/// and an exact maximum may be that much below the percentile that represents it.
const TOLERANCE: f64 = 0.01;

/// Returns a finding for each contradiction among the figures of a sample.
pub fn contradictions(record: &Record, sample: &Sample) -> Vec<Finding> {
    let plan = &record.header.plan;
    let wrong = |what: &str| FindingKind::Arithmetic { what: what.to_owned() };
    let of = plan.targets.get(sample.target).and(plan.workloads.get(sample.workload));
    let Some(workload) = of else {
        let what = "a sample is of a target or workload that is not in the plan";
        return vec![Finding::run(wrong(what))];
    };
    // Merged histograms were checked before they were merged.
    let latency = sample.latency().filter(|_| !record.merged);
    let all = in_pass(sample, workload.workers()).chain(latency.and_then(in_histogram));
    all.map(|what| in_trial(wrong(what), plan, sample)).collect()
}

fn in_pass(sample: &Sample, workers: u32) -> impl Iterator<Item = &'static str> {
    let none = Latency::default();
    let latency = sample.latency().unwrap_or(&none);
    let in_order = latency.p50_ns <= latency.p99_ns
        && latency.p99_ns <= latency.p999_ns
        && latency.p999_ns as f64 <= latency.max_ns as f64 * (1.0 + TOLERANCE);
    // Latencies of several workers overlap, and on a schedule those of one that is late.
    let fits = sample.paced().is_some()
        || u128::from(latency.sum_ns) <= u128::from(latency.wall_ns) * u128::from(workers);
    let slices = sample.over_time().into_iter().flat_map(|over_time| &over_time.slices);
    let in_slices = slices.map(|slice| u128::from(slice.operations)).sum::<u128>();
    [
        (in_order, "median, percentiles and maximum do not ascend"),
        (fits, "the latencies add up to more than their pass took"),
        (
            in_slices <= u128::from(latency.operations),
            "more operations ended in the slices of a pass than were timed",
        ),
        (sample.settle_ns <= sample.wall_ns, "a part of a pass took longer than the pass"),
    ]
    .into_iter()
    .filter_map(|(holds, what)| (!holds).then_some(what))
}

fn in_histogram(latency: &Latency) -> Option<&'static str> {
    if latency.operations == 0 {
        return None;
    }
    let Some(histogram) = histogram::decode(&latency.histogram) else {
        return Some("the histogram of the latencies cannot be read");
    };
    let sum = latency.sum_ns as f64;
    // A sample of them has a mean of its own. What a thread waits between two operations of a slice is
    // in the sum alone.
    let all_timed = latency.timed == latency.operations;
    let total = histogram.mean() * histogram.len() as f64;
    if histogram.len() != latency.operations {
        Some("the histogram counts other operations than the pass")
    } else if !parts(latency) {
        Some("the histograms of the kinds of operations do not add up to that of all")
    } else if latency.timed > latency.operations {
        Some("more operations were timed than there were")
    } else if all_timed && total > sum * (1.0 + TOLERANCE) {
        Some("the mean of the histogram is above that of the latencies")
    } else if !percentiles(latency, &histogram) {
        Some("the percentiles are not those of the histogram")
    } else {
        None
    }
}

/// Reports whether the operations of all kinds add up to those of the pass, except for some that
/// were not timed.
fn parts(latency: &Latency) -> bool {
    let count = |text: &String| Some(histogram::decode(text)?.len());
    let counts: Option<u64> = latency.actions.values().map(count).sum();
    let unknown = counts.and_then(|counts| latency.operations.checked_sub(counts));
    latency.actions.is_empty()
        || unknown.is_some_and(|unknown| unknown == 0 || latency.timed < latency.operations)
}

/// Reports whether the stored percentiles agree with the histogram.
fn percentiles(latency: &Latency, histogram: &Histogram<u64>) -> bool {
    let same = |one: u64, other: u64| one.abs_diff(other) as f64 <= other as f64 * TOLERANCE;
    same(latency.p50_ns, histogram.value_at_quantile(0.5))
        && same(latency.p99_ns, histogram.value_at_quantile(0.99))
        && same(latency.p999_ns, histogram.value_at_quantile(0.999))
        && same(latency.max_ns, histogram.max())
}
