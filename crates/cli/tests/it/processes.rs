//! Workers in several processes: they share the keys out, start together, and end with the run.

#![cfg(unix)]

use std::{
    collections::BTreeSet,
    process::{Child, Command, Stdio},
};

use model::record::Record;

use crate::{
    running::{SAMPLE, signal, within},
    world::World,
};

/// Every sample tells of `processes` × `threads` workers that did all operations.
fn shared_out(record: &Record, processes: u32, threads: u32) {
    assert!(!record.samples.is_empty());
    for sample in &record.samples {
        let workload = record.header.plan.workloads[sample.workload];
        assert_eq!((workload.processes, workload.threads), (processes, threads));
        let of: Vec<u32> = sample.workers.iter().map(|worker| worker.process).collect();
        let expected: Vec<u32> =
            (0..processes).flat_map(|p| (0..threads).map(move |_| p)).collect();
        assert_eq!(of, expected, "{sample:?}");
        let operations: u64 = sample.workers.iter().map(|worker| worker.operations).sum();
        assert_eq!(operations, sample.operations);
        let longest = sample.workers.iter().map(|worker| worker.wall_ns).max();
        assert_eq!(longest, Some(sample.wall_ns - sample.settle_ns), "first start to last end");
        assert!(
            sample.latency().unwrap().operations > 0
                && !sample.latency().unwrap().histogram.is_empty()
        );
    }
}

#[test]
fn several_processes_update_one_store() {
    let world = World::new();
    let run = "run sqlite:?journal=wal sqlite:?journal=delete sqlite:?api=blob&journal=truncate \
               files: --keys 200 --size 2k --update --batch 5 --rounds 1 --json r.json";
    let out = world.ok(&format!("{run} --processes 2 --threads 4 --integrity-check -v")).out;
    assert!(out.contains("2 processes of 4 threads"), "{out}");
    let line = out.replace("\n  ", " ");
    assert!(line.contains("operations/s of each worker while it works"), "{out}");
    assert!(line.contains("is flushed: sqlite journal=wal "), "{out}");
    assert_eq!(out.matches("integrity-check: sqlite").count(), 3, "{out}");
    let record = world.record("r.json");
    assert_eq!(record.samples.len(), 4);
    shared_out(&record, 2, 4);
    for sample in record.samples.iter().filter(|sample| sample.target < 3) {
        let count = |name| sample.counters.get(name).copied();
        let (waits, retries) = (count(model::LOCK_WAITS), count(model::BUSY_RETRIES));
        assert!(waits.is_some() && retries >= waits, "{sample:?}");
    }
}

#[test]
fn waiting_is_shown_whenever_there_was_any() {
    let world = World::new();
    // All in one batch: the first to begin lets all others wait.
    let run = "run sqlite:?journal=wal --keys 400 --size 20k --count 4000 --update --rounds 1 --json r.json";
    let out = world.ok(&format!("{run} --processes 2 --threads 2 -v")).out;
    let record = world.record("r.json");
    assert!(record.samples[0].counters[model::LOCK_WAITS] >= 1, "{:?}", record.samples[0]);
    assert!(out.contains("lock waits per operation: sqlite"), "{out}");
    assert!(out.contains("busy retries per operation: sqlite"), "{out}");
    let out = world.ok("report r.json -v").out;
    assert!(out.contains("busy retries per operation: sqlite"), "{out}");
}

#[test]
fn several_processes_read_what_nobody_writes() {
    let world = World::new();
    let run = "run pack: pack:?io=mmap files: sqlite: null: --keys 300 --size 2k --read";
    let out = world.ok(&format!("{run} --rounds 1 --processes 3 --json r.json")).out;
    assert!(out.contains(", 3 processes\n"), "{out}");
    shared_out(&world.record("r.json"), 3, 1);
}

#[test]
fn every_order_and_state_and_kind_of_key_works() {
    let world = World::new();
    (0..40).for_each(|n| world.write(&format!("data/{}/{n}", n % 3), vec![7; 100 + n]));
    for order in ["", "--asc", "--desc", "--random"] {
        let run =
            "run files: sqlite: --data data --count 40 --rounds 1 --processes 2 --json r.json";
        world.ok(&format!("{run} --cache warm,data-cold {order}"));
        shared_out(&world.record("r.json"), 2, 1);
    }
}

#[test]
fn there_are_no_more_workers_than_keys() {
    let world = World::new();
    world.ok("run files: --keys 5 --size 100 --rounds 1 --processes 2 --threads 8 --json r.json");
    shared_out(&world.record("r.json"), 2, 2);
    world.ok("run files: --keys 1 --size 100 --rounds 1 --processes 3 --threads 8 --json r.json");
    assert!(world.record("r.json").samples.iter().all(|sample| sample.workers.is_empty()));
}

#[test]
#[cfg(target_os = "linux")]
fn what_the_processes_spend_and_occupy_counts() {
    let world = World::new();
    world.ok("run files: --keys 300 --size 2k --read --rounds 2 --processes 2 --json r.json");
    for sample in &world.record("r.json").samples {
        // Each, and the one that asks, has a pool of 8 MiB of payloads.
        assert!(sample.memory_bytes.unwrap() > 24 << 20, "{sample:?}");
        let io = sample.io.unwrap();
        assert!(io.read_calls >= Some(sample.operations), "{io:?}");
        assert!(io.read_bytes >= Some(sample.bytes), "{io:?}");
        assert!(sample.cost.user_ns + sample.cost.system_ns > 0);
    }
}

#[test]
fn a_store_for_one_process_is_refused_at_once() {
    let line = World::new().refused("run files: memory: --keys 20 --processes 2");
    assert!(line.contains("can be open in one process only: --threads gives"), "{line}");
}

#[test]
fn a_store_that_one_process_writes_is_refused_at_once_unless_it_is_shared() {
    let world = World::new();
    let run = "--processes 2 --rounds 1";
    for what in ["files: redb: --update", "redb:?share=readers --read"] {
        let line = world.refused(&format!("run {what} --keys 20 {run}"));
        assert!(line.contains("one process write, alone; redb:?share=writers lets"), "{line}");
    }
    world.ok(&format!("run redb:?share=writers --update --keys 20 {run}"));
    world.ok("init a.db --count 20 --size 100");
    world.ok("copy a.db redb:a.redb");
    world.ok(&format!("run a.redb {run}"));
}

#[test]
fn a_number_of_processes_out_of_bounds_is_refused() {
    for number in ["0", "-1", "x", "100000"] {
        World::new().refused(&format!("run files: --processes={number}"));
    }
}

#[test]
fn a_worker_is_not_started_by_hand() {
    let world = World::new();
    assert!(!world.ok("--help").out.contains("worker"));
    // An input that ends at once is that of a run that needs it no longer.
    let unwanted = world.command("worker").stdin(Stdio::null()).output().unwrap();
    assert!(unwanted.status.success() && unwanted.stderr.is_empty(), "{unwanted:?}");
    for said in ["\n", "hello\n", "{\"end\":null}\n", "\"end\"\n", "{\"begin\":{}}\n"] {
        let mut command = world.command("worker");
        command.stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), said.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), err.lines().count()), (Some(1), 1), "{said:?}: {err}");
        assert!(err.contains("storemark run --processes"), "{err}");
    }
}

/// A long run with two worker processes, under way.
fn under_way(world: &World, targets: &str) -> (Child, Vec<u32>) {
    let run = format!("run {targets} --keys 300 --size 2k --update --batch 1 --processes 2");
    let line = format!("{run} --rounds 100000 --json r.json");
    let child = world.under_way(&line, "r.json", SAMPLE, 1);
    let workers = workers_of(child.id());
    assert_eq!(workers.len(), 2, "{workers:?}");
    (child, workers)
}

/// Workers that `of` started; it has other children too.
fn workers_of(of: u32) -> Vec<u32> {
    let output = Command::new("ps").args(["-A", "-o", "pid=,ppid=,args="]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let own = text.lines().filter(|line| {
        let parent = line.split_whitespace().nth(1);
        parent == Some(&of.to_string()) && line.ends_with(" worker")
    });
    own.filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
}

/// None of `workers` is left after some seconds.
fn ended(workers: &[u32]) {
    let alive = || {
        let output = Command::new("ps").args(["-A", "-o", "pid=,stat="]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let all = text.lines().filter_map(|line| line.trim().split_once(' '));
        // A zombie waits for whoever adopted it.
        let living = all.filter(|(_, state)| !state.trim().starts_with('Z'));
        let ids: BTreeSet<u32> = living.filter_map(|(pid, _)| pid.parse().ok()).collect();
        workers.iter().any(|worker| ids.contains(worker))
    };
    assert!(within(10, || !alive()), "a worker outlived its run by 10 s");
}

fn scratch_left(world: &World) -> bool {
    world.names(".").iter().any(|name| name.starts_with("storemark-scratch-"))
}

#[test]
fn workers_end_when_the_run_is_stopped() {
    for name in ["INT", "TERM"] {
        let world = World::new();
        let (mut child, workers) = under_way(&world, "sqlite:?journal=wal");
        signal(child.id(), name);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{name}");
        ended(&workers);
        assert!(!scratch_left(&world));
        assert!(world.ok("report r.json").out.contains("interrupted"));
    }
}

#[test]
fn workers_never_outlive_a_killed_run() {
    let world = World::new();
    let (mut child, workers) = under_way(&world, "sqlite:?journal=wal");
    signal(child.id(), "KILL");
    child.wait().unwrap();
    ended(&workers);
    world.ok("run files: --keys 2 --size 10 --rounds 1");
    assert!(!scratch_left(&world));
}

#[test]
fn a_worker_that_dies_fails_the_run_and_what_was_measured_is_kept() {
    let world = World::new();
    let (child, workers) = under_way(&world, "sqlite:?journal=wal");
    signal(workers[1], "KILL");
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.contains("sqlite journal=wal not measured to the end"), "{err}");
    ended(&workers);
    assert!(!scratch_left(&world) && !world.record("r.json").samples.is_empty());
    let page = world.ok("report r.json").out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("worker process 2: ended before its work was done"), "{page}");
}

#[test]
fn a_worker_that_dies_fails_one_target_and_the_others_go_on() {
    let world = World::new();
    let (child, workers) = under_way(&world, "sqlite: files:");
    signal(workers[0], "KILL");
    let text = || world.text("r.json");
    let since = |text: String| {
        let (_, after) = text.split_once("ended before its work was done")?;
        Some(after.matches(r#"{"line":"sample""#).count())
    };
    let on = within(30, || since(text()) >= Some(3));
    signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    assert!(on && output.status.code() == Some(130), "{output:?}: {}", text());
    assert_eq!(text().matches("worker process 1: ended before").count(), 1, "{}", text());
    assert!(!scratch_left(&world));
}
