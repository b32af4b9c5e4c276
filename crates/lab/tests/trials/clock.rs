//! What is on the clock, and what is not. Sleeping takes at least as long as it was asked for,
//! and parts are at most the whole: nothing here depends on speed.

use std::time::Duration;

use model::Operation;

use crate::{
    run::{sample, spy},
    spy::{Event, Habits},
};

#[test]
fn opening_is_not_on_the_clock() {
    let spy = spy(Habits { opening: Duration::from_millis(200), ..Habits::default() });
    let sample = sample(spy, Operation::Read);
    let events = spy.events();
    let opened = events.iter().rev().find_map(|event| match event {
        Event::Ready(at) => Some(*at),
        _ => None,
    });
    let closed = events.iter().rev().find_map(|event| match event {
        Event::Closed(at) => Some(*at),
        _ => None,
    });
    // All passes fit between the moment the session was open and the store's end; with the
    // opening among them they would take longer than there was time.
    let measured = sample.first_pass().unwrap().ns + sample.wall_ns;
    assert!(u128::from(measured) <= (closed.unwrap() - opened.unwrap()).as_nanos(), "{sample:?}");
}

#[test]
fn the_clock_stops_once_the_store_has_settled() {
    let settling = Duration::from_millis(20);
    let settled = |operation| sample(spy(Habits { settling, ..Habits::default() }), operation);
    let written = settled(Operation::Update);
    assert!(u128::from(written.settle_ns) >= settling.as_nanos(), "{written:?}");
    assert!(written.wall_ns > written.settle_ns, "{written:?}");
    let first = written.first_pass().unwrap();
    assert!(u128::from(first.ns) >= settling.as_nanos(), "{written:?}");
    assert_eq!(settled(Operation::Read).settle_ns, 0, "reads owe nothing");
}
