//! Every warm store is filled into the page cache in the same way, and of what leaves it later only
//! that is read again.

use model::{Finding, FindingKind, Operation};

use crate::{
    run::{Job, over, spy},
    spy::Habits,
};

const FILES: u64 = 400;
/// Too few for a store to be no longer warm.
const EVICTED: u64 = 2;

/// Pages that were missing when trials began, after some left the cache between any two.
fn missing(operation: Operation) -> Vec<u64> {
    let spy = spy(Habits { evicted: EVICTED, ..Habits::default() });
    let job = Job { rounds: Some(60), keys: FILES, count: FILES, ..Job::of(operation) };
    let record = over(spy, job).unwrap();
    // Pages are not examined before each round.
    let before = record.samples.iter().filter_map(|sample| sample.before);
    // Where the system does not tell, nothing is made up.
    before
        .inspect(|before| assert!(before.unknown > 0 || before.pages == FILES, "{before:?}"))
        .filter(|before| before.unknown == 0)
        .map(|before| before.pages - before.resident)
        .collect()
}

/// Other tests may drop the caches of the whole machine at any moment, and the system keeps pages
/// that are being written, so one of a few runs that shows it is enough.
fn is_made_whole(operation: Operation) -> bool {
    let shows = |missing: Vec<u64>| missing.iter().all(|pages| *pages == 0);
    in_memory() || (0..6).any(|_| shows(missing(operation)))
}

#[test]
fn what_left_the_memory_of_a_store_that_is_read_is_read_again() {
    assert!(is_made_whole(Operation::Read));
}

#[test]
fn what_left_the_memory_of_a_store_that_is_written_to_is_read_again() {
    assert!(is_made_whole(Operation::Update));
}

/// Too many to be examined in a part of no time, or to be read in a round.
const MANY: u64 = 400;

/// Rounds that were not warm, those before which values were read again, and those before which all pages were
/// examined, of a store all of whose pages leave the memory after each round.
fn rounds_of_a_store_that_loses_all() -> [usize; 3] {
    let habits = Habits { evicted: MANY, tolerated: 100, reads_files: true, ..Habits::default() };
    let (spy, rounds) = (spy(habits), Some(30));
    let job = Job { rounds, keys: MANY, count: 0, ..Job::of(Operation::Read) };
    let record = over(spy, job).unwrap();
    let lost = record.samples.iter().filter(|sample| !record.in_state(sample)).count();
    let read = |finding: &&Finding| matches!(finding.kind, FindingKind::ReadAgain { .. });
    let examined = record.samples.iter().filter(|sample| sample.before.is_some()).count();
    [lost, record.findings.iter().filter(read).count(), examined]
}

#[test]
fn a_store_that_loses_its_pages_is_read_again_before_each_round() {
    let mut shows_it = 0;
    let mut is_read_again = || {
        let [lost, read, examined] = rounds_of_a_store_that_loses_all();
        // On a busy machine rounds take so long that pages are examined before each, and those that are missing
        // read: nothing is lost then.
        shows_it += usize::from(examined < 15);
        // The first rounds show it. Others may drop the caches while a round reads.
        lost <= 10 && read >= 15
    };
    let is_read_again = (0..6).any(|_| is_read_again());
    assert!(in_memory() || is_read_again || shows_it == 0);
}

/// Nothing can be evicted from a file system that lives in memory.
fn in_memory() -> bool {
    let place = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let kind = lab::host::environment(&[place]).filesystems[0].kind.clone();
    ["tmpfs", "ramfs"].contains(&kind.as_str())
}
