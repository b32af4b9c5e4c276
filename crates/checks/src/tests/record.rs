//! Findings that only all samples together show.

use model::{
    Cache, Durability, Finding, FindingKind, Io, MemoryLimit,
    record::{End, Ended, Record},
};

use super::{KEYS, data, fixture, kinds, sample, sound};
use crate::of_record;

/// Findings about a changed record.
fn late(change: impl FnOnce(&mut Record)) -> Vec<FindingKind> {
    let mut record = sound(&[Cache::Warm]);
    change(&mut record);
    let mut kinds = kinds(of_record(&record));
    // The fixture knows of no load, and changed medians contradict its histogram.
    kinds.retain(|kind| !matches!(kind, FindingKind::LoadUnknown | FindingKind::Arithmetic { .. }));
    kinds
}

#[test]
fn a_sound_record_raises_nothing() {
    assert_eq!(late(|_| ()), []);
}

#[test]
fn a_planned_target_without_a_trial_is_a_finding_unless_another_says_why() {
    let ended = |reason| Some(End { reason, seconds: 1.0, requests: None });
    let lacks = |reason, change: &dyn Fn(&mut Record)| {
        late(|r| {
            r.end = ended(reason);
            change(r);
        })
    };
    let why = |kinds: Vec<FindingKind>| match &kinds[..] {
        [FindingKind::NotUsable { why }] => why.clone(),
        other => panic!("{other:?}"),
    };
    // The sample is of the second target alone.
    assert!(why(lacks(Ended::Time, &|_| ())).contains("use more --time"));
    assert!(why(lacks(Ended::Interrupted, &|_| ())).contains("stopped"));
    assert!(why(lacks(Ended::Rounds, &|_| ())).contains("a fault of storemark"));
    assert_eq!(lacks(Ended::Failed("it broke".to_owned()), &|_| ()), []);
    let says = |kind: FindingKind| {
        move |r: &mut Record| {
            let label = &r.header.plan.targets[0].label;
            r.findings = vec![Finding::target(kind.clone(), label)];
        }
    };
    let failed = FindingKind::TrialFailed { why: "gone".to_owned() };
    assert_eq!(lacks(Ended::Time, &says(failed)), []);
    assert_eq!(lacks(Ended::Time, &says(FindingKind::AlwaysWarm)).len(), 1, "it has warm reads");
    let cold = |r: &mut Record| {
        r.header.plan.caches = vec![Cache::DataCold];
        r.samples[0].cache = Cache::DataCold;
        says(FindingKind::AlwaysWarm)(r);
    };
    assert!(
        !lacks(Ended::Time, &cold).iter().any(|kind| matches!(kind, FindingKind::NotUsable { .. }))
    );
}

#[test]
fn a_system_that_does_not_report_waiting_is_a_finding() {
    let on = |os: &str| late(|r| r.header.environment.os = os.to_owned());
    assert_eq!(on("macos"), [FindingKind::WaitingUnknown]);
    assert_eq!(on("linux"), []);
}

#[test]
fn what_the_tool_itself_takes_is_a_finding() {
    // 4 µs an operation were measured.
    let own = |loop_ns| late(|r| r.header.environment.loop_ns = loop_ns);
    assert_eq!(own(199.0), []);
    assert_eq!(own(400.0), [FindingKind::ToolShare { share: 0.1 }]);
}

#[test]
fn work_left_to_the_background_is_a_finding_unless_the_class_is_durable() {
    let left = |background_ns, class| {
        late(|r| {
            r.samples[0].background_ns = background_ns;
            r.stores[1].durability = class;
        })
    };
    assert_eq!(left(2_000_000, Durability::None), []);
    assert_eq!(left(10_000_000, Durability::None), [FindingKind::LeftToBackground { share: 0.25 }]);
    assert_eq!(left(10_000_000, Durability::Durable), []);
}

#[test]
fn a_clock_that_is_a_good_part_of_the_median_is_coarse() {
    let medians = |medians: [u64; 3]| {
        late(|r| {
            let timed = |p50_ns| {
                let mut sample = sample();
                sample.passes_mut().unwrap().latency.p50_ns = p50_ns;
                sample
            };
            r.samples = medians.map(timed).to_vec();
        })
    };
    let coarse = |p50_ns| [FindingKind::ClockCoarse { p50_ns, clock_ns: 70 }];
    assert_eq!(medians([900, 349, 100]), coarse(349));
    assert_eq!(medians([900, 350, 100]), []);
}

/// By themselves these passes of 40 ms show nothing: a tick is a quarter of a processor.
#[test]
fn other_load_shows_in_many_short_passes_together() {
    let passes = |count: u32, cpus: f64| {
        late(|r| {
            let pass = |round: u32| {
                let mut sample = fixture::sample(round, 1, KEYS, 4_000);
                // As ticks have it: nothing in one pass, twice as much in the next.
                sample.load.other_cpus = Some(cpus * f64::from(round % 2) * 2.0);
                sample
            };
            r.samples = (0..count).map(pass).collect();
        })
    };
    let is_other = |kind: &FindingKind| matches!(kind, FindingKind::OtherLoad { .. });
    assert!(!passes(100, 0.15).iter().any(is_other), "ticks alone may be 0.18");
    assert!(passes(100, 0.5).contains(&FindingKind::OtherLoad { cpus: 0.5 }));
    assert!(!passes(2, 0.5).iter().any(is_other));
}

#[test]
fn what_is_read_ahead_and_does_not_fit_into_the_memory_given_is_a_finding() {
    const MIB: u64 = 1 << 20;
    let ahead = |memory, readahead_bytes, times| {
        late(|r| {
            r.header.plan.memory = memory;
            r.header.environment.filesystems[0].readahead_bytes = readahead_bytes;
            let bytes = r.samples[0].bytes;
            r.samples[0].io = Some(Io { device_read_bytes: Some(times * bytes), ..Io::default() });
            r.header.plan.caches = vec![Cache::Limited];
            r.samples[0].cache = Cache::Limited;
        })
    };
    let limited = |limit| Some(MemoryLimit { limit_bytes: limit, ..MemoryLimit::default() });
    let (given, readahead) = (limited(Some(64 * MIB)), Some(8 * MIB));
    let (fetched, memory) = (11.0, 64 * MIB);
    let kind = FindingKind::ReadaheadEvicts { fetched, readahead: 8 * MIB, memory };
    assert_eq!(ahead(given, readahead, 11), [kind]);
    assert_eq!(ahead(given, readahead, 10), []);
    assert_eq!(ahead(given, None, 11), []);
    assert_eq!(ahead(given, Some(64 << 10), 11), [], "no more than some values");
    assert_eq!(ahead(limited(None), readahead, 11), []);
    assert_eq!(ahead(None, readahead, 11), []);
}

/// One large value of 5,000: the second target is faster on it and slower on all others.
#[test]
fn a_ratio_that_few_values_decide_is_shown_by_operations_too() {
    let found = |half_in, medians: [u64; 2]| {
        late(|r| {
            data(r, |summary, _| summary.half_in = Some(half_in));
            let pass = |(round, target): (u32, usize)| {
                let mut sample = fixture::sample(round, target, KEYS, [20_000, 4_000][target]);
                // No two rounds are the same.
                sample.wall_ns += 1_000 * u64::from(round);
                sample.passes_mut().unwrap().latency.p50_ns = medians[target] + u64::from(round);
                sample
            };
            r.samples = (0..8).flat_map(|round| [(round, 0), (round, 1)]).map(pass).collect();
        })
    };
    let [FindingKind::RatioDependsOnSize { by_operations, by_bytes }] =
        found(1, [2_000, 2_500])[..]
    else {
        panic!("{:?}", found(1, [2_000, 2_500]))
    };
    assert!((by_operations.ratio - 1.25).abs() < 0.001, "{by_operations}");
    assert!((by_bytes.ratio - 0.2).abs() < 0.001, "{by_bytes}");
    assert!(by_bytes.low < by_bytes.ratio && by_bytes.ratio < by_bytes.high);
    assert_eq!(found(1, [2_500, 500]), [], "both say the same");
    assert_eq!(found(KEYS / 2, [2_000, 2_500]), [], "no value weighs that much");
}

/// In rounds with long slices the second target takes `percent` of its time in the others.
fn in_slices(rounds: u32, percent: u64) -> Vec<FindingKind> {
    late(|r| {
        let pass = |(round, target): (u32, usize)| {
            let slice = [200, 100, 400][round as usize % 3];
            let changed = if target == 1 && slice == 400 { percent } else { 100 };
            // No two rounds are the same.
            let ns = (4_000 + 8 * u64::from(round % 5)) * changed / 100;
            let mut sample = fixture::sample(round, target, KEYS, ns);
            sample.passes_mut().unwrap().slice = Some(slice);
            sample
        };
        r.samples = (0..rounds).flat_map(|round| [(round, 0), (round, 1)]).map(pass).collect();
    })
}

#[test]
fn a_ratio_that_depends_on_the_length_of_slices_is_a_finding() {
    let matters = |kinds: &[FindingKind]| {
        kinds.iter().any(|kind| matches!(kind, FindingKind::RatioDependsOnSlices { .. }))
    };
    let found = in_slices(15, 110);
    let told = found.iter().find_map(|kind| match kind {
        FindingKind::RatioDependsOnSlices { short, in_short, long, in_long } => {
            Some((*short, in_short.ratio, *long, in_long.ratio))
        }
        _ => None,
    });
    let (short, in_short, long, in_long) = told.expect("a tenth matters");
    assert_eq!((short, long), (100, 400));
    assert!((in_long / in_short - 1.1).abs() < 0.001, "{in_short} {in_long}");
    assert!(matters(&in_slices(15, 91)), "either way");
    assert!(!matters(&in_slices(15, 102)), "that passes for the same");
    assert!(!matters(&in_slices(12, 110)), "four rounds of each are too few");
}

#[test]
fn a_frequency_may_vary_a_little() {
    let frequencies = |mhz: &[Option<f64>]| {
        late(|r| {
            let at = |mhz: &Option<f64>| {
                let mut sample = sample();
                sample.load.mhz = *mhz;
                sample
            };
            r.samples = mhz.iter().map(at).collect();
        })
    };
    let varies = [FindingKind::FrequencyVaries { low_mhz: 2840.0, high_mhz: 3000.0 }];
    assert_eq!(frequencies(&[Some(3000.0), None, Some(2840.0), Some(2900.0)]), varies);
    assert_eq!(frequencies(&[Some(3000.0), Some(2860.0)]), []);
    assert_eq!(frequencies(&[None, None]), []);
}
