//! The bytes that are written.

use std::collections::BTreeSet;

use model::Operation;

use crate::{
    run::{Job, over, spy},
    spy::{Event, Habits},
};

/// What was written over something else.
fn written() -> Vec<(usize, bool)> {
    let spy = spy(Habits::default());
    over(spy, Job { rounds: Some(3), ..Job::of(Operation::Update) }).unwrap();
    let put = |event| match event {
        Event::Put { address, same } => Some((address, same)),
        _ => None,
    };
    spy.events().into_iter().filter_map(put).collect()
}

#[test]
fn payloads_are_slices_of_what_was_made_beforehand() {
    let addresses: BTreeSet<usize> = written().into_iter().map(|(address, _)| address).collect();
    let (first, last) = (addresses.first().unwrap(), addresses.last().unwrap());
    // Made on the way, they would stand in one buffer, or all over the memory.
    assert!((1 << 20..8 << 20).contains(&(last - first)), "{first} to {last}");
    assert!(addresses.len() > 130, "{}", addresses.len());
}

#[test]
fn no_value_is_written_over_by_itself() {
    let written = written();
    // Two passes of the calibration, and two in each round.
    assert_eq!(written.len(), 8 * 20);
    assert!(written.iter().all(|(_, same)| !same));
}
