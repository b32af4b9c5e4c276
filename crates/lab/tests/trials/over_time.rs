//! How a pass went over time. A sleep takes at least as long as it was asked for, and nothing
//! ends in it; nothing else here depends on speed.

use std::time::Duration;

use model::{Operation, SLICE_NS, Slice};

use crate::{
    run::{Job, KEYS, over, sample, sample_of, spy},
    spy::Habits,
};

#[test]
fn a_stall_stands_where_it_was_and_all_operations_are_counted() {
    let nap = Duration::from_millis(700);
    // In the second pass, whose operations are timed.
    let nth = |get| get == KEYS + KEYS / 2;
    let getting = Duration::from_millis(8);
    let sample = sample_of(
        spy(Habits { getting, nap: Some((nth, nap)), ..Habits::default() }),
        Job { over_time: true, ..Job::of(Operation::Read) },
    );
    let told = sample.over_time().unwrap();
    assert_eq!(told.slice_ns, SLICE_NS);
    let count = |slices: &[Slice]| slices.iter().map(|slice| slice.operations).sum::<u64>();
    assert_eq!(count(&told.slices), sample.latency().unwrap().operations);

    let longest = told.slices.iter().map(|slice| slice.longest).max_by_key(|l| l.max_ns).unwrap();
    let off = longest.max_ns.abs_diff(sample.latency().unwrap().max_ns);
    assert!(off <= longest.max_ns / 1000, "as a histogram of three digits rounds it: {off}");
    assert!(u128::from(longest.max_ns) >= nap.as_nanos());
    let start = longest.max_end_ns - longest.max_ns;
    assert!(start >= (KEYS / 2 - 1) * 8_000_000, "others came before it");
    let slice = |ns: u64| usize::try_from(ns / SLICE_NS).unwrap();
    let (first, last) = (slice(start), slice(longest.max_end_ns));
    assert_eq!(count(&told.slices[first + 1..last]), 0, "{told:?}");
    assert_eq!(told.slices[last].longest, longest);

    assert!(told.background_work.iter().all(|work| work.name == "nap"), "{told:?}");
    let seen =
        told.background_work.iter().find(|nap| (start..longest.max_end_ns).contains(&nap.start_ns));
    assert!(seen.unwrap().end_ns > seen.unwrap().start_ns, "{told:?}");
}

#[test]
fn a_store_that_stops_again_and_again_shows_it_in_the_closed_loop() {
    let (count, nap) = (4_000, Duration::from_millis(300));
    let habits = Habits { nap: Some((|get| get % 800 == 0, nap)), ..Habits::default() };
    let record = over(spy(habits), Job { count, over_time: true, ..Job::of(Operation::Read) });
    let record = record.unwrap();
    let sample = &record.samples[0];
    let latency = sample.latency().unwrap();
    assert_eq!((latency.operations, sample.operations), (count, count));
    // Within what a histogram of three digits rounds.
    let least = u64::try_from(nap.as_nanos()).unwrap() / 1000 * 999;
    assert!(latency.max_ns >= least && latency.p999_ns >= least, "{latency:?}");
    let histogram = checks::histogram::decode(&latency.histogram).unwrap();
    let long = histogram.count_between(least, u64::MAX);
    assert!((5..8).contains(&long), "five naps, and what else the machine does: {long}");
}

#[test]
fn a_pass_within_a_slice_has_no_slices() {
    let sample = sample(spy(Habits::default()), Operation::Read);
    assert_eq!(sample.over_time().is_some(), sample.latency().unwrap().wall_ns >= SLICE_NS);
}
