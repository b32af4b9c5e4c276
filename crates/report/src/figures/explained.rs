//! Computes what coincides with the time of an operation: processor time, faults, calls, bytes.

use model::{Case, Residency, Sample, record::Record};

use checks::{CpuTime, Figures, usable_samples};

/// What the operations of one target in one case took besides time: sums over all rounds, divided
/// by their operations or bytes. Absent: not known to the system, or not measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// Workload and cache state.
    pub case: Case,
    /// Index into the plan's targets.
    pub target: usize,
    /// Processor time in user mode, in microseconds per operation.
    pub user_us: Option<f64>,
    /// In kernel mode.
    pub system_us: Option<f64>,
    /// The rest of the time, in which the only worker did not run: it waited for a device or a
    /// lock, or for a processor that others used. Absent with several workers, whose times overlap.
    pub off_cpu_us: Option<f64>,
    /// Page faults served from memory, per operation.
    pub minor_faults: Option<f64>,
    /// Page faults that waited for a device, per operation.
    pub major_faults: Option<f64>,
    /// Context switches of both kinds, per operation.
    pub switches: Option<f64>,
    /// Calls that read, per operation.
    pub read_calls: Option<f64>,
    /// Calls that wrote, per operation.
    pub write_calls: Option<f64>,
    /// Bytes that calls delivered, per byte of the values.
    pub read_bytes: Option<f64>,
    /// Bytes that calls took, per byte of the values.
    pub written_bytes: Option<f64>,
    /// Bytes fetched from a device for this process, per byte of the values.
    pub device_read: Option<f64>,
    /// Bytes that the device under the store wrote, whoever asked, per byte of the values.
    pub device_written: Option<f64>,
    /// Share of the store's pages in memory when it was opened: mean of all rounds.
    pub cached_before: Option<f64>,
    /// The same after the pass.
    pub cached_after: Option<f64>,
    /// Memory that storemark, its workers and the store's server occupied at the end of a pass, in
    /// millions of bytes, the page cache left out: mean of all rounds.
    pub memory_mb: Option<f64>,
    /// Opening the store, in milliseconds: mean of all rounds.
    pub open_ms: Option<f64>,
    /// Time per operation of the first pass after opening, over that of the steady one.
    pub first_over_steady: Option<f64>,
}

/// A row for each of `figures`, which are the record's own.
pub fn explained(record: &Record, figures: &[Figures]) -> Vec<Explained> {
    figures.iter().map(|row| explain(record, row)).collect()
}

fn explain(record: &Record, row: &Figures) -> Explained {
    let samples = usable_samples(record, row.case, row.target);
    let per_operation = |of: fn(&Sample) -> Option<u64>| per(&samples, |s| s.operations, of);
    let per_byte = |of: fn(&Sample) -> Option<u64>| per(&samples, |s| s.bytes, of);
    // No pass takes no processor time: where both are zero, the system reported neither.
    let cpu = row.cpu.filter(|cpu| cpu.user_us_per_op + cpu.system_us_per_op > 0.0);
    Explained {
        case: row.case,
        target: row.target,
        user_us: cpu.map(|cpu| cpu.user_us_per_op),
        system_us: cpu.map(|cpu| cpu.system_us_per_op),
        off_cpu_us: off_cpu(record, row, cpu),
        minor_faults: per_operation(|s| s.cost.minor_faults),
        major_faults: per_operation(|s| s.cost.major_faults),
        switches: per_operation(switches),
        read_calls: per_operation(|s| Some(s.io?.read_calls)),
        write_calls: per_operation(|s| Some(s.io?.write_calls)),
        read_bytes: per_byte(|s| Some(s.io?.read_bytes)),
        written_bytes: per_byte(|s| Some(s.io?.written_bytes)),
        device_read: row.device_read_per_byte,
        device_written: per_byte(|s| Some(s.device?.written_bytes)),
        cached_before: cached(&samples, |s| s.before),
        cached_after: cached(&samples, |s| s.after),
        memory_mb: per(&samples, |_| 1_000_000, |s| s.memory_bytes),
        open_ms: per(&samples, |_| 1_000_000, |s| Some(s.open_ns)),
        first_over_steady: row
            .first_us_per_op
            .zip(row.us_per_op)
            .map(|(first, steady)| first.point / steady.point),
    }
}

/// The sum of a figure over the sum of `by`, of those samples that have it.
fn per(
    samples: &[&Sample],
    by: fn(&Sample) -> u64,
    of: impl Fn(&Sample) -> Option<u64>,
) -> Option<f64> {
    let known = samples.iter().filter_map(|sample| Some((of(sample)?, by(sample))));
    let (sum, whole) =
        known.fold((0.0, 0.0), |(sum, whole), (of, by)| (sum + of as f64, whole + by as f64));
    (whole > 0.0).then(|| sum / whole)
}

/// The meter covers a little more than the clock, and the process has other threads: processor
/// time may exceed the time, which leaves nothing.
fn off_cpu(record: &Record, row: &Figures, cpu: Option<CpuTime>) -> Option<f64> {
    let workload = record.header.plan.workloads.get(row.case.workload)?;
    let rest = row.us_per_op?.point - cpu?.user_us_per_op - cpu?.system_us_per_op;
    (workload.workers() == 1).then_some(rest.max(0.0))
}

fn switches(sample: &Sample) -> Option<u64> {
    let cost = &sample.cost;
    Some(cost.voluntary_switches?.saturating_add(cost.involuntary_switches?))
}

fn cached(samples: &[&Sample], when: fn(&Sample) -> Option<Residency>) -> Option<f64> {
    let shares: Vec<f64> = samples.iter().filter_map(|s| when(s)?.resident_share()).collect();
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
}
