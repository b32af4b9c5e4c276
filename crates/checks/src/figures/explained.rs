//! Computes what coincides with the time of an operation: processor time, faults, calls, bytes.
//!
//! This is arithmetic: it shows what differs along with a time, not what causes it.

use model::{Residency, Sample, record::Record};

use super::{Figures, per};
use crate::{series::Series, verdict::Verdict};

/// The figures of one target in one case, over all rounds: per operation, or per byte of the values.
/// Absent: not known to the system, or not measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// Index of the target in the plan.
    pub target: usize,
    /// Microseconds in user mode.
    pub user: Option<f64>,
    /// Microseconds in kernel mode.
    pub kernel: Option<f64>,
    /// Microseconds in which the only worker did not run: it waited for a device or a lock, or for a
    /// processor, if `waited` is not known. Unknown with several workers, whose times overlap.
    pub off_cpu: Option<f64>,
    /// Microseconds in which it waited for a processor that others used; the time leaves them out.
    pub waited: Option<f64>,
    /// Microseconds by the wall clock.
    pub wall: Option<f64>,
    /// Page faults served from memory.
    pub minor_faults: Option<f64>,
    /// Page faults that waited for a device.
    pub major_faults: Option<f64>,
    /// Context switches of both kinds.
    pub switches: Option<f64>,
    /// Calls that read.
    pub read_calls: Option<f64>,
    /// Calls that wrote.
    pub write_calls: Option<f64>,
    /// Calls that flush to the device.
    pub flushes: Option<f64>,
    /// Bytes that calls delivered, per byte.
    pub read_bytes: Option<f64>,
    /// Bytes that calls took, per byte.
    pub written_bytes: Option<f64>,
    /// Bytes fetched from a device for this process, per byte.
    pub device_read: Option<f64>,
    /// Bytes that the device under the store wrote, whoever asked, per byte.
    pub device_written: Option<f64>,
    /// Percentage of the store's pages in memory when it was opened.
    pub cached_before: Option<f64>,
    /// Percentage of the store's pages in memory after the pass.
    pub cached_after: Option<f64>,
    /// Megabytes that storemark, its workers and the store's server occupied at the end of a pass, the
    /// page cache left out.
    pub memory_mb: Option<f64>,
    /// Milliseconds of opening the store.
    pub opening_ms: Option<f64>,
    /// Time of the first pass after opening over that of the steady one.
    pub first_over_steady: Option<f64>,
}

/// Returns a row for each of `figures`, which are the record's own.
pub fn explained(record: &Record, figures: &[Figures]) -> Vec<Explained> {
    figures.iter().map(|row| explain(record, row)).collect()
}

fn explain(record: &Record, row: &Figures) -> Explained {
    let samples: Vec<_> = Series::new(record, row.case, row.target).samples().collect();
    let per_operation = |of: fn(&Sample) -> Option<u64>| per(&samples, |s| s.operations, of);
    let per_byte = |of: fn(&Sample) -> Option<u64>| per(&samples, |s| s.bytes, of);
    let per_million = |of: fn(&Sample) -> Option<u64>| per(&samples, |_| 1_000_000, of);
    // No pass takes no processor time: if both are zero, the system reported neither.
    let cpu = row.cpu_us_per_op().filter(|us| *us > 0.0);
    Explained {
        target: row.target,
        user: cpu.and(row.user_us_per_op),
        kernel: cpu.and(row.system_us_per_op),
        off_cpu: cpu.and_then(|cpu| off_cpu(record, row, cpu)),
        waited: row.wall_us_per_op.zip(row.us_per_op).map(|(wall, time)| wall.point - time.point),
        wall: row.wall_us_per_op.or(row.us_per_op).map(|wall| wall.point),
        minor_faults: per_operation(|s| s.cost.minor_faults),
        major_faults: per_operation(|s| s.cost.major_faults),
        switches: per_operation(|s| {
            Some(s.cost.voluntary_switches?.saturating_add(s.cost.involuntary_switches?))
        }),
        read_calls: per_operation(|s| s.io?.read_calls),
        write_calls: per_operation(|s| s.io?.write_calls),
        flushes: per_operation(|s| s.cost.flushes),
        read_bytes: per_byte(|s| s.io?.read_bytes),
        written_bytes: per_byte(|s| s.io?.written_bytes),
        device_read: row.device_read_per_byte,
        device_written: per_byte(|s| Some(s.device?.written_bytes)),
        cached_before: cached(&samples, |s| s.before),
        cached_after: cached(&samples, |s| s.after),
        memory_mb: per_million(|s| s.memory_bytes),
        opening_ms: per_million(|s| Some(s.open_ns).filter(|ns| *ns > 0)),
        first_over_steady: row.first_us_per_op.zip(row.us_per_op).map(|(a, b)| a.point / b.point),
    }
}

/// Returns the microseconds per operation off the processor; `None` with several workers. The
/// processor time covers a little more than the clock, and other threads of the process: if it
/// exceeds the time, 0 is returned.
fn off_cpu(record: &Record, row: &Figures, cpu: f64) -> Option<f64> {
    let workload = record.header.plan.workloads.get(row.case.workload)?;
    let rest = row.us_per_op?.point - cpu;
    (workload.workers() == 1).then_some(rest.max(0.0))
}

/// Returns the mean percentage of pages in memory; `None` if no trial reports it.
pub(crate) fn cached(samples: &[&Sample], when: fn(&Sample) -> Option<Residency>) -> Option<f64> {
    let shares: Vec<f64> = samples.iter().filter_map(|s| when(s)?.resident_share()).collect();
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64 * 100.0)
}

/// A figure that may coincide with a difference between times.
#[derive(Clone, Copy, Debug)]
pub struct Aspect {
    /// Whether it is in microseconds rather than a count.
    pub is_time: bool,
    /// The name of what it measures.
    pub name: &'static str,
    of: fn(&Explained) -> Option<f64>,
}

const fn time(name: &'static str, of: fn(&Explained) -> Option<f64>) -> Aspect {
    Aspect { is_time: true, name, of }
}

const fn number(name: &'static str, of: fn(&Explained) -> Option<f64>) -> Aspect {
    Aspect { is_time: false, name, of }
}

/// The parts of a worker's time, each with the figures that may explain it, the strongest
/// explanation first: a worker that waits for bytes from a device also switches.
const PARTS: [(Aspect, &[Aspect]); 3] = [
    (time("in user mode per blob", |e| e.user), &[]),
    (
        time("in the kernel per blob", |e| e.kernel),
        &[
            number("read and write calls per blob", |e| Some(e.read_calls? + e.write_calls?)),
            number("page faults per blob", |e| e.minor_faults),
        ],
    ),
    (
        time("off the processor per blob", |e| e.off_cpu),
        &[
            number("flushes per blob", |e| e.flushes),
            number("bytes from the device per byte", |e| e.device_read),
            number("bytes to the device per byte", |e| e.device_written),
            number("page faults from the device per blob", |e| e.major_faults),
            number("context switches per blob", |e| e.switches),
        ],
    ),
];

/// A figure of the baseline and of a target.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// The aspect that differs.
    pub aspect: Aspect,
    /// Its value for the baseline.
    pub baseline: f64,
    /// Its value for the target.
    pub target: f64,
}

/// The smallest share of the larger value by which a related figure differs.
const CLEAR: f64 = 0.1;

/// The smallest change of a related figure per operation, or per byte: less explains no
/// microseconds.
const LEAST: f64 = 0.05;

impl Difference {
    /// Returns the target's value minus the baseline's.
    pub fn change(&self) -> f64 {
        self.target - self.baseline
    }

    fn is_clear(&self) -> bool {
        let change = self.change().abs();
        change >= LEAST && change / self.baseline.max(self.target) >= CLEAR
    }
}

/// Returns at most two differences that coincide with a verdict: of the time in user mode, in
/// kernel mode and off the processor, the one that differs most in the verdict's direction; then
/// the first related figure that clearly differs in the same direction. Returns none if the times
/// do not differ, or not all three parts are known.
pub fn differences(baseline: &Explained, row: &Figures, target: &Explained) -> Vec<Difference> {
    let direction = match row.verdict {
        Verdict::Faster => -1.0,
        Verdict::Slower => 1.0,
        _ => return vec![],
    };
    // The time off the processor is the rest, and known only if the other two are.
    if baseline.off_cpu.is_none() || target.off_cpu.is_none() {
        return vec![];
    }
    let differ = |aspect: Aspect| {
        let [baseline, target] = [(aspect.of)(baseline)?, (aspect.of)(target)?];
        let difference = Difference { aspect, baseline, target };
        (difference.change() * direction > 0.0).then_some(difference)
    };
    let parts = PARTS.iter().filter_map(|(part, related)| Some((differ(*part)?, *related)));
    let most = parts.max_by(|a, b| a.0.change().abs().total_cmp(&b.0.change().abs()));
    let Some((part, related)) = most else { return vec![] };
    let related = related.iter().copied().filter_map(differ).find(Difference::is_clear);
    [part].into_iter().chain(related).collect()
}
