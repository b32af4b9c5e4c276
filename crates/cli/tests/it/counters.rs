//! Counters that do not waver: flushes as strace sees them, and gates on them.

#![cfg(target_os = "linux")]

use std::fs;

use model::Sample;

use crate::{
    plugins::compile,
    traced::strace,
    world::{World, systems_sqlite},
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_storemark");

/// Runs `line` with its record in `r.json`. Returns the most flushes of a thread; `None` where nobody may
/// trace.
fn traced(world: &World, line: &str) -> Option<u64> {
    let traces = strace(world, line, &["-e", "trace=fsync,fdatasync,msync"])?;
    let of_thread = |thread: fs::DirEntry| {
        let text = fs::read_to_string(thread.path()).unwrap();
        text.lines().filter(|line| line.contains("sync(")).count() as u64
    };
    fs::read_dir(traces.path()).unwrap().map(|thread| of_thread(thread.unwrap())).max()
}

/// Returns the whole flushes per operation of a target: by the record of its steady pass, and as strace sees
/// them in both passes of its worker.
fn flushes(world: &World, target: &str) -> (u64, Option<u64>) {
    const COUNT: u64 = 600;
    let line = format!(
        "run {target} --update --keys {COUNT} --count {COUNT} --size 100 --batch 1 --rounds 1 \
         --json r.json"
    );
    let traced = traced(world, &line);
    let record = world.record("r.json");
    let sample = record.samples.last().unwrap();
    let flushes = sample.cost.flushes.expect("Linux counts");
    assert_eq!(sample.operations, COUNT, "{target}");
    let first = sample.first_pass().unwrap().operations;
    (flushes / COUNT, traced.map(|all| all / (first + COUNT)))
}

#[test]
fn flushes_are_those_that_strace_sees() {
    let world = World::new();
    let library = format!("sqlite:?journal=delete&sync=full&lib={}", systems_sqlite());
    let worker = format!("redb:?sync=immediate&worker={PROGRAM}");
    for (target, least) in [
        ("sqlite:?journal=delete&sync=full", 4),
        ("sqlite:?journal=wal&sync=full", 1),
        (&*library, 4),
        ("files:?sync=full", 2),
        ("lmdb:?sync=full", 1),
        ("redb:?sync=immediate", 1),
        (&*worker, 1),
        ("fjall:?sync=data", 1),
        #[cfg(feature = "rocksdb")]
        ("rocksdb:?wal=on&sync=on", 1),
    ] {
        let (counted, traced) = flushes(&world, target);
        assert!(counted >= least, "{target}: {counted}");
        assert!(traced.is_none_or(|traced| traced == counted), "{target}: {counted} {traced:?}");
    }
}

/// With `extra` SQLite flushes the folder after each commit, too.
const FULL: &str = "sqlite:?journal=delete&sync=full";
const EXTRA: &str = "sqlite:?journal=delete&sync=extra";
const WORK: &str = "--update --keys 100 --count 100 --size 100 --batch 1 --seed 7";

#[test]
fn one_more_flush_a_commit_fails_and_one_less_passes() {
    let world = World::new();
    let gated = |targets: &str, more: &str| {
        let ran = world.run(&format!("run {targets} {WORK} --fail-on {more} --json r.json"));
        (ran.code.unwrap(), ran.err)
    };
    let (code, said) = gated(&format!("{FULL} {EXTRA}"), "flushes");
    assert_eq!(code, 3, "{said}");
    let row = "gate on flushes: fail: update, warm: sqlite journal=delete sync=extra: flushes per \
               operation 4 → 5, in each of 3 rounds";
    assert!(said.contains(row), "{said}");
    let rounds = |record: &[Sample]| record.iter().map(|sample| sample.round).max();
    assert_eq!(rounds(&world.record("r.json").samples), Some(2));
    let (code, said) = gated(&format!("{EXTRA} {FULL}"), "flushes");
    assert_eq!((code, said.contains("gate on flushes: pass")), (0, true), "{said}");
    let (code, said) = gated(&format!("{FULL} {EXTRA}"), "flushes --rounds 1");
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("undecided: update, warm: sqlite journal=delete sync=extra: "), "{said}");
    assert!(said.contains("one round does not show whether the count repeats"), "{said}");
}

#[test]
fn a_gate_on_counters_needs_two_targets_and_known_words() {
    let world = World::new();
    let said = world.refused(&format!("run files: {WORK} --fail-on flushes"));
    assert!(said.contains("--fail-on compares targets with the baseline"), "{said}");
    let said = world.refused("run files: sqlite: --read --fail-on flush");
    assert!(said.contains("did you mean flushes?"), "{said}");
}

#[test]
fn two_records_are_compared_by_their_counters() {
    let world = World::new();
    world.ok(&format!("run {FULL} {WORK} --rounds 3 --json old.json --explain"));
    let old = fs::read_to_string(world.path("old.json")).unwrap();
    let new = old.replace("\"flushes\":400", "\"flushes\":500");
    assert_ne!(old, new, "100 operations of 4 flushes");
    world.write("new.json", new);
    let ran = world.run("compare old.json new.json --fail-on flushes,writes");
    let row = "update, warm: sqlite journal=delete sync=full: flushes per operation 4 → 5, in each \
               of 3 rounds";
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.words().contains("Counters that changed"), "{}", ran.out);
    assert!(ran.words().contains(row), "{}", ran.out);
    assert!(ran.err.contains(&format!("gate on flushes, writes: fail: {row}")), "{}", ran.err);
    for line in ["new.json old.json --fail-on flushes", "old.json old.json --fail-on calls"] {
        let ran = world.ok(&format!("compare {line}"));
        assert!(ran.err.contains(": pass"), "{}", ran.err);
    }
    // A record of an older version has no flushes.
    world.write("older.json", old.replace(",\"flushes\":400", ""));
    let ran = world.run("compare older.json old.json --fail-on flushes");
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("undecided: "), "{}", ran.err);
    assert!(ran.err.contains("flushes are not known of both"), "{}", ran.err);
}

#[test]
fn what_repeats_itself_is_listed() {
    let world = World::new();
    let ran = world.ok(&format!("run {FULL} {WORK} --rounds 2 --explain"));
    let words = ran.words();
    let list = words.split("so that --fail-on can compare it: ").nth(1).unwrap_or_default();
    assert!(list.starts_with("sqlite journal=delete sync=full flushes"), "{words}");
}

/// The calls and bytes of each pass of a target in `r.json`.
fn calls(world: &World, target: usize) -> Vec<(u64, u64, u64, u64, Option<u64>)> {
    let record = world.record("r.json");
    let of_target = record.samples.iter().filter(|sample| sample.target == target);
    let calls = |sample: &Sample| {
        let io = sample.io.expect("Linux counts");
        let flushes = sample.cost.flushes;
        let all = [io.read_calls, io.read_bytes, io.write_calls, io.written_bytes];
        let [reads, read, writes, written] = all.map(|count| count.expect("Linux counts"));
        (reads, read, writes, written, flushes)
    };
    of_target.map(calls).collect()
}

/// Neither its messages nor its clocks count, of which a busy machine has more.
#[test]
#[cfg(feature = "redb")]
fn a_worker_has_the_calls_of_its_engine_in_this_process() {
    let world = World::new();
    let work = format!("{WORK} --rounds 3 --json r.json");
    let target = "redb:?sync=immediate";
    world.ok(&format!("run {target} {work}"));
    let here = calls(&world, 0);
    assert!(here[0].2 >= 300, "{here:?}");
    let gate = "--fail-on calls,bytes";
    let ran = world.ok(&format!("run {target} {target}&worker={PROGRAM} {gate} {work}"));
    assert!(ran.err.contains("gate on calls, bytes: pass"), "{}", ran.err);
    for target in 0..2 {
        assert_eq!(calls(&world, target), here, "{target}");
    }
}

/// Passes are so long that the worker shows that it runs.
#[test]
fn a_plugin_has_the_calls_that_it_makes() {
    let world = World::new();
    let put =
        "    int found, is_alone = alone(session), removes = how == REMOVE, done = STOREMARK_NO;";
    let slow = format!("{put}\n    nanosleep(&(struct timespec){{ 0, 50000000 }}, NULL);");
    let include = "#include \"toy.h\"";
    let time = format!("{include}\n#include <time.h>");
    compile(&world, "slow.so", &[(put, &slow), (include, &time)]);
    let work = "--update --keys 50 --count 50 --size 100 --batch 1 --rounds 2 --json r.json";
    world.ok(&format!("run plugin:./slow.so?sync=full {work}"));
    // Each change is one write, of 24 bytes more than key and value, and one flush.
    assert_eq!(calls(&world, 0), [(0, 0, 50, 50 * (24 + 100), Some(50)); 2]);
}
