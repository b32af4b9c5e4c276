//! A key that is not there is not a fast read.

use model::{ErrorKind, Operation};

use crate::{
    run::{Job, over, spy},
    spy::Habits,
};

#[test]
fn a_missing_key_ends_the_run() {
    for (lost, says) in
        [(100, "1 of 20 keys asked for are missing, first 7"), (1, "another length")]
    {
        let spy = spy(Habits { lost, ..Habits::default() });
        let error = over(spy, Job::of(Operation::Read)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Missing, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
}
