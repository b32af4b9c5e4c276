//! `--export-hdr`: latencies as HdrHistogram's listing of percentiles, which its plotter and other
//! tools read (<https://github.com/HdrHistogram/HdrHistogram>, `outputPercentileDistribution`).

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::Path,
};

use model::{Case, Error, Plan, Result, record::Record};
use report::{Latencies, latencies};

/// Lines for each halving of the distance to 100 %, as HdrHistogram's own default.
const TICKS: u32 = 5;
/// Values are in microseconds.
const NS: f64 = 1e3;

/// Writes a file for each case, target and kind of operation into `folder`, which is made if it is
/// not there; of a sweep, each run's into a folder in it by the run's number.
pub(super) fn write(records: &[Record], folder: &Path) -> Result<()> {
    match records {
        [record] => write_one(record, folder),
        runs => (1..).zip(runs).try_for_each(|(number, record): (u32, _)| {
            write_one(record, &folder.join(number.to_string()))
        }),
    }
}

fn write_one(record: &Record, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|e| Error::io(folder.display(), e))?;
    let plan = &record.header.plan;
    for case in plan.cases() {
        for target in 0..plan.targets.len() {
            for of in latencies(record, case, target) {
                let path = folder.join(name(plan, case, target, &of));
                let wrong = |e| Error::io(path.display(), e);
                let mut out = BufWriter::new(File::create(&path).map_err(wrong)?);
                listing(&of, &mut out).and_then(|()| out.flush()).map_err(wrong)?;
            }
        }
    }
    Ok(())
}

/// `1-warm-2-sqlite-api-blob-read.hdr`: the workload's number, the state, the target's number and
/// label, the kind of operation.
fn name(plan: &Plan, case: Case, target: usize, of: &Latencies) -> String {
    let harmless = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let label: String = plan.targets[target].label.chars().take(60).map(harmless).collect();
    let kind = of.action.map_or("all", |action| action.as_str());
    let (workload, cache, target) = (case.workload + 1, case.cache, target + 1);
    format!("{workload}-{cache}-{target}-{label}-{kind}.hdr")
}

fn listing(of: &Latencies, out: &mut impl Write) -> io::Result<()> {
    let all = &of.histogram;
    writeln!(
        out,
        "{:>12} {:>14} {:>10} {:>14}\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    )?;
    let mut total = 0;
    for tick in all.iter_quantiles(TICKS) {
        total += tick.count_since_last_iteration();
        let (value, quantile) = (tick.value_iterated_to() as f64 / NS, tick.quantile_iterated_to());
        write!(out, "{value:12.3} {quantile:2.12} {total:10}")?;
        if quantile < 1.0 {
            write!(out, " {:14.2}", 1.0 / (1.0 - quantile))?;
        }
        writeln!(out)?;
    }
    let (mean, deviation, max) = (all.mean() / NS, all.stdev() / NS, all.max() as f64 / NS);
    let (count, buckets) = (all.len(), all.buckets());
    writeln!(out, "#[Mean    = {mean:12.3}, StdDeviation   = {deviation:12.3}]")?;
    writeln!(out, "#[Max     = {max:12.3}, Total count    = {count:12}]")?;
    writeln!(out, "#[Buckets = {buckets:12}, SubBuckets     = {:12}]", sub_buckets(all.sigfig()))
}

/// The least power of two in which twice so many decimal digits can be distinguished.
fn sub_buckets(digits: u8) -> u64 {
    (2 * 10_u64.pow(digits.into())).next_power_of_two()
}
