//! A run ends with its time, whatever a target does.

use std::time::Duration;

use model::{Operation, record::Ended};

use crate::{
    run::{Job, SECONDS, over, spy},
    spy::Habits,
};

/// Gets that are quick: enough for several rounds.
const QUICK: usize = 400;
const LONG: Duration = Duration::from_millis(250);

#[test]
fn what_was_measured_before_a_target_thrashed_is_kept() {
    let spy = spy(Habits { thrashing: Some((QUICK, LONG)), ..Habits::default() });
    let record = over(spy, Job { rounds: None, ..Job::of(Operation::Read) }).unwrap();
    assert_eq!(record.end.unwrap().reason, Ended::Time);
    assert!(!record.samples.is_empty());
    // Within the time, and one that had begun before its end.
    let most = SECONDS / LONG.as_secs_f64() + 1.0;
    let slow = (spy.gets() - QUICK) as f64;
    assert!((1.0..=most).contains(&slow), "{slow}");
}
