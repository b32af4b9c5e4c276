//! Costs of reads and updates by their shares, who is level, and who stays.

use model::{Operation, record::Record};

use super::fixture::{record, sample, workload};
use crate::{Choice, Costs};

const COUNT: u64 = 1_000;
const ROUNDS: u32 = 16;

/// Reads and updates in so many nanoseconds, a little more and a little less in turn by as many
/// thousandths.
fn run(targets: &[(&str, u64, u64, u64)]) -> Record {
    let labels: Vec<_> = targets.iter().map(|target| target.0).collect();
    let mut record = record(&labels, COUNT);
    record.header.plan.workloads.push(workload(Operation::Update, COUNT));
    for round in 0..ROUNDS {
        for (target, (_, read, update, spread)) in targets.iter().enumerate() {
            // Each target in its own rhythm, so that ratios spread as well.
            let more = (round >> (target % 2)) % 2 == 0;
            let factor = if more { 1_000 + spread } else { 1_000 - spread };
            for (workload, ns) in [(0, *read), (1, *update)] {
                let sample = sample(round, target, COUNT, ns * factor / 1_000);
                record.samples.push(model::Sample { workload, ..sample });
            }
        }
    }
    record
}

fn close(value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() < 0.01
}

#[test]
fn a_cost_is_weighed_by_shares() {
    let record = run(&[("a", 4_000, 100_000, 10), ("b", 2_000, 200_000, 10)]);
    for (reads, cost, ratio) in [(1.0, 4.0, 0.5), (0.0, 100.0, 2.0), (0.95, 8.8, 11.9 / 8.8)] {
        let costs = Costs::new(&record, reads);
        assert!(close(costs.cost(0).unwrap().point, cost), "{reads}: {:?}", costs.cost(0));
        let found = costs.ratio(1, 0).unwrap();
        assert!(close(found.point, ratio), "{reads}: {found:?}");
        assert!(found.low < ratio && ratio < found.high, "{found:?}");
    }
}

#[test]
fn a_ratio_is_the_same_whichever_of_the_two_is_asked_about() {
    let mut record = run(&[("a", 4_000, 9_000, 20), ("b", 3_000, 70_000, 300), ("c", 5, 9, 2)]);
    for baseline in 0..3 {
        record.header.plan.baseline = baseline;
        let costs = Costs::new(&record, 0.5);
        let [one, other] = [(0, 1), (1, 0)].map(|(of, base)| costs.ratio(of, base).unwrap());
        for (one, other) in [(one.point, other.point), (one.low, other.high), (one.high, other.low)]
        {
            assert!((one * other - 1.0).abs() < 1e-12, "{baseline}: {one} {other}");
        }
    }
}

/// Of a part with half of the cost, half of the width of the logarithm counts.
#[test]
fn widths_add_up_as_squares_by_their_part_of_the_cost() {
    let record = run(&[("a", 4_000, 4_000, 20)]);
    let width = |reads: f64| {
        let cost = Costs::new(&record, reads).cost(0).unwrap();
        (cost.high / cost.low).ln()
    };
    assert!(close(width(0.5), width(1.0) / 2.0_f64.sqrt()), "{} {}", width(0.5), width(1.0));
}

/// A ratio of one part is that of its times, with the interval that decides.
#[test]
fn the_cost_of_reads_alone_is_the_time_of_reads() {
    let record = run(&[("a", 4_000, 90_000, 20), ("b", 3_000, 10_000, 30)]);
    let costs = Costs::new(&record, 1.0);
    let figures = crate::figures(&record);
    let own = figures.iter().find(|row| row.target == 1 && row.case.workload == 0).unwrap();
    let [cost, ratio] = [costs.cost(1).unwrap(), costs.ratio(1, 0).unwrap()];
    for (one, other) in [(cost, own.us_per_op.unwrap()), (ratio, own.ratio.unwrap())] {
        assert!((one.point / other.point - 1.0).abs() < 1e-9, "{one:?} {other:?}");
        assert!((one.low / other.low - 1.0).abs() < 1e-9, "{one:?} {other:?}");
    }
}

#[test]
fn the_simplest_of_those_that_are_level_is_taken() {
    // The last is the fastest by less than 3 %.
    let level = run(&[("now", 9_000, 0, 2), ("a", 4_040, 0, 2), ("b", 4_000, 0, 2)]);
    let choice = |record: &Record| Costs::new(record, 1.0).choice(Some(0), |_| true).unwrap();
    assert_eq!(choice(&level), Choice { chosen: 1, best: 2, next: Some(2), faster: None });
    // By more, and surely.
    let apart = run(&[("now", 9_000, 0, 2), ("a", 4_400, 0, 2), ("b", 4_000, 0, 2)]);
    assert_eq!(choice(&apart), Choice { chosen: 2, best: 2, next: Some(1), faster: None });
    // By hardly more, but nobody knows.
    let open = run(&[("now", 9_000, 0, 2), ("a", 4_160, 0, 100), ("b", 4_000, 0, 100)]);
    assert_eq!(choice(&open).chosen, 1);
    // By much more, as far as one knows: only what is there now would stay.
    let open = run(&[("now", 9_000, 0, 2), ("a", 4_400, 0, 100), ("b", 4_000, 0, 100)]);
    assert_eq!(choice(&open), Choice { chosen: 2, best: 2, next: Some(1), faster: None });
    assert_eq!(Costs::new(&open, 1.0).choice(Some(1), |_| true).unwrap().chosen, 1);
    // The first may be level with the best, but is not shown to be ahead of what is there now.
    let wide = run(&[("now", 9_000, 0, 2), ("a", 9_300, 0, 900), ("b", 4_000, 0, 2)]);
    assert_eq!(choice(&wide), Choice { chosen: 2, best: 2, next: Some(1), faster: None });
}

#[test]
fn a_reference_is_never_taken() {
    let mut record = run(&[("now", 9_000, 0, 2), ("limit", 1_000, 0, 2)]);
    record.header.plan.targets[1].reference = true;
    let choice = Costs::new(&record, 1.0).choice(None, |_| true).unwrap();
    assert_eq!(choice, Choice { chosen: 0, best: 0, next: None, faster: None });
}

#[test]
fn clear_losers_leave_and_two_stay() {
    let of =
        |targets: &[(&str, u64, u64, u64)], most| Costs::new(&run(targets), 1.0).finalists(most);
    let all = [
        ("a", 9_000, 0, 2),
        ("b x=1", 4_020, 0, 2),
        ("b x=2", 4_000, 0, 2),
        ("b x=3", 4_040, 0, 2),
        ("b", 8_000, 0, 2),
        ("c", 7_000, 0, 2),
    ];
    // All of one engine: the best of another one stays, too.
    assert_eq!(of(&all, 3), [1, 2, 3, 5]);
    assert_eq!(of(&all, 2), [1, 2, 5]);
    // Two stay however far they are apart.
    assert_eq!(of(&all[..3][1..], 3), [0, 1]);
    assert_eq!(of(&[all[0], all[1], all[5]], 3), [1, 2]);
    assert_eq!(of(&all[..1], 3), [0]);
    // The best of an engine stays where all of the data may show something else.
    let near = [("a", 4_000, 0, 2), ("b", 4_400, 0, 2), ("c", 5_000, 0, 2), ("d", 9_000, 0, 2)];
    assert_eq!(of(&near, 2), [0, 1, 2]);
}

#[test]
fn a_share_of_reads_turns_the_choice() {
    // 4 against 2 for a read, 10 against 48 for an update: even where 2 s = 38 (1 - s).
    let record = run(&[("a", 4_000, 10_000, 0), ("b", 2_000, 48_000, 0)]);
    let share = Costs::new(&record, 1.0).even_share(0, 1).unwrap();
    assert!((share - 0.95).abs() < 1e-6, "{share}");
    let record = run(&[("a", 4_000, 10_000, 0), ("b", 2_000, 8_000, 0)]);
    assert_eq!(Costs::new(&record, 0.5).even_share(0, 1), None);
}

#[test]
fn a_few_rounds_are_not_enough_to_judge_by() {
    let mut record = run(&[("a", 4_000, 10_000, 1), ("b", 2_000, 10_000, 1)]);
    assert!(Costs::new(&record, 0.9).is_judged());
    record.samples.retain(|sample| sample.round < 4);
    assert!(!Costs::new(&record, 0.9).is_judged());
    record.samples.clear();
    assert!(!Costs::new(&record, 0.9).is_judged());
}

#[test]
fn nothing_measured_is_no_choice() {
    let mut record = run(&[("a", 4_000, 10_000, 1), ("b", 2_000, 10_000, 1)]);
    // Updates of one of them failed: its cost is not known.
    record.samples.retain(|sample| (sample.target, sample.workload) != (1, 1));
    let costs = Costs::new(&record, 0.9);
    assert_eq!((costs.cost(1), costs.choice(None, |_| true).unwrap().next), (None, None));
    record.samples.clear();
    assert_eq!(Costs::new(&record, 0.9).choice(None, |_| true), None);
}
