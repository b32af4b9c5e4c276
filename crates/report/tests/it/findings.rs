//! Doubts, stored and computed.

use checks::{MergedFinding, all_findings, figures};
use model::{
    Cache, Finding, FindingKind, Latency, OverTime, Residency, Sample, Severity, Slice,
    record::{End, Ended, Record},
};

use crate::fixture::{OPERATIONS, doubtful, histogram, passes, record, sample, typical};

fn doubts(record: &Record) -> Vec<MergedFinding> {
    all_findings(std::slice::from_ref(record), &[figures(record)])
}

/// The contradiction that a change to one sample of a sound record makes.
fn contradiction(change: impl Fn(&mut Sample)) -> String {
    let mut record = typical();
    change(&mut record.samples[4]);
    let findings = doubts(&record);
    let FindingKind::Arithmetic { what } = &findings[0].kind else { panic!("{findings:?}") };
    assert!(findings[0].targets.iter().eq(["sqlite api=blob"]));
    assert!(findings[0].rounds.iter().eq([&1]));
    what.clone()
}

#[test]
fn a_sound_record_leaves_no_doubt() {
    assert_eq!(doubts(&typical()), []);
}

#[test]
fn the_worst_come_first_and_the_same_are_one() {
    let findings = doubts(&doubtful());
    assert_eq!(findings.len(), 9);
    assert_eq!(findings[0].kind, FindingKind::DebugBuild);
    assert!(findings.iter().map(|r| r.kind.severity()).rev().is_sorted());
    let background = findings.iter().find(|r| !r.rounds.is_empty()).unwrap();
    assert_eq!((background.targets.len(), background.rounds.len()), (1, 2));
}

#[test]
fn wide_intervals_are_one_doubt_once_the_run_ended() {
    let mut record = record(&["files", "sqlite", "pack"]);
    for round in 0..8 {
        record.samples.push(sample(round, 0, 1_000));
        record.samples.push(sample(round, 1, [950, 1100][round as usize % 2]));
        record.samples.push(sample(round, 2, [800, 1600][round as usize % 2]));
    }
    assert_eq!(doubts(&record), []);
    record.end = Some(End { reason: Ended::Time, seconds: 60.0, requests: None });
    let findings = doubts(&record);
    assert_eq!(findings.len(), 1);
    assert!(findings[0].targets.iter().eq(["pack", "sqlite"]));
    let FindingKind::TooNoisy { half_width, precision } = findings[0].kind else { panic!() };
    assert!(half_width > 0.3 && (precision - 0.03).abs() < 1e-12, "the widest: {half_width}");
}

#[test]
fn a_target_alone_is_judged_by_its_time() {
    let mut record = record(&["files"]);
    record.end = Some(End { reason: Ended::Time, seconds: 60.0, requests: None });
    record.samples = (0..8).map(|r| sample(r, 0, [800, 1600][r as usize % 2])).collect();
    assert!(matches!(doubts(&record)[0].kind, FindingKind::TooNoisy { .. }));
}

#[test]
fn few_rounds_carry_no_verdict() {
    let mut record = typical();
    record.samples.retain(|s| s.round < 4);
    let few =
        doubts(&record).into_iter().find(|r| matches!(r.kind, FindingKind::TooFewRounds { .. }));
    assert_eq!(few.unwrap().kind, FindingKind::TooFewRounds { rounds: 4, ran: 4, min: 5 });
    record.samples.retain(|s| s.round < 1);
    assert_eq!(doubts(&record).len(), 1, "one round has no width to doubt");
}

#[test]
fn rounds_that_do_not_count_are_reported() {
    let found = |rounds: u32, missed: u32| {
        let mut record = record(&["files", "sqlite"]);
        let two = |round| [sample(round, 0, 1_000), sample(round, 1, 800)];
        record.samples = (0..rounds).flat_map(two).collect();
        // Of the baseline in every other round: the ratio of such a round is gone all the same.
        for sample in record.samples.iter_mut().filter(|s| s.round < missed) {
            let cold = Residency { pages: 100, ..Residency::default() };
            sample.before = Some(cold).filter(|_| sample.target == sample.round as usize % 2);
        }
        let doubts = doubts(&record).into_iter().map(|doubt| doubt.kind);
        doubts.filter(|kind| kind.severity() == Severity::Warning).collect::<Vec<_>>()
    };
    assert_eq!(found(20, 0), []);
    assert_eq!(found(20, 5), []);
    assert_eq!(found(20, 6), [FindingKind::RoundsLeftOut { rounds: 14, ran: 20 }]);
    assert_eq!(found(20, 16), [FindingKind::TooFewRounds { rounds: 4, ran: 20, min: 5 }]);
    assert_eq!(found(4, 0), [FindingKind::TooFewRounds { rounds: 4, ran: 4, min: 5 }]);
}

#[test]
fn contradictions_are_found() {
    let order = "median, percentiles and maximum do not ascend";
    assert_eq!(contradiction(|s| passes(s).latency.p50_ns *= 2), order);
    assert_eq!(contradiction(|s| passes(s).latency.max_ns /= 2), order);
    let percentiles = "the percentiles are not those of the histogram";
    assert_eq!(contradiction(|s| passes(s).latency.p50_ns /= 2), percentiles);
    assert_eq!(contradiction(|s| passes(s).latency.max_ns *= 2), percentiles);
    let twice_the_mean = |s: &mut Sample| {
        let latency = &mut passes(s).latency;
        let Latency { p50_ns, p99_ns, p999_ns, max_ns, .. } = latency;
        for ns in [p50_ns, p99_ns, p999_ns, max_ns] {
            *ns *= 2;
        }
    };
    assert_eq!(contradiction(twice_the_mean), percentiles);
    assert_eq!(
        contradiction(|s| passes(s).latency.wall_ns /= 2),
        "the latencies add up to more than their pass took"
    );
    assert_eq!(
        contradiction(|s| s.settle_ns = s.wall_ns + 1),
        "a part of a pass took longer than the pass"
    );
    let slice = Slice { operations: OPERATIONS + 1, ..Slice::default() };
    assert_eq!(
        contradiction(|s| {
            passes(s).over_time = Some(OverTime { slices: vec![slice], ..OverTime::default() });
        }),
        "more operations ended in the slices of a pass than were timed"
    );
    assert_eq!(
        contradiction(|s| passes(s).latency.histogram.clear()),
        "the histogram of the latencies cannot be read"
    );
    assert_eq!(
        contradiction(|s| passes(s).latency.histogram = histogram(3_000, 999)),
        "the histogram counts other operations than the pass"
    );
    assert_eq!(
        contradiction(|s| passes(s).latency.histogram = histogram(30_000, 1000)),
        "the mean of the histogram is above that of the latencies"
    );
    assert_eq!(
        contradiction(|s| passes(s).latency.timed += 1),
        "more operations were timed than there were"
    );
}

#[test]
fn a_sample_of_the_operations_has_a_mean_of_its_own() {
    let mut record = typical();
    for sample in &mut record.samples {
        let latency = &mut passes(sample).latency;
        (latency.timed, latency.sum_ns) = (latency.operations / 10, latency.sum_ns / 10 * 9);
    }
    assert_eq!(doubts(&record), []);
}

#[test]
fn waits_between_operations_are_no_contradiction() {
    let mut record = typical();
    for sample in &mut record.samples {
        let latency = &mut passes(sample).latency;
        (latency.sum_ns, latency.wall_ns) = (latency.sum_ns * 5 / 4, latency.wall_ns * 5 / 4);
    }
    assert_eq!(doubts(&record), []);
}

#[test]
fn workers_wait_side_by_side() {
    let mut record = typical();
    record.header.plan.workloads[0].threads = 4;
    record.samples.iter_mut().for_each(|s| passes(s).latency.wall_ns /= 4);
    assert_eq!(doubts(&record), []);
}

#[test]
fn a_sample_of_nothing_planned_is_a_contradiction() {
    let mut record = typical();
    record.samples[0].target = 3;
    assert!(matches!(doubts(&record)[0].kind, FindingKind::Arithmetic { .. }));
}

#[test]
fn what_is_stored_and_computed_alike_is_one() {
    let mut record = typical();
    record.samples.retain(|s| s.round < 1);
    let doubt = FindingKind::TooFewRounds { rounds: 1, ran: 1, min: 5 };
    record.findings.push(Finding::run(doubt.clone()));
    assert_eq!(doubts(&record).len(), 1);
    assert_eq!(doubts(&record)[0].kind, doubt);
    assert!(doubts(&record)[0].targets.is_empty(), "the whole run outweighs a target");
}

/// A record of one target whose rounds took these times.
fn over_rounds(times: &[u64]) -> Record {
    let mut record = record(&["files"]);
    record.samples = (0..).zip(times).map(|(round, ns)| sample(round, 0, *ns)).collect();
    record
}

#[test]
fn times_that_rise_or_fall_are_a_drift() {
    let rising: Vec<u64> = (0..9).map(|round| 1_000 + 25 * round).collect();
    let findings = doubts(&over_rounds(&rising));
    let FindingKind::Drift { change } = findings[0].kind else { panic!("{findings:?}") };
    assert!((change - 0.2).abs() < 0.01, "{change}");
    assert!(findings[0].targets.iter().eq(["files"]) && findings[0].workloads.contains(&0));
    assert_eq!(doubts(&over_rounds(&rising[..7])), [], "too few to tell");
    let barely: Vec<u64> = (0..9).map(|round| 1_000 + 5 * round).collect();
    assert_eq!(doubts(&over_rounds(&barely)), [], "too little to matter");
}

#[test]
fn the_order_of_rounds_counts_not_that_of_lines() {
    let rising: Vec<u64> = (0..9).map(|round| 1_000 + 25 * round).collect();
    let mut record = over_rounds(&rising);
    record.samples.rotate_left(4);
    assert!(matches!(doubts(&record)[0].kind, FindingKind::Drift { .. }));
}

#[test]
fn times_in_two_groups_are_two_modes() {
    let findings = doubts(&over_rounds(&[1_000, 1_501, 1_001, 1_500].repeat(3)));
    assert_eq!(findings.len(), 1);
    let FindingKind::TwoModes { ratio } = findings[0].kind else { panic!("{findings:?}") };
    assert!((ratio - 1.5).abs() < 0.001, "{ratio}");
    assert_eq!(doubts(&over_rounds(&[1_000, 1_001].repeat(6))), [], "steps of the clock");
}

#[test]
fn another_target_or_case_has_rounds_of_its_own() {
    let mut record = record(&["files", "sqlite"]);
    record.samples = (0..12).map(|i| sample(i / 2, i as usize % 2, 1_000)).collect();
    record.samples.iter_mut().filter(|s| s.target == 1).for_each(|s| s.wall_ns *= 2);
    assert_eq!(doubts(&record), []);
}

/// The doubts that are left of `found`, one to a trial.
fn merged(found: &[FindingKind]) -> Vec<FindingKind> {
    let mut record = typical();
    let findings = found.iter().cloned().zip(0..);
    let finding = |(doubt, round)| Finding::target(doubt, "pack").in_round(round);
    record.findings = findings.map(finding).collect();
    doubts(&record).into_iter().map(|finding| finding.kind).collect()
}

#[test]
fn of_a_doubt_in_many_trials_the_worst_stands() {
    let worst = |one: FindingKind, worst: FindingKind| {
        assert_eq!(merged(&[one.clone(), worst.clone(), one]), [worst]);
    };
    worst(FindingKind::Swapped { bytes: 1 }, FindingKind::Swapped { bytes: 8192 });
    worst(FindingKind::Drift { change: -0.1 }, FindingKind::Drift { change: -0.2 });
    worst(FindingKind::TwoModes { ratio: 1.1 }, FindingKind::TwoModes { ratio: 1.4 });
    worst(FindingKind::Throttled { times: 1 }, FindingKind::Throttled { times: 3 });
    worst(FindingKind::StateLost { resident: 0.9 }, FindingKind::StateLost { resident: 0.4 });
    worst(
        FindingKind::ClockCoarse { p50_ns: 300, clock_ns: 70 },
        FindingKind::ClockCoarse { p50_ns: 100, clock_ns: 70 },
    );
    let reached = |cache, resident| FindingKind::StateNotReached { cache, resident, names: None };
    worst(reached(Cache::Warm, 0.9), reached(Cache::Warm, 0.5));
    worst(reached(Cache::Cold, 0.1), reached(Cache::Cold, 0.3));
}

#[test]
fn other_load_and_waiting_for_it_are_one_trouble() {
    let waited =
        |resource: &str| FindingKind::Pressure { resource: resource.to_owned(), share: 0.2 };
    let load = FindingKind::OtherLoad { cpus: 1.0 };
    let found = [waited("cpu"), load.clone(), waited("io"), waited("memory")];
    assert_eq!(merged(&found), [load, waited("memory")]);
}

#[test]
fn doubts_about_different_things_stay_apart() {
    let waited =
        |resource: &str, share| FindingKind::Pressure { resource: resource.to_owned(), share };
    let apart = [waited("cpu", 0.2), waited("io", 0.5)];
    assert_eq!(merged(&[apart[0].clone(), waited("io", 0.3), apart[1].clone()]), apart);
    let reached = |cache, resident| FindingKind::StateNotReached { cache, resident, names: None };
    let apart = [FindingKind::Drift { change: 0.2 }, FindingKind::Drift { change: -0.3 }];
    assert_eq!(merged(&apart), apart);
    let apart = [reached(Cache::DataCold, 0.2), reached(Cache::Cold, 0.3)];
    assert_eq!(merged(&apart), apart);
}
