//! Counters that repeat themselves, and those that waver.

use model::{Cache, Case, Counter, Sample, record::Record};

use super::fixture;
use crate::{CounterChange, Gate, Series, counted_targets, repeated_counters};

const CASE: Case = Case { workload: 0, cache: Cache::Warm };
const COUNT: u64 = 1000;

/// A record of two targets with these flushes by round.
fn record(base: &[u64], other: &[u64]) -> Record {
    let mut record = fixture::record(&["base", "other"], COUNT);
    for (target, flushes) in [base, other].into_iter().enumerate() {
        for (round, flushes) in (0..).zip(flushes) {
            let mut sample = fixture::sample(round, target, COUNT, 4_000);
            sample.cost.flushes = Some(*flushes);
            record.samples.push(sample);
        }
    }
    record
}

fn change(record: &Record) -> CounterChange {
    let [change] = counted_targets(record, &[Counter::Flushes])[..] else { panic!("one target") };
    assert_eq!((change.case, change.target), (CASE, 1));
    change.change
}

#[test]
fn the_same_difference_in_each_round_is_exact() {
    for (base, other, exact, gate) in [
        (vec![1000, 1000], vec![1000, 1000], Some(0.0), Gate::Pass),
        (vec![1000, 1000], vec![2000, 2000], Some(1.0), Gate::Fail),
        (vec![2000, 2000], vec![1000, 1000], Some(-1.0), Gate::Pass),
        // Keys of a round cost both the same.
        (vec![1003, 1007], vec![1004, 1008], Some(0.001), Gate::Fail),
        (vec![1000, 1000, 1000], vec![1000, 1000, 1001], None, Gate::Undecided),
        (vec![1000, 1001], vec![3000, 3000], None, Gate::Undecided),
        (vec![1000], vec![2000], None, Gate::Undecided),
        (vec![], vec![], None, Gate::Undecided),
        (vec![1000, 1001, 1000], vec![300, 299, 298], None, Gate::Pass),
        (vec![1000], vec![300], None, Gate::Undecided),
    ] {
        let change = change(&record(&base, &other));
        let close = |more: f64| (more - exact.unwrap_or(f64::NAN)).abs() < 1e-9;
        assert!(change.exact().map_or(exact.is_none(), close), "{base:?} {other:?}: {change:?}");
        assert_eq!(change.gate(), gate, "{base:?} {other:?}");
    }
}

#[test]
fn passes_of_other_lengths_are_compared_by_operation() {
    let mut record = record(&[1000, 1000], &[1000, 1000]);
    let longer = |sample: &mut Sample| {
        sample.operations *= 3;
        sample.cost.flushes = Some(3000);
    };
    record.samples.iter_mut().filter(|sample| sample.target == 1).for_each(longer);
    assert_eq!(change(&record).exact(), Some(0.0));
}

#[test]
fn a_round_without_the_counter_does_not_count() {
    let mut record = record(&[1000, 1000], &[2000, 2000]);
    record.samples[3].cost.flushes = None;
    assert_eq!((change(&record).rounds, change(&record).gate()), (1, Gate::Undecided));
}

#[test]
fn references_are_not_counted() {
    let mut record = record(&[1000, 1000], &[2000, 2000]);
    record.header.plan.targets[1].reference = true;
    assert!(counted_targets(&record, &Counter::ALL).is_empty());
}

#[test]
fn counters_of_one_target_that_repeat_are_named() {
    let record = record(&[1000, 1000], &[1000, 1001]);
    let named = |target| repeated_counters(Series::new(&record, CASE, target));
    let all_but = |without: &[Counter]| {
        Counter::ALL.into_iter().filter(|of| !without.contains(of)).collect::<Vec<_>>()
    };
    // Page faults are not known of the fixture's passes.
    assert_eq!(named(0), all_but(&[Counter::Faults]));
    assert_eq!(named(1), all_but(&[Counter::Flushes, Counter::Calls, Counter::Faults]));
}
