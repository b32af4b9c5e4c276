//! Latencies as HdrHistogram's listing of percentiles, which its plotter and other tools read
//! (<https://github.com/HdrHistogram/HdrHistogram>, `outputPercentileDistribution`).

use std::fmt::Write;

use checks::{Latencies, latencies};
use itertools::Itertools;
use model::{Case, Plan, record::Record};

/// The number of lines for each halving of the distance to 100 %: HdrHistogram's own default.
const TICKS: u32 = 5;
/// The first line of a listing.
pub const HDR_HEAD: &str = "       Value     Percentile TotalCount 1/(1-Percentile)";

/// The nanoseconds of a microsecond, the unit of the listed values.
const NS: f64 = 1e3;

/// Returns the name and the content of a file for each case, target and kind of operation.
pub fn hdr(record: &Record) -> impl Iterator<Item = (String, String)> {
    let plan = &record.header.plan;
    let places = plan.cases().cartesian_product(0..plan.targets.len());
    places.flat_map(move |(case, target)| {
        let all = latencies(record, case, target).into_iter();
        all.map(move |of| (name(plan, case, target, &of), listing(&of)))
    })
}

/// Returns the name of a file: the workload's number, the cache state, the target's number and
/// label, and the kind of operation, as in `1-warm-2-sqlite-api-blob-read.hdr`.
fn name(plan: &Plan, case: Case, target: usize, of: &Latencies) -> String {
    let harmless = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let label: String = plan.targets[target].label.chars().take(60).map(harmless).collect();
    let kind = of.action.map_or("all", |action| action.as_str());
    let (workload, cache, target) = (case.workload + 1, case.cache, target + 1);
    format!("{workload}-{cache}-{target}-{label}-{kind}.hdr")
}

fn listing(of: &Latencies) -> String {
    let all = &of.histogram;
    let mut text = format!("{HDR_HEAD}\n\n");
    let mut total = 0;
    for tick in all.iter_quantiles(TICKS) {
        total += tick.count_since_last_iteration();
        let (value, quantile) = (tick.value_iterated_to() as f64 / NS, tick.quantile_iterated_to());
        let inverse = 1.0 / (1.0 - quantile);
        let inverse = if quantile < 1.0 { format!(" {inverse:14.2}") } else { String::new() };
        // Writing to a string does not fail.
        let _ = writeln!(text, "{value:12.3} {quantile:2.12} {total:10}{inverse}");
    }
    let (mean, deviation, max) = (all.mean() / NS, all.stdev() / NS, all.max() as f64 / NS);
    let (count, buckets, parts) = (all.len(), all.buckets(), sub_buckets(all.sigfig()));
    let _ = writeln!(text, "#[Mean    = {mean:12.3}, StdDeviation   = {deviation:12.3}]");
    let _ = writeln!(text, "#[Max     = {max:12.3}, Total count    = {count:12}]");
    let _ = writeln!(text, "#[Buckets = {buckets:12}, SubBuckets     = {parts:12}]");
    text
}

/// Returns the smallest power of two that distinguishes this many decimal digits, by twice their
/// number of values.
fn sub_buckets(digits: u8) -> u64 {
    (2 * 10_u64.pow(digits.into())).next_power_of_two()
}
