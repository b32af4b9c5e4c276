//! Passes over time: slices of 100 ms in the record and on the page, and what the engine did.

use model::Sample;

use crate::world::World;

/// A schedule makes a pass last as long on any machine.
const SCHEDULE: &str = "--keys 50 --size 100 --rate 1k --count 350 --rounds 2 --json r.json";

/// All operations of a pass stand in its slices.
fn check(sample: &Sample) {
    let told = sample.over_time().unwrap();
    let counted: u64 = told.slices.iter().map(|slice| slice.operations).sum();
    assert_eq!(counted, sample.latency().unwrap().operations);
    assert!(told.slices.len() >= 4, "350 ms: {told:?}");
    let end = told.slices.len() as u64 * told.slice_ns;
    assert!(end + SLACK >= sample.latency().unwrap().wall_ns, "{sample:?}");
    assert!(end <= sample.latency().unwrap().wall_ns + told.slice_ns + SLACK, "{sample:?}");
    for slice in &told.slices {
        assert!(slice.p99_ns <= slice.longest.max_ns, "{slice:?}");
        assert!(slice.longest.max_ns <= sample.latency().unwrap().max_ns, "{slice:?}");
    }
}

#[test]
fn slices_stand_in_the_record_and_are_printed_when_asked_for() {
    let world = World::new();
    let out = world.ok(&format!("run memory: --update --over-time {SCHEDULE}")).out;
    let samples = world.record("r.json").samples;
    assert_eq!(samples.len(), 2);
    samples.iter().for_each(check);
    assert!(out.contains("over time: passes in slices of 100 ms"), "{out}");
    let row = out.lines().rev().find(|line| line.starts_with("memory ")).unwrap();
    assert!(row.ends_with('%'), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
    assert_eq!(world.ok("report r.json --over-time").out, out);
    assert!(!world.ok("report r.json").out.contains("over time"));
}

#[cfg(unix)]
#[test]
fn slices_of_threads_and_processes_add_up() {
    let world = World::new();
    world.ok(&format!("run sqlite: --read --processes 2 --threads 2 {SCHEDULE}"));
    world.record("r.json").samples.iter().for_each(check);
}

#[test]
fn checkpoints_of_a_write_ahead_log_are_told() {
    let world = World::new();
    // Each update changes four pages at least, so that there is a checkpoint every 250.
    let line = "run sqlite:?journal=wal&sync=off --update --batch 1 --keys 500 --size 16k \
                --count 2000 --rate 4k --rounds 1 --over-time --json r.json";
    let out = world.ok(line).out;
    let sample = world.record("r.json").samples.remove(0);
    let told = sample.over_time().unwrap();
    assert!(told.background_work.len() >= 7, "{told:?}");
    for work in &told.background_work {
        assert_eq!(work.name, "checkpoint");
        assert!(
            work.start_ns < work.end_ns && work.end_ns <= sample.latency().unwrap().wall_ns + SLACK
        );
    }
    // Whoever drops the caches of the machine meanwhile takes the trial out of its state.
    let shown = out.contains(&format!("{} × checkpoint", told.background_work.len()));
    assert!(shown || out.contains("not in state"), "{out}");
}

/// Slices begin a moment before the pass.
const SLACK: u64 = 10_000_000;

#[test]
fn a_record_without_it_says_one_clear_thing() {
    let world = World::new();
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/records/format-3.jsonl");
    let plain = world.ok(&format!("report {old}")).out;
    let out = world.ok(&format!("report {old} --over-time")).out;
    let added = out.strip_prefix(&plain).unwrap();
    assert!(added.contains("this record has no slices"), "{added}");
    assert!(added.lines().count() <= 5, "{added}");
}
