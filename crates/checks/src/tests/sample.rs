//! Findings about a single sample.

use model::{
    Cache, Finding, FindingKind, HostClock, HostPart, Io, Load, Operation, Sample, Workload,
    record::{Header, Record},
};

use super::{kinds, sample, sound, workload};
use crate::{LONGEST_NS, of_sample};

fn found(header: &Header, sample: &Sample) -> Vec<Finding> {
    of_sample(header, sample, None)
}

/// Findings about the one sample of a changed record.
fn single(change: impl FnOnce(&mut Header, &mut Sample)) -> Vec<FindingKind> {
    let Record { mut header, .. } = sound(&[Cache::Warm]);
    let mut sample = sample();
    change(&mut header, &mut sample);
    kinds(found(&header, &sample))
}

fn pressure(resource: &str, share: f64) -> Vec<FindingKind> {
    vec![FindingKind::Pressure { resource: resource.to_owned(), share }]
}

#[test]
fn a_sound_record_raises_nothing() {
    assert_eq!(single(|_, _| ()), []);
}

#[test]
fn a_finding_names_target_workload_state_and_round() {
    let Record { header, .. } = sound(&[Cache::Warm]);
    let mut sample = sample();
    sample.load.throttled = Some(2);
    let throttled = Finding::target(FindingKind::Throttled { times: 2 }, "other");
    assert_eq!(
        found(&header, &sample),
        [throttled.in_workload(0).in_cache(Cache::Warm).in_round(3)]
    );
}

#[test]
fn swapping_and_throttling_need_no_bound() {
    let swapped = |bytes| single(|_, s| s.load.swapped_bytes = Some(bytes));
    assert_eq!(swapped(0), []);
    assert_eq!(swapped(4096), [FindingKind::Swapped { bytes: 4096 }]);
    assert_eq!(single(|_, s| s.load.throttled = Some(0)), []);
    assert_eq!(single(|_, s| s.load.throttled = Some(1)), [FindingKind::Throttled { times: 1 }]);
}

#[test]
fn waiting_for_a_processor_shows_others_if_workers_leave_one_free() {
    let waiting = |share, threads| {
        single(|header, s| {
            header.plan.workloads[0].threads = threads;
            s.load.cpu_pressure = Some(share);
        })
    };
    assert_eq!(waiting(0.051, 1), pressure("cpu", 0.051));
    assert_eq!(waiting(0.049, 1), []);
    assert_eq!(waiting(0.9, 2), [], "two workers on two processors wait for each other");
    let both = single(|_, s| {
        s.wall_ns = 200_000_000;
        s.load = Load { other_cpus: Some(0.5), cpu_pressure: Some(0.5), ..Load::default() };
    });
    assert_eq!(both, [FindingKind::OtherLoad { cpus: 0.5 }], "once is enough");
}

#[test]
fn waiting_for_a_device_shows_others_in_warm_reads_only() {
    let waiting = |share, operation, cache, device_read_bytes| {
        single(|header, s| {
            header.plan.workloads = vec![workload(operation)];
            s.cache = cache;
            s.io = Some(Io { device_read_bytes: Some(device_read_bytes), ..Io::default() });
            s.load.io_pressure = Some(share);
        })
    };
    assert_eq!(waiting(0.11, Operation::Read, Cache::Warm, 0), pressure("io", 0.11));
    assert_eq!(waiting(0.09, Operation::Read, Cache::Warm, 0), []);
    assert_eq!(waiting(0.9, Operation::Read, Cache::Warm, 4096), []);
    assert_eq!(waiting(0.9, Operation::Read, Cache::DataCold, 0), []);
    assert_eq!(waiting(0.9, Operation::Update, Cache::Warm, 0), []);
}

#[test]
fn waiting_for_memory_is_always_a_finding() {
    for cache in Cache::CHOICES {
        let waiting = |share| {
            single(|header, s| {
                header.plan.workloads[0] = Workload { threads: 8, ..workload(Operation::Update) };
                s.cache = cache;
                s.load.memory_pressure = Some(share);
            })
        };
        assert_eq!(waiting(0.011), pressure("memory", 0.011));
        assert_eq!(waiting(0.009), []);
    }
}

#[test]
fn a_latency_beyond_the_histogram_is_a_finding() {
    let longest = |max_ns| single(|_, s| s.passes_mut().unwrap().latency.max_ns = max_ns);
    assert_eq!(longest(LONGEST_NS - 1), []);
    assert_eq!(longest(LONGEST_NS), [FindingKind::LatencySaturated { longest_ns: LONGEST_NS }]);
}

#[test]
fn others_may_do_a_little() {
    let other = |wall_ns, cpus| {
        single(|_, s| {
            s.wall_ns = wall_ns;
            s.load.other_cpus = Some(cpus);
        })
    };
    assert_eq!(other(200_000_000, 0.09), []);
    assert_eq!(other(200_000_000, 0.11), [FindingKind::OtherLoad { cpus: 0.11 }]);
    assert_eq!(other(199_999_999, 0.11), [], "a tick more or less");
    let steal = |share| single(|_, s| s.load.steal = Some(share));
    assert_eq!(steal(0.009), []);
    assert_eq!(steal(0.011), [FindingKind::Steal { share: 0.011 }]);
}

/// Findings about a pass of a second with a client on a host with such a clock.
fn on_host(uncertainty_ns: u64, time_of_day_ns: i64, common_ns: u64) -> Vec<FindingKind> {
    single(|_, sample| {
        let clock = HostClock { offset_ns: 7_000_000_000, uncertainty_ns, time_of_day_ns };
        sample.wall_ns = 50_000_000;
        sample.common_ns = Some(common_ns);
        sample.hosts = vec![HostPart { host: "b".to_owned(), clock, histogram: String::new() }];
    })
}

#[test]
fn a_clock_that_is_not_known_well_is_found() {
    assert_eq!(on_host(400_000, 0, 1), []);
    let host = || "b".to_owned();
    // More than 1 % of the pass.
    let found = on_host(600_000, 0, 1);
    assert_eq!(found, [FindingKind::ClockUncertain { host: host(), uncertainty_ns: 600_000 }]);
    let (time_of_day_ns, uncertainty_ns) = (-50_000_000, 100_000);
    let found = on_host(uncertainty_ns, time_of_day_ns, 1);
    assert_eq!(found, [FindingKind::ClockOff { host: host(), time_of_day_ns, uncertainty_ns }]);
    assert!(found[0].to_string().contains("on host b is 50.0 ms behind this machine's"));
}

#[test]
fn clients_that_never_worked_at_once_are_found() {
    assert_eq!(on_host(400_000, 0, 0), [FindingKind::NoCommonTime]);
}
