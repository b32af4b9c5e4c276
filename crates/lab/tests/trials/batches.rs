//! A batch is one transaction, for reads too.

use model::{Batch, Operation};

use crate::{
    run::{Job, KEYS, over, spy},
    spy::{Event, Habits, RecordingEngine},
};

/// More stores that epochs take in turn.
const COPIES: usize = 4;

/// Operations of each batch. None stands outside one.
fn batches(spy: &RecordingEngine, operation: fn(&Event) -> bool) -> Vec<usize> {
    let mut batches = Vec::new();
    let mut open = None;
    for event in spy.events() {
        match event {
            Event::Began(_) => assert_eq!(open.replace(0), None, "a batch in a batch"),
            Event::Committed => batches.push(open.take().unwrap()),
            // Values that were written are read back in a session of their own.
            _ if operation(&event) && open.is_some() => open = open.map(|count| count + 1),
            _ => assert!(!operation(&event), "{event:?} outside a batch"),
        }
    }
    assert_eq!(open, None);
    batches
}

/// Operations of each batch of reads.
fn reads(batch: Batch) -> Vec<usize> {
    let spy = spy(Habits::default());
    over(spy, Job { batch, ..Job::of(Operation::Read) }).unwrap();
    batches(spy, |event| *event == Event::Got)
}

#[test]
fn a_pass_of_reads_is_one_transaction_unless_batches_are_smaller() {
    // Filling reads nothing: the store, and after the check its copies.
    let (before, each) = (2 + COPIES, usize::try_from(KEYS).unwrap());
    let filled = |batches: &[usize]| assert_eq!(batches[..before], [0, each, 0, 0, 0, 0]);
    let whole = reads(Batch::All);
    filled(&whole);
    // The calibration's two passes, and the trial's first one.
    assert_eq!(whole[before..before + 3], [each; 3]);
    // How many operations a slice has depends on how long they take.
    let slices = &whole[before + 3..];
    assert!(slices.iter().sum::<usize>() >= each && !slices.contains(&0), "{whole:?}");
    let small = reads(Batch::Of(5));
    filled(&small);
    let small = &small[before..];
    assert!(small.len() >= 4 * 4 && small.iter().all(|batch| *batch == 5), "{small:?}");
}

#[test]
fn an_operation_that_is_a_batch_of_its_own_needs_no_words_around_it() {
    let spy = spy(Habits::default());
    over(spy, Job { batch: Batch::Of(1), ..Job::of(Operation::Read) }).unwrap();
    // The batches of filling and of the check, and none since.
    let committed = spy.events().iter().filter(|event| **event == Event::Committed).count();
    assert_eq!(committed, 2 + COPIES);
}

#[test]
fn updates_are_committed_as_often_as_asked_for() {
    let spy = spy(Habits::default());
    over(spy, Job { batch: Batch::Of(3), ..Job::of(Operation::Update) }).unwrap();
    let written = batches(spy, |event| matches!(event, Event::Put { .. }));
    // 20 operations a pass: the last batch is what is left.
    assert_eq!(written[2..], [3, 3, 3, 3, 3, 3, 2].repeat(4));
}
