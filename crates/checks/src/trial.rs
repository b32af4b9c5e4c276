//! What can be doubted of one trial.

use model::{Cache, Finding, FindingKind, Operation, Sample, record::Header};

use super::state::state;
use crate::LONGEST_NS;

/// Processors' worth of other work that a trial may bear.
const OTHER_CPUS: f64 = 0.1;
/// Share of stolen time that a trial may bear.
const STEAL: f64 = 0.01;
/// Share of a trial in which tasks may wait for a processor: a short wait is a scheduler's
/// ordinary day, as two tasks wake on one processor while another idles.
const CPU_PRESSURE: f64 = 0.05;
/// For input or output. Others' waiting slows a trial that asks no device for anything only by
/// what comes with it (interrupts, copies), so that it may be longer.
const IO_PRESSURE: f64 = 0.1;
/// For memory. Without a shortage nobody waits for it at all.
const MEMORY_PRESSURE: f64 = 0.01;

/// Doubts that a trial raises by itself; `written_before` is the share of the first values to be
/// written that were there already.
pub fn trial(header: &Header, sample: &Sample, written_before: Option<f64>) -> Vec<Finding> {
    let state = state(sample, &header.plan);
    let doubts = state.into_iter().chain(same_bytes(written_before));
    let doubts = doubts.chain(beyond_hours(sample)).chain(saturated(sample));
    let mut findings: Vec<_> = doubts.map(|doubt| finding(header, sample, doubt)).collect();
    findings.extend(self::sample(header, sample));
    findings
}

/// Doubts that what else went on during a trial raises.
pub fn sample(header: &Header, sample: &Sample) -> Vec<Finding> {
    let doubts = load(sample).chain(pressure(header, sample));
    doubts.map(|doubt| finding(header, sample, doubt)).collect()
}

fn finding(header: &Header, sample: &Sample, doubt: FindingKind) -> Finding {
    Finding::target(doubt, &header.plan.targets[sample.target].label)
        .in_workload(sample.workload)
        .in_cache(sample.cache)
        .in_round(sample.round)
}

fn same_bytes(written_before: Option<f64>) -> Option<FindingKind> {
    written_before.filter(|share| *share > 0.0).map(|share| FindingKind::SameBytes { share })
}

fn saturated(sample: &Sample) -> Option<FindingKind> {
    let paced = sample.paced().filter(|paced| paced.is_saturated())?;
    Some(FindingKind::Saturated { asked: paced.asked, reached: paced.reached })
}

fn beyond_hours(sample: &Sample) -> Option<FindingKind> {
    let beyond = sample.latency().is_some_and(|latency| latency.max_ns >= LONGEST_NS);
    beyond.then_some(FindingKind::LatencySaturated { longest_ns: LONGEST_NS })
}

/// What others did meanwhile, and what the machine did to itself.
fn load(sample: &Sample) -> impl Iterator<Item = FindingKind> {
    let load = &sample.load;
    let some = |count: Option<u64>| count.filter(|count| *count > 0);
    let other = above(load.other_cpus, OTHER_CPUS).map(|cpus| FindingKind::OtherLoad { cpus });
    let steal = above(load.steal, STEAL).map(|share| FindingKind::Steal { share });
    let swapped = some(load.swapped_bytes).map(|bytes| FindingKind::Swapped { bytes });
    let throttled = some(load.throttled).map(|times| FindingKind::Throttled { times });
    [other, steal, swapped, throttled].into_iter().flatten()
}

/// Waiting that tells of others. The kernel counts the waiting of all tasks, this process's own
/// too, so that a resource is judged only where the trial itself cannot be what waited:
///
/// - for a processor, where there are more of them than workers: as many or more wait for each
///   other. Where `other_cpus` says it already, it is not said twice.
/// - for input or output, in a warm read trial that fetched nothing from a device. Any other
///   waits for the device because that is what is measured.
/// - for memory, unless it is limited: no other trial is meant to make the system look for free pages, and one whose
///   own data does so measures that instead of the store.
fn pressure(header: &Header, sample: &Sample) -> impl Iterator<Item = FindingKind> {
    let load = &sample.load;
    let workload = &header.plan.workloads[sample.workload];
    let room = workload.workers() < header.environment.cpu.count;
    let told = above(load.other_cpus, OTHER_CPUS).is_some();
    let fetched = sample.io.is_some_and(|io| io.device_read_bytes > 0);
    let warm = workload.work.operation() == Some(Operation::Read)
        && sample.cache == Cache::Warm
        && !fetched;
    [
        ("cpu", above(load.cpu_pressure, CPU_PRESSURE).filter(|_| room && !told)),
        ("io", above(load.io_pressure, IO_PRESSURE).filter(|_| warm)),
        (
            "memory",
            above(load.memory_pressure, MEMORY_PRESSURE).filter(|_| !header.plan.is_limited()),
        ),
    ]
    .into_iter()
    .filter_map(|(resource, share)| {
        share.map(|share| FindingKind::Pressure { resource: resource.to_owned(), share })
    })
}

fn above(value: Option<f64>, limit: f64) -> Option<f64> {
    value.filter(|value| *value > limit)
}
