//! The findings about a single trial.

mod cache_state;

use model::{
    Cache, Finding, FindingKind, HostClock, HostPart, Operation, Plan, Sample, record::Header,
};

/// The longest latency that a histogram holds: an hour.
pub const LONGEST_NS: u64 = 3_600_000_000_000;

/// The largest load of other programs that is not reported, in processors.
pub(crate) const OTHER_CPUS: f64 = 0.1;
/// The shortest pass whose own figure for other work is reported: the system counts each kind of
/// work in ticks of 10 ms, so a difference is off by up to a tick a kind, ±0.1 processors here.
const TICKS_NS: u64 = 200_000_000;
/// The largest share of stolen time that is not reported.
const STEAL: f64 = 0.01;
/// The largest share of a trial in which tasks may wait for a processor: short waits are normal, as
/// two tasks wake on one processor while another idles.
const CPU_PRESSURE: f64 = 0.05;
/// The largest share in which tasks may wait for input or output. Others' waiting slows a trial
/// that asks no device for anything only by what comes with it (interrupts, copies), so it may be
/// longer.
const IO_PRESSURE: f64 = 0.1;
/// The largest share in which tasks may wait for memory. Without a shortage no task waits for it at
/// all.
const MEMORY_PRESSURE: f64 = 0.01;

/// Returns the findings about a trial; `written_before` is the share of the first values to be
/// written that the store already held.
pub fn of_sample(header: &Header, sample: &Sample, written_before: Option<f64>) -> Vec<Finding> {
    let plan = &header.plan;
    let mut kinds = cache_state::findings(sample, plan);
    kinds.extend(above(written_before, 0.0).map(|share| FindingKind::SameBytes { share }));
    let filled = sample.passes().and_then(|passes| passes.cache_filled);
    kinds.extend(filled.map(|filled| FindingKind::CacheNotFilled { filled }));
    kinds.extend(beyond_histogram(sample));
    kinds.extend(saturated(sample));
    kinds.extend(load(sample));
    kinds.extend(pressure(header, sample));
    kinds.extend(hosts(sample));
    kinds.into_iter().map(|kind| in_trial(kind, plan, sample)).collect()
}

pub(crate) fn in_trial(kind: FindingKind, plan: &Plan, sample: &Sample) -> Finding {
    let finding = Finding::target(kind, &plan.targets[sample.target].label);
    finding.in_workload(sample.workload).in_cache(sample.cache).in_round(sample.round)
}

fn beyond_histogram(sample: &Sample) -> Option<FindingKind> {
    let beyond = sample.latency().is_some_and(|latency| latency.max_ns >= LONGEST_NS);
    beyond.then_some(FindingKind::LatencySaturated { longest_ns: LONGEST_NS })
}

fn saturated(sample: &Sample) -> Option<FindingKind> {
    let paced = sample.paced().filter(|paced| paced.is_saturated())?;
    Some(FindingKind::Saturated { asked: paced.asked, reached: paced.reached })
}

/// The largest uncertainty of a well-known clock, and the largest accepted error of the time of
/// day.
const CLOCK_NS: u64 = 1_000_000;
/// The largest uncertainty of a well-known clock, as a part of a pass.
const CLOCK_PART: u64 = 100;

/// Finds hosts whose clocks are uncertain or off, and whether the clients of several hosts never
/// worked at the same time.
fn hosts(sample: &Sample) -> impl Iterator<Item = FindingKind> {
    let known_ns = CLOCK_NS.min(sample.wall_ns / CLOCK_PART);
    let clocks = sample.hosts.iter().flat_map(move |part| {
        let HostPart { host, clock, .. } = part;
        let HostClock { uncertainty_ns, time_of_day_ns, .. } = *clock;
        let uncertain = (uncertainty_ns > known_ns)
            .then(|| FindingKind::ClockUncertain { host: host.clone(), uncertainty_ns });
        let is_off = time_of_day_ns.unsigned_abs() > uncertainty_ns.saturating_add(CLOCK_NS);
        let off = is_off.then(|| FindingKind::ClockOff {
            host: host.clone(),
            time_of_day_ns,
            uncertainty_ns,
        });
        [uncertain, off].into_iter().flatten()
    });
    clocks.chain((sample.common_ns == Some(0)).then_some(FindingKind::NoCommonTime))
}

/// Finds what other programs used, and what the machine did to itself.
fn load(sample: &Sample) -> impl Iterator<Item = FindingKind> {
    let Sample { load, .. } = sample;
    let some = |count: Option<u64>| count.filter(|count| *count > 0);
    let other = other_load(sample).map(|cpus| FindingKind::OtherLoad { cpus });
    let steal = above(load.steal, STEAL).map(|share| FindingKind::Steal { share });
    let swapped = some(load.swapped_bytes).map(|bytes| FindingKind::Swapped { bytes });
    let throttled = some(load.throttled).map(|times| FindingKind::Throttled { times });
    [other, steal, swapped, throttled].into_iter().flatten()
}

/// Returns what other programs used, if it is much and the pass is long enough to measure it.
fn other_load(sample: &Sample) -> Option<f64> {
    above(sample.load.other_cpus, OTHER_CPUS).filter(|_| !is_short(sample))
}

/// Reports whether the pass is so short that its own figure for other work proves nothing.
pub(crate) fn is_short(sample: &Sample) -> bool {
    sample.wall_ns < TICKS_NS
}

/// Finds waiting that shows other work. The kernel counts the waiting of all tasks, including this
/// process's, so a resource is judged only if the trial itself cannot be what waited:
///
/// - for a processor, if there are more of them than workers: as many or more wait for each other.
///   What `other_cpus` shows is not reported twice.
/// - for input or output, in a warm read trial that fetched nothing from a device. Any other waits
///   for the device because that is what is measured.
/// - for memory, unless it is limited: no other trial should make the system look for free pages,
///   and one whose own data does so measures that instead of the store.
fn pressure(header: &Header, sample: &Sample) -> impl Iterator<Item = FindingKind> {
    let Sample { load, .. } = sample;
    let workers = header.plan.workloads[sample.workload].workers();
    let others_seen = other_load(sample).is_some();
    let cpu = workers < header.environment.cpu.count && !others_seen;
    let io = is_warm_read(&header.plan, sample);
    let memory = !header.plan.is_limited();
    let pressures = [
        ("cpu", cpu, above(load.cpu_pressure, CPU_PRESSURE)),
        ("io", io, above(load.io_pressure, IO_PRESSURE)),
        ("memory", memory, above(load.memory_pressure, MEMORY_PRESSURE)),
    ];
    pressures.into_iter().filter_map(|(resource, judged, share)| {
        let share = share.filter(|_| judged)?;
        Some(FindingKind::Pressure { resource: resource.to_owned(), share })
    })
}

fn is_warm_read(plan: &Plan, sample: &Sample) -> bool {
    let reads = plan.workloads[sample.workload].work.operation() == Some(Operation::Read);
    let fetched = sample.io.is_some_and(|io| io.device_read_bytes > Some(0));
    reads && sample.cache == Cache::Warm && !fetched
}

fn above(value: Option<f64>, limit: f64) -> Option<f64> {
    value.filter(|value| *value > limit)
}
