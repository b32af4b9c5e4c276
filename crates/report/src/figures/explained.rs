//! Computes what coincides with the time of an operation: processor time, faults, calls, bytes.
//!
//! This is arithmetic: it shows what differs along with a time, not what causes it.

use std::collections::BTreeMap;

use model::{Residency, Sample, record::Record};

use checks::{Figures, Series};

use crate::{Verdict, per};

/// A figure next to a time: per operation, or per byte of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// Microseconds in user mode.
    User,
    /// Microseconds in kernel mode.
    Kernel,
    /// Microseconds in which the only worker did not run: it waited for a device or a lock, or for a
    /// processor that others used. Unknown with several workers, whose times overlap.
    OffCpu,
    /// Page faults served from memory.
    MinorFaults,
    /// Page faults that waited for a device.
    MajorFaults,
    /// Context switches of both kinds.
    Switches,
    ReadCalls,
    WriteCalls,
    /// Of both kinds.
    Calls,
    /// Bytes that calls delivered, per byte.
    ReadBytes,
    /// Bytes that calls took, per byte.
    WrittenBytes,
    /// Bytes fetched from a device for this process, per byte.
    DeviceRead,
    /// Bytes that the device under the store wrote, whoever asked, per byte.
    DeviceWritten,
    /// Percentage of the store's pages in memory when it was opened.
    CachedBefore,
    /// The same after the pass.
    CachedAfter,
    /// Megabytes that storemark, its workers and the store's server occupied at the end of a pass, the
    /// page cache left out.
    Memory,
    /// Milliseconds of opening the store.
    Opening,
    /// Time of the first pass after opening over that of the steady one.
    FirstOverSteady,
}

/// The figures of one target in one case: over all rounds, of those samples that have them.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    pub target: usize,
    known: BTreeMap<Aspect, f64>,
}

impl Explained {
    /// Absent: not known to the system, or not measured.
    pub fn get(&self, aspect: Aspect) -> Option<f64> {
        self.known.get(&aspect).copied()
    }
}

/// A row for each of `figures`, which are the record's own.
pub fn explained(record: &Record, figures: &[Figures]) -> Vec<Explained> {
    figures.iter().map(|row| explain(record, row)).collect()
}

fn explain(record: &Record, row: &Figures) -> Explained {
    let samples: Vec<_> = Series::new(record, row.case, row.target).samples().collect();
    let per_operation = |of: fn(&Sample) -> Option<u64>| per(&samples, |s| s.operations, of);
    let per_byte = |of: fn(&Sample) -> Option<u64>| per(&samples, |s| s.bytes, of);
    let per_million = |of: fn(&Sample) -> Option<u64>| per(&samples, |_| 1_000_000, of);
    // No pass takes no processor time: if both are zero, the system reported neither.
    let known = row.cpu_us_per_op().is_some_and(|us| us > 0.0);
    let [user, kernel] = [row.user_us_per_op, row.system_us_per_op].map(|us| us.filter(|_| known));
    let [reads, writes] =
        [per_operation(|s| Some(s.io?.read_calls)), per_operation(|s| Some(s.io?.write_calls))];
    let first = row.first_us_per_op.zip(row.us_per_op);
    let figures = [
        (Aspect::User, user),
        (Aspect::Kernel, kernel),
        (Aspect::OffCpu, user.zip(kernel).and_then(|cpu| off_cpu(record, row, cpu))),
        (Aspect::MinorFaults, per_operation(|s| s.cost.minor_faults)),
        (Aspect::MajorFaults, per_operation(|s| s.cost.major_faults)),
        (Aspect::Switches, per_operation(switches)),
        (Aspect::ReadCalls, reads),
        (Aspect::WriteCalls, writes),
        (Aspect::Calls, reads.zip(writes).map(|(reads, writes)| reads + writes)),
        (Aspect::ReadBytes, per_byte(|s| Some(s.io?.read_bytes))),
        (Aspect::WrittenBytes, per_byte(|s| Some(s.io?.written_bytes))),
        (Aspect::DeviceRead, row.device_read_per_byte),
        (Aspect::DeviceWritten, per_byte(|s| Some(s.device?.written_bytes))),
        (Aspect::CachedBefore, cached(&samples, |s| s.before)),
        (Aspect::CachedAfter, cached(&samples, |s| s.after)),
        (Aspect::Memory, per_million(|s| s.memory_bytes)),
        (Aspect::Opening, per_million(|s| Some(s.open_ns))),
        (Aspect::FirstOverSteady, first.map(|(first, steady)| first.point / steady.point)),
    ];
    let known = figures.into_iter().filter_map(|(aspect, value)| Some((aspect, value?)));
    Explained { target: row.target, known: known.collect() }
}

/// The meter covers a little more than the clock, and the process has other threads: processor
/// time may exceed the time, which leaves nothing.
fn off_cpu(record: &Record, row: &Figures, (user, kernel): (f64, f64)) -> Option<f64> {
    let workload = record.header.plan.workloads.get(row.case.workload)?;
    let rest = row.us_per_op?.point - user - kernel;
    (workload.workers() == 1).then_some(rest.max(0.0))
}

fn switches(sample: &Sample) -> Option<u64> {
    let cost = &sample.cost;
    Some(cost.voluntary_switches?.saturating_add(cost.involuntary_switches?))
}

/// Mean of all rounds.
fn cached(samples: &[&Sample], when: fn(&Sample) -> Option<Residency>) -> Option<f64> {
    let shares: Vec<f64> = samples.iter().filter_map(|s| when(s)?.resident_share()).collect();
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64 * 100.0)
}

/// A figure of the baseline and of a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    pub aspect: Aspect,
    pub baseline: f64,
    pub target: f64,
}

/// Figures that coincide with a part of the time differ by at least this share of the larger.
const CLEAR: f64 = 0.1;

/// And by at least this much per operation, or per byte: less explains no microseconds.
const LEAST: f64 = 0.05;

impl Difference {
    fn of(aspect: Aspect, baseline: &Explained, target: &Explained) -> Option<Self> {
        Some(Self { aspect, baseline: baseline.get(aspect)?, target: target.get(aspect)? })
    }

    /// The target's less the baseline's.
    pub fn change(&self) -> f64 {
        self.target - self.baseline
    }

    fn is_clear(&self) -> bool {
        let change = self.change().abs();
        change >= LEAST && change / self.baseline.max(self.target) >= CLEAR
    }
}

/// They add up to the time of a worker.
const PARTS: [Aspect; 3] = [Aspect::User, Aspect::Kernel, Aspect::OffCpu];

/// What takes a part of the time, what says most first: a worker that waits for bytes from a device
/// switches as well.
fn related(part: Aspect) -> &'static [Aspect] {
    match part {
        Aspect::Kernel => &[Aspect::Calls, Aspect::MinorFaults],
        Aspect::OffCpu => {
            &[Aspect::DeviceRead, Aspect::DeviceWritten, Aspect::MajorFaults, Aspect::Switches]
        }
        _ => &[],
    }
}

/// What coincides with a verdict, two at most: of user mode, kernel mode and the rest, which
/// add up to the time, the one that differs most in the verdict's direction; then the first
/// figure that is related to it and clearly differs in the same direction. Nothing if
/// there is no difference, or not all three parts are known.
pub fn differences(baseline: &Explained, row: &Figures, target: &Explained) -> Vec<Difference> {
    let direction = match row.verdict {
        Verdict::Faster => -1.0,
        Verdict::Slower => 1.0,
        _ => return vec![],
    };
    let differ = |aspect: &Aspect| {
        let difference = Difference::of(*aspect, baseline, target);
        difference.filter(|differs| differs.change() * direction > 0.0)
    };
    // It is the rest, and known only if the other two are.
    let known = Difference::of(Aspect::OffCpu, baseline, target).is_some();
    let parts = PARTS.iter().filter(|_| known).filter_map(differ);
    let part = parts.max_by(|a, b| a.change().abs().total_cmp(&b.change().abs()));
    let related = part
        .and_then(|part| related(part.aspect).iter().filter_map(differ).find(Difference::is_clear));
    part.into_iter().chain(related).collect()
}
