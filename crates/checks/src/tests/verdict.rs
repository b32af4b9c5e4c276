//! Verdicts of a case, and which targets need more rounds.

use model::{
    Cache, Durability, Experiment, Measured, Operation, Paced, QueueData,
    record::{End, Ended, Point, Record},
};

use super::fixture::{record, sample};
use crate::{Figures, Gate, Verdict, figures, gated_targets, unsettled, usable_rounds};

const COUNT: u64 = 1_000;
/// Nanoseconds of an operation of the baseline.
const NS: u64 = 4_000;

/// Rounds in which each target takes so many thousandths of the baseline's time, in turn a little
/// more and a little less, by as many thousandths.
fn run(rounds: u32, targets: &[(u64, u64)]) -> Record {
    let labels = ["base", "one", "two", "three"];
    let mut record = record(&labels[..=targets.len()], COUNT);
    for round in 0..rounds {
        record.samples.push(sample(round, 0, COUNT, NS));
        for (target, (ratio, spread)) in (1..).zip(targets) {
            let ratio = if round % 2 == 0 { ratio + spread } else { ratio - spread };
            record.samples.push(sample(round, target, COUNT, NS * ratio / 1_000));
        }
    }
    record
}

fn open(record: &Record) -> Vec<usize> {
    unsettled(record, record.header.plan.cases().next().unwrap())
}

fn verdicts(record: &Record) -> Vec<Verdict> {
    figures(record).iter().map(|row: &Figures| row.verdict).collect()
}

#[test]
fn each_target_has_its_verdict() {
    let record = run(24, &[(700, 10), (1_005, 5), (1_020, 60)]);
    let [base, one, two, three] = verdicts(&record)[..] else { panic!() };
    assert_eq!([base, one], [Verdict::Baseline, Verdict::Faster]);
    assert_eq!([two, three], [Verdict::Same, Verdict::Inconclusive]);
    assert_eq!(open(&record), [3], "the others leave");
}

#[test]
fn only_a_planned_look_ends_the_rounds() {
    for (rounds, expected) in [(0, vec![1, 2]), (5, vec![1, 2]), (6, vec![2]), (7, vec![1, 2])] {
        assert_eq!(open(&run(rounds, &[(700, 10), (1_050, 40)])), expected, "{rounds} rounds");
    }
}

/// When the time is over does not depend on what the rounds show. When somebody stops them may.
#[test]
fn the_end_of_the_time_is_a_look_of_its_own() {
    let mut record = run(16, &[(1_050, 60), (700, 20)]);
    let shown = |record: &Record| {
        figures(record)[1..].iter().map(|row| (row.verdict, row.ratio.unwrap())).collect::<Vec<_>>()
    };
    let running = shown(&record);
    assert_eq!([running[0].0, running[1].0], [Verdict::Inconclusive, Verdict::Faster]);
    let mut ended = |reason| {
        record.end = Some(End { reason, seconds: 1.0, requests: None });
        shown(&record)
    };
    assert_eq!(ended(Ended::Interrupted), running);
    let over = ended(Ended::Time);
    assert_eq!(over[0].0, Verdict::Slower, "{over:?}");
    assert_eq!(over[1], running[1], "what a look before has settled stays");
}

/// Two rounds more of the others change nothing for one that has left.
#[test]
fn who_has_left_keeps_its_verdict() {
    let mut record = run(30, &[(940, 30), (1_020, 60)]);
    record.samples.retain(|sample| sample.target != 1 || sample.round < 16);
    assert_eq!(verdicts(&record)[1], Verdict::Faster);
    assert_eq!(open(&record), [2]);
}

#[test]
fn a_narrow_interval_is_enough_without_a_verdict() {
    // Between two looks, and between the same and different: within ±1.5 % of 1.025.
    let record = run(14, &[(1_025, 17)]);
    assert_eq!(
        (open(&record), figures(&record)[1].ratio.unwrap().half_width() < 0.015),
        (vec![], true)
    );
    let record = run(16, &[(1_025, 40)]);
    assert_eq!((open(&record), verdicts(&record)[1]), (vec![1], Verdict::Inconclusive));
}

#[test]
fn more_precision_than_the_same_needs_an_interval() {
    let mut record = run(16, &[(700, 10)]);
    record.header.plan.rounds.precision = 0.0;
    assert_eq!((open(&record), verdicts(&record)[1]), (vec![1], Verdict::Faster));
}

/// A verdict is not enough for a gate whose limit is in the interval, and one that passes needs none.
#[test]
fn a_gate_goes_on_until_it_is_decided() {
    let gated = |ratio, spread, share| {
        let mut record = run(16, &[(ratio, spread)]);
        record.header.plan.rounds.fail_above = Some(share);
        let [gated] = gated_targets(&record)[..] else { panic!() };
        (gated.verdict, gated.gate, open(&record).len())
    };
    assert_eq!(gated(1_100, 20, 0.05), (Verdict::Slower, Gate::Fail, 0));
    assert_eq!(gated(1_100, 20, 0.1), (Verdict::Slower, Gate::Undecided, 1));
    assert_eq!(gated(1_025, 40, 0.1), (Verdict::Inconclusive, Gate::Pass, 0));
    assert_eq!(gated(700, 10, 0.0), (Verdict::Faster, Gate::Pass, 0));
}

/// However narrow the interval is.
#[test]
fn a_gate_is_decided_by_planned_looks() {
    for (rounds, expected) in [(16, vec![]), (17, vec![1])] {
        let mut record = run(rounds, &[(1_050, 5)]);
        record.header.plan.rounds.fail_above = Some(0.1);
        assert_eq!(open(&record), expected, "{rounds} rounds");
    }
}

/// A run looks again, however narrow the interval is, so that it is never that of a single look.
#[test]
fn the_interval_of_a_gate_is_that_of_many_looks() {
    let mut record = run(48, &[(1_040, 5)]);
    let width = |record: &Record| figures(record)[1].ratio.unwrap().half_width();
    let narrow = width(&record);
    record.header.plan.rounds.fail_above = Some(0.04);
    assert!(narrow < 0.015 && width(&record) > 1.2 * narrow, "{narrow} {}", width(&record));
    assert_eq!(open(&record), [1]);
    record.header.plan.rounds.max = Some(48);
    assert!((width(&record) / narrow - 1.0).abs() < 0.2);
}

#[test]
fn a_gate_does_not_wait_for_what_it_does_not_judge() {
    let mut record = run(16, &[(700, 10), (1_100, 20)]);
    record.header.plan.rounds.fail_above = Some(0.1);
    assert_eq!(open(&record), [2]);
    record.header.plan.targets[2].reference = true;
    assert_eq!(open(&record), [0; 0]);
    // Until then it is measured too.
    let mut record = run(16, &[(1_100, 20), (1_100, 20)]);
    record.header.plan.rounds.fail_above = Some(0.1);
    record.header.plan.targets[2].reference = true;
    assert_eq!(open(&record), [1, 2]);
}

/// Values are asked for in each cache state; other experiments have steps that are in one state alone.
#[test]
fn a_case_that_an_experiment_does_not_have_is_not_gated() {
    let mut record = run(16, &[(700, 10)]);
    record.header.plan.caches.push(Cache::DataCold);
    record.header.plan.rounds.fail_above = Some(0.05);
    let gates =
        |record: &Record| gated_targets(record).iter().map(|of| of.gate).collect::<Vec<_>>();
    assert_eq!(gates(&record), [Gate::Pass, Gate::Undecided]);
    let queue = QueueData { tasks: 1, rewrites: 0, output: 1 };
    record.header.plan.experiment = Experiment::Queue(queue);
    assert_eq!(gates(&record), [Gate::Pass]);
}

#[test]
fn a_number_of_rounds_fixed_before_is_looked_at_once() {
    let mut record = run(20, &[(1_040, 60)]);
    assert_eq!(verdicts(&record)[1], Verdict::Inconclusive);
    record.header.plan.rounds.max = Some(20);
    assert_eq!(verdicts(&record)[1], Verdict::Slower);
}

#[test]
fn a_target_alone_needs_a_narrow_time() {
    let mut record = run(16, &[(1_000, 30)]);
    record.header.plan.targets.remove(0);
    let alone = |record: &mut Record, ns: [u64; 2]| {
        record.samples =
            (0..14).map(|round| sample(round, 0, COUNT, ns[round as usize % 2])).collect();
        open(record)
    };
    assert_eq!(alone(&mut record, [4_000, 4_300]), [0; 0]);
    assert_eq!(alone(&mut record, [4_000, 8_000]), [0]);
}

/// Ratios have their verdicts at once, as both targets wander together: efficiency and knee compare rates
/// of runs, which do not.
#[test]
fn a_sweep_over_clients_needs_rates() {
    let with = |ns: [u64; 2]| {
        let mut record = record(&["base", "one"], COUNT);
        for round in 0..16 {
            let own = ns[round as usize % 2];
            record.samples.push(sample(round, 0, COUNT, own));
            record.samples.push(sample(round, 1, COUNT, own * 3));
        }
        record
    };
    let of_clients = |mut record: Record| {
        let varied = [(crate::CLIENTS.to_owned(), "2".to_owned())].into();
        record.header.point = Some(Point { number: 0, of: 2, varied });
        record
    };
    assert_eq!(open(&with([4_000, 8_000])), [0; 0]);
    assert_eq!(open(&of_clients(with([4_000, 8_000]))), [0, 1]);
    assert_eq!(open(&of_clients(with([4_000, 4_040]))), [0; 0]);
    let mut noisy = of_clients(with([4_000, 8_000]));
    noisy.samples.retain(|sample| sample.target == 1 || sample.round < 12);
    assert_eq!(verdicts(&noisy), [Verdict::Baseline, Verdict::Slower]);
}

#[test]
fn clients_without_a_time_do_not_hide_those_with_one() {
    let of_clients = |clients: u32| {
        let mut record = record(&["base", "one"], COUNT);
        for round in 0..6 {
            record.samples.push(sample(round, 0, COUNT, 4_000));
            record.samples.push(sample(round, 1, COUNT, 9_000));
        }
        record.header.plan.workloads[0].threads = clients;
        let varied = [(crate::CLIENTS.to_owned(), clients.to_string())].into();
        record.header.point = Some(Point { number: 0, of: 3, varied });
        record
    };
    let mut runs = [1, 2, 4].map(of_clients);
    let shown = |runs: &[Record]| {
        let clients = |of: crate::Scaling| of.points.iter().map(|point| point.clients).collect();
        crate::scalings(runs).into_iter().map(clients).collect::<Vec<Vec<_>>>()
    };
    assert_eq!(shown(&runs), [[1, 2, 4], [1, 2, 4]]);
    runs[1].samples.retain(|sample| sample.target == 0);
    assert_eq!(shown(&runs), [vec![1, 2, 4], vec![1, 4]]);
    runs[2].samples.retain(|sample| sample.target == 0);
    assert_eq!(shown(&runs), [[1, 2, 4]]);
}

#[test]
fn what_cannot_be_compared_holds_nobody_up() {
    // Never in its state.
    let mut record = run(16, &[(700, 10)]);
    let missed = |record: &mut Record| {
        for sample in record.samples.iter_mut().filter(|sample| sample.target == 1) {
            sample.operations = 0;
        }
    };
    missed(&mut record);
    assert_eq!(open(&record), [0; 0]);
    record.samples.retain(|sample| sample.round < 5);
    assert_eq!(open(&record), [1], "it may still get there");
    // Not tried in this case.
    record.samples.retain(|sample| sample.target == 0);
    assert_eq!(open(&record), [0; 0]);
}

#[test]
fn unequal_work_is_measured_but_not_judged() {
    let mut record = run(16, &[(700, 5)]);
    record.header.plan.workloads[0] = super::workload(Operation::Update);
    record.stores[1].durability = Durability::Durable;
    assert_eq!((open(&record), verdicts(&record)[1]), (vec![], Verdict::DurabilityDiffers));
}

#[test]
fn who_cannot_keep_up_gets_no_verdict() {
    for saturated in [0, 1] {
        let mut record = run(16, &[(700, 60)]);
        assert_eq!(verdicts(&record)[1], Verdict::Faster);
        let samples = record.samples.iter_mut().filter(|sample| sample.target == saturated);
        for sample in samples {
            let Measured::Blobs(passes) = &mut sample.measured else { panic!("blobs") };
            passes.paced = Some(Paced { asked: 100.0, reached: 50.0, ..Paced::default() });
        }
        assert_eq!((open(&record), verdicts(&record)[1]), (vec![], Verdict::Saturated));
    }
}

#[test]
fn waiting_for_a_processor_is_not_the_stores_time() {
    let mut record = run(12, &[(1_000, 5)]);
    for sample in record.samples.iter_mut().filter(|sample| sample.target == 1) {
        sample.waited_ns = Some(sample.wall_ns * 2);
        sample.wall_ns *= 3;
    }
    let row = &figures(&record)[1];
    assert_eq!((row.case.cache, row.verdict), (Cache::Warm, Verdict::Same));
    assert!((row.waited_share().unwrap() - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(figures(&record)[0].waited_share(), None);
}

/// A run on a sample of one in sixteen values, of which every fourth round touches half: there the target
/// takes so many thousandths of the baseline's time, on the whole sample 700.
fn sampled(on_half: u64) -> Record {
    sampled_with(on_half, 5)
}

/// The same with a noise of so many thousandths.
fn sampled_with(on_half: u64, noise: u64) -> Record {
    let mut record = run(21, &[(700, noise)]);
    if let model::Experiment::Blobs(model::BlobsData { sampled_from, .. }) =
        &mut record.header.plan.experiment
    {
        *sampled_from = Some(model::SampledFrom { count: 16 * COUNT, bytes: 16 });
    }
    for round in (3..20).step_by(4) {
        for own in record.samples.iter_mut().filter(|own| own.round == round) {
            own.passes_mut().unwrap().half = true;
            own.wall_ns = COUNT * if own.target == 1 { NS * on_half / 1_000 } else { NS };
        }
    }
    record
}

fn moves(record: &Record) -> Option<f64> {
    crate::of_record(record).into_iter().find_map(|finding| match finding.kind {
        model::FindingKind::SampleMoves { share, .. } => Some(share),
        _ => None,
    })
}

#[test]
fn a_sample_that_shows_the_same_as_half_of_it_shows_all() {
    let record = sampled(700);
    let row = &figures(&record)[1];
    assert_eq!((row.verdict, row.rounds, moves(&record)), (Verdict::Faster, 16, None));
    assert!(row.ratio.unwrap().high < 0.71, "{row:?}");
}

#[test]
fn a_ratio_that_moves_with_the_sample_is_extrapolated_or_open() {
    // By a twentieth with twice the values, and four doublings to all of them.
    let record = sampled(667);
    let row = &figures(&record)[1];
    let (ratio, share) = (row.ratio.unwrap(), moves(&record).unwrap());
    assert!((0.04..0.06).contains(&share), "{share}");
    assert!(ratio.low < 0.7 && (0.84..0.88).contains(&ratio.high), "{ratio:?}");
    assert_eq!(row.verdict, Verdict::Faster);
    // By a fifth: on all values it may be slower.
    let record = sampled(583);
    let row = &figures(&record)[1];
    assert!(row.ratio.unwrap().high > 1.4, "{row:?}");
    assert_eq!(row.verdict, Verdict::Inconclusive);
    assert!(moves(&record).is_some());
}

#[test]
fn little_for_each_doubling_is_added_up() {
    // By 1.7 %, which half of the sample does not show, and by 7 % on all of the data.
    let record = sampled_with(706, 60);
    let ratio = figures(&record)[1].ratio.unwrap();
    let without = figures(&sampled_with(718, 60))[1].ratio.unwrap();
    assert_eq!(moves(&record), None);
    assert!((1.05..1.09).contains(&(ratio.high / without.high)), "{ratio:?} {without:?}");
}

#[test]
fn a_verdict_whose_interval_says_little_is_no_end() {
    let (few, more) = (run(8, &[(500, 60)]), run(48, &[(500, 60)]));
    for (record, expected, says_little) in [(&few, vec![1], true), (&more, vec![], false)] {
        let row = &figures(record)[1];
        let ratio = row.ratio.unwrap();
        assert_eq!(row.verdict, Verdict::Faster, "{row:?}");
        assert_eq!(ratio.high / ratio.low > 2.0, says_little, "{row:?}");
        assert_eq!(open(record), expected, "{row:?}");
    }
}

#[test]
fn a_case_that_has_not_started_is_open_though_another_one_is_over() {
    let mut record = run(24, &[(700, 10)]);
    let update = super::fixture::workload(Operation::Update, COUNT);
    record.header.plan.workloads.push(update);
    let open =
        |record: &Record, case| unsettled(record, record.header.plan.cases().nth(case).unwrap());
    assert_eq!((open(&record, 0), open(&record, 1)), (vec![], vec![1]));
    // The baseline alone was tried in its first round.
    record.samples.push(model::Sample { workload: 1, ..sample(0, 0, COUNT, NS) });
    assert_eq!(open(&record, 1), [0; 0]);
}

/// Reads of two parts of the keys. The first has small values, of which the target takes twice the time;
/// the second, which was read once less, one large value, of which it takes half.
#[test]
fn each_part_of_the_keys_counts_as_much_as_any_other() {
    let mut record = run(21, &[(1_000, 0)]);
    for own in &mut record.samples {
        let part = u64::from(own.round % 2);
        let (small, large) = if own.target == 1 { (2 * NS, 10 * NS) } else { (NS, 20 * NS) };
        own.wall_ns = COUNT * if part == 0 { small } else { large };
        own.bytes = COUNT * if part == 0 { 100 } else { 10_000 };
        own.passes_mut().unwrap().part = Some(part);
    }
    let ratio = figures(&record)[1].ratio.unwrap();
    assert!((ratio.point - 12.0 / 21.0).abs() < 1e-6, "{ratio:?}");
}

#[test]
fn there_is_no_verdict_before_the_largest_value_was_read() {
    let mut record = run(24, &[(700, 10)]);
    let part = |own: &model::Sample| u64::from(own.round % 19);
    record.samples.iter_mut().for_each(|own| {
        own.passes_mut().unwrap().part = Some(u64::from(own.round % 19));
    });
    record.header.plan.workloads[0].parts = Some(19);
    let case = record.header.plan.cases().next().unwrap();
    let set_largest = |record: &mut Record, share: u64| {
        let model::Experiment::Blobs(blobs) = &mut record.header.plan.experiment else { panic!() };
        blobs.summary.largest = blobs.summary.bytes / share;
    };
    let judged = |record: &Record| (figures(record)[1].verdict, unsettled(record, case).len());
    for (share, expected) in [(40, (Verdict::Faster, 0)), (2, (Verdict::TooFewRounds, 1))] {
        set_largest(&mut record, share);
        let mut few = record.clone();
        few.samples.retain(|own| part(own) != 3);
        assert_eq!(judged(&few), expected, "a value of 1/{share} of the bytes");
        assert_eq!(judged(&record), (Verdict::Faster, 0), "all parts were read");
        let interval = figures(&few)[1].ratio.is_some();
        assert_eq!(interval, expected.0 == Verdict::Faster);
    }
    // Of the keys that were drawn, a tenth of all, it has a quarter of the bytes.
    set_largest(&mut record, 40);
    let model::Experiment::Blobs(blobs) = &mut record.header.plan.experiment else { panic!() };
    blobs.drawn = Some(blobs.available / 10);
    record.samples.retain(|own| part(own) != 3);
    assert_eq!(judged(&record), (Verdict::TooFewRounds, 1));
}

#[test]
fn rounds_that_were_not_warm_are_no_usable_ones() {
    let mut record = run(5, &[(700, 10), (500, 10)]);
    let case = record.header.plan.cases().next().unwrap();
    assert_eq!(usable_rounds(&record, case), Some(5));
    let fetch = |record: &mut Record, target: usize, rounds: std::ops::Range<u32>| {
        let own = |s: &&mut model::Sample| s.target == target && rounds.contains(&s.round);
        for sample in record.samples.iter_mut().filter(own) {
            sample.io.as_mut().unwrap().device_read_bytes = Some(sample.bytes);
        }
    };
    fetch(&mut record, 1, 3..5);
    assert_eq!(usable_rounds(&record, case), Some(3));
    fetch(&mut record, 1, 0..3);
    assert_eq!(usable_rounds(&record, case), Some(5), "it will hardly ever be warm");
    fetch(&mut record, 2, 1..5);
    assert_eq!(usable_rounds(&record, case), Some(1));
    record.samples.retain(|sample| sample.target != 2 || sample.round < 4);
    assert_eq!(usable_rounds(&record, case), Some(5), "it has failed");
}
