//! Several workers beside each other, and under a limit.

use checks::{figures, rates, waits};
use model::{
    BUSY_RETRIES, Cache, LOCK_WAITS, MemoryLimit, Operation, Residency, Sample, Worker, Workload,
    record::Record,
};

use crate::fixture::{self, OPERATIONS, record, sample, workload};

fn page(record: &Record) -> String {
    fixture::whole_page(record, 100)
}

/// Two rounds in which the second worker takes half of the first one's time.
fn shared() -> Record {
    let mut record = record(&["files", "sqlite"]);
    record.header.plan.workloads[0].processes = 2;
    for target in [0, 1] {
        for round in 0..2 {
            let mut sample = sample(round, target, 4_000);
            let worker = |process, wall_ns| Worker {
                process,
                operations: OPERATIONS / 2,
                wall_ns,
                waited_ns: None,
            };
            sample.workers = vec![worker(0, sample.wall_ns), worker(1, sample.wall_ns / 2)];
            record.samples.push(sample);
        }
    }
    record
}

#[test]
fn rates_are_those_of_the_slowest_the_fastest_and_all() {
    let record = shared();
    let rates = rates(&record, &figures(&record)[0]).unwrap();
    // 500 operations in 4 ms and in 2 ms, 1,000 in 4 ms.
    for (rate, expected) in [(rates.slowest, 125.0), (rates.fastest, 250.0), (rates.total, 250.0)] {
        assert!((rate / expected - 1.0_f64).abs() < 1e-9, "{rates:?}");
    }
    let out = page(&record);
    assert!(out.contains("all in one transaction, 2 processes\n"), "{out}");
    assert!(out.contains("flushed: files 125 to 250, 250 in all; sqlite 125 to 250"), "{out}");
    assert!(!out.contains("lock waits") && !out.contains("busy retries"), "{out}");
}

#[test]
fn rates_beside_each_other_are_written_alike() {
    let mut record = shared();
    for sample in record.samples.iter_mut().filter(|sample| sample.target == 0) {
        sample.workers[1].wall_ns = sample.wall_ns / 1000;
    }
    let out = page(&record);
    assert!(out.contains("files 125 to 125,000, 250 in all"), "{out}");
}

#[test]
fn a_median_far_below_the_time_is_explained_by_reading_ahead_where_blobs_are_read() {
    for (operation, says) in [(Operation::Read, true), (Operation::Update, false)] {
        let mut record = shared();
        record.header.plan.workloads[0] =
            Workload { threads: record.header.plan.workloads[0].threads, ..workload(operation) };
        record.header.plan.caches = vec![Cache::Limited];
        for sample in &mut record.samples {
            sample.cache = Cache::Limited;
            sample.before = Some(Residency { pages: 10, resident: 1, ..Residency::default() });
            sample.wall_ns *= 10;
        }
        let out = page(&record);
        assert_eq!(out.contains("most blobs were read ahead"), says, "{operation}: {out}");
    }
}

#[test]
fn waits_are_shown_where_there_were_any_however_few() {
    let mut record = shared();
    for sample in record.samples.iter_mut().filter(|sample| sample.target == 1) {
        sample.counters = [(LOCK_WAITS.to_owned(), 0), (BUSY_RETRIES.to_owned(), 0)].into();
    }
    assert_eq!(waits(&record, &figures(&record)[1]), None);
    let last = record.samples.last_mut().unwrap();
    last.counters = [(LOCK_WAITS.to_owned(), 1), (BUSY_RETRIES.to_owned(), 50)].into();
    let out = page(&record);
    assert!(out.contains("lock waits per operation: sqlite 0.00050\n"), "{out}");
    assert!(out.contains("busy retries per operation: sqlite 0.025\n"), "{out}");
}

#[test]
fn one_worker_alone_has_no_rates_of_its_own() {
    let mut record = record(&["files"]);
    record.samples = vec![sample(0, 0, 4_000)];
    assert_eq!(rates(&record, &figures(&record)[0]), None);
    assert!(!page(&record).contains("each worker"));
}

#[test]
fn a_limited_state_shows_its_limit_and_what_of_the_store_stayed() {
    let mut record = record(&["files"]);
    let (limit_bytes, page_bytes) = (Some(8_000_000), 4096);
    let memory = MemoryLimit { bytes: 8_000_000, cache_bytes: 4_000_000, limit_bytes, page_bytes };
    record.header.plan.memory = Some(memory);
    record.header.plan.caches = vec![Cache::Limited];
    for (round, resident) in [(0, 1000), (1, 1500), (2, 2000)] {
        let before = Some(Residency { pages: 5000, resident, ..Residency::default() });
        record.samples.push(Sample { cache: Cache::Limited, before, ..sample(round, 0, 4_000) });
    }
    // 2,000 pages are more than 8 MB: the last round was not in its state.
    assert_eq!(figures(&record)[0].rounds, 2);
    let out = page(&record).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.contains("read, limited: 1,000 operations"), "{out}");
    assert!(out.contains("memory limited to 8.00 MB, 4.00 MB of it for"), "{out}");
    assert!(out.contains("pages in memory when a trial started: files 25.0 %"), "{out}");
}
