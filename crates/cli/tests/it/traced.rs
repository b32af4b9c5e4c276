//! What workers ask of the system for each value, as strace sees it.

#![cfg(target_os = "linux")]

use std::{
    collections::BTreeSet,
    fs,
    process::{Command, Stdio},
};

use model::{Finding, FindingKind};
use rustix::thread::CpuSet;

use crate::world::World;

/// A call about files: its name, and the last file that it names.
#[derive(Debug)]
struct Call {
    name: String,
    file: String,
    line: String,
}

impl Call {
    /// From a line such as `1763760000.123456 read(4</tmp/a.dir/000001>, "…"..., 3000) = 3000`.
    fn read(line: &str) -> Option<Self> {
        let (_, call) = line.split_once(' ')?;
        let (name, _) = call.split_once('(')?;
        let (_, file) = line.rsplit_once("a.dir")?;
        let file = file.split(['>', '"']).next()?.trim_start_matches('/');
        Some(Self { name: name.to_owned(), file: file.to_owned(), line: line.to_owned() })
    }
}

/// A folder of so many files of 3000 bytes.
fn world(files: u32) -> World {
    let world = World::new();
    world.ok(&format!("init a.db --count {files} --size 3000"));
    world.ok("export a.db a.dir");
    world
}

/// Runs `line` on one processor, on which one thread prepares, and returns a folder with a trace of each thread;
/// `None` where nobody may trace.
pub(crate) fn strace(world: &World, line: &str, options: &[&str]) -> Option<tempfile::TempDir> {
    let program = world.command(line);
    let traces = tempfile::tempdir().unwrap();
    let own = rustix::thread::sched_getaffinity(None).unwrap();
    let first = (0..CpuSet::MAX_CPU).find(|processor| own.is_set(*processor)).unwrap();
    let output = Command::new("taskset")
        .args(["-c", &first.to_string(), "strace", "-ff", "-qq"])
        .args(options)
        .arg("-o")
        .arg(traces.path().join("of"))
        .arg(program.get_program())
        .args(program.get_args())
        .current_dir(world.path(""))
        .stdout(Stdio::null())
        .output()
        .expect(
            "taskset is part of every Debian (util-linux), and strace is installed by `make test`",
        );
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("ptrace") && said.contains("not permitted") {
        host::unchecked("strace", &said);
        world.ok(line);
        return None;
    }
    assert!(output.status.success(), "{line}: {said}");
    Some(traces)
}

/// Runs `line` and returns what each worker asked of files in `a.dir`, in the order in which they
/// began: the pilot's first, then that of each trial. `None` where nobody may trace.
fn traced(world: &World, line: &str) -> Option<Vec<Vec<Call>>> {
    // Each file's path follows its descriptor.
    let traces = strace(world, line, &["-ttt", "-y", "-e", "trace=%file,%desc"])?;
    let threads = fs::read_dir(traces.path()).unwrap();
    let mut workers: Vec<Vec<Call>> = threads
        .map(|thread| fs::read_to_string(thread.unwrap().path()).unwrap())
        // The thread that the program began as prepares and looks on; that of a worker process works.
        .filter(|text| !text.contains("execve(") || text.contains(r#""worker""#))
        .map(|text| text.lines().filter_map(Call::read).collect())
        .collect();
    for calls in &mut workers {
        // A build with checks makes sure that what it closes is open.
        calls.retain(|call| !(call.name == "fcntl" && call.line.contains("F_GETFD")));
    }
    // Those that remove a scratch store are no workers.
    let removes = |call: &Call| ["unlink", "rmdir"].contains(&call.name.as_str());
    let opens_folder = |call: &Call| call.name == "open" && call.file.is_empty();
    for calls in &mut workers {
        // A worker process opens the folder as well.
        if calls.iter().any(opens_folder) {
            calls.retain(|call| !call.file.is_empty() || removes(call));
        }
    }
    workers.retain(|calls| !calls.iter().any(removes));
    // One that lists a folder that is removed meanwhile names none of its files.
    workers.retain(|calls| calls.iter().any(|call| !call.file.is_empty()));
    workers.sort_by(|one, other| one[0].line.cmp(&other[0].line));
    assert!(workers.len() > 1, "the pilot's, and that of each trial");
    Some(workers)
}

fn names(calls: &[Call]) -> Vec<&str> {
    calls.iter().map(|call| call.name.as_str()).collect()
}

/// The files that the worker of each trial opened, in order.
fn opened(world: &World, line: &str) -> Option<Vec<Vec<String>>> {
    let opened = |calls: Vec<Call>| {
        let opening = calls.into_iter().filter(|call| call.name == "openat");
        opening.map(|call| call.file).collect()
    };
    Some(traced(world, line)?.into_iter().skip(1).map(opened).collect())
}

#[test]
fn reading_a_file_takes_four_calls() {
    let world = world(50);
    let Some(workers) = traced(&world, "run a.dir --rounds 1 --count 50") else { return };
    for value in workers.iter().flat_map(|calls| calls.chunks(4)) {
        assert_eq!(names(value), ["openat", "fstat", "read", "close"], "{value:?}");
        assert!(value.iter().all(|call| call.file == value[0].file), "{value:?}");
    }
}

/// More files than kvtest takes keys by itself.
#[test]
fn every_key_is_read_in_an_order_of_its_own() {
    const KEYS: usize = 1_100;
    let world = world(1_100);
    // Without slices, whose number depends on how fast reads are.
    let line = format!("run a.dir --rounds 2 --count {KEYS} --processes 1");
    let Some(workers) = opened(&world, &line) else { return };
    let mut orders = BTreeSet::new();
    for pass in workers.iter().flat_map(|files| files.chunks_exact(KEYS)) {
        assert_eq!(pass.iter().collect::<BTreeSet<_>>().len(), KEYS, "each once");
        assert!(!pass.is_sorted(), "the order of insertion");
        orders.insert(pass);
    }
    assert_eq!(orders.len(), 2, "one in each round, for all of its passes");
}

/// The files of the values that were read before the rounds, each as often as it was read; `None` where nobody
/// may trace.
fn prepared(world: &World, line: &str) -> Option<Vec<String>> {
    let traces = strace(world, line, &["-y", "-r", "-e", "trace=read,execve"])?;
    let texts = fs::read_dir(traces.path()).unwrap();
    let mut texts = texts.map(|thread| fs::read_to_string(thread.unwrap().path()).unwrap());
    let is_first = |text: &String| text.contains("execve(") && !text.contains(r#""worker""#);
    let preparing = texts.find(is_first).expect("the thread that the program began as");
    let is_value = |line: &&str| line.contains("a.dir/") && line.ends_with("= 3000");
    let reads = preparing.lines().filter(is_value).filter_map(Call::read);
    Some(reads.map(|call| call.file).collect())
}

/// Linux moves a page to its active list at the second read, which takes longer than any later one.
#[test]
fn values_of_a_user_are_read_twice_before_they_are_measured() {
    const FILES: usize = 300;
    let small = world(300);
    let Some(reads) = prepared(&small, "run a.dir --read --rounds 1 --time 60s") else { return };
    assert_eq!(reads.len(), 2 * FILES, "to bring them into memory, and to check them");
    let reads = prepared(&small, "run a.dir a.dir --read --rounds 1 --time 60s").unwrap();
    assert_eq!(reads.len(), 3 * FILES, "once for both, and to check each");
    // Reading all of these takes more than a twentieth of the time, so that they stay in memory as they came.
    let large = world(4_000);
    let left_as_it_came = || {
        let reads = prepared(&large, "run a.dir --read --rounds 1 --time 2s --json r.json")?;
        let is_left = |finding: &Finding| {
            matches!(finding.kind, FindingKind::NotReadWhole | FindingKind::FilesNotExamined { .. })
        };
        let is_named = large.record("r.json").findings.iter().any(is_left);
        let files: BTreeSet<_> = reads.iter().collect();
        is_named.then_some(reads.len() > files.len())
    };
    // Another test may drop all pages meanwhile.
    assert_eq!((0..5).find_map(|_| left_as_it_came()), Some(true), "to check them, and once more");
}

#[test]
fn ascending_is_the_order_of_insertion_and_said_to_be() {
    let world = world(50);
    let line = "run a.dir --rounds 1 --count 50 --asc --processes 1";
    let out = world.ok(&format!("{line} --verbose")).out;
    assert!(out.contains("keys are touched in a fixed order"), "{out}");
    let Some(workers) = opened(&world, line) else { return };
    let passes = workers.iter().flat_map(|files| files.chunks_exact(50));
    assert!(passes.clone().count() >= 2 && passes.clone().all(<[_]>::is_sorted), "{workers:?}");
}

#[test]
fn a_file_is_flushed_once_its_bytes_are_written() {
    let world = world(20);
    let line = "run a.dir --update --fsync --rounds 1 --count 20";
    let Some(workers) = traced(&world, line) else { return };
    for value in workers.iter().flat_map(|calls| calls.chunks(4)) {
        assert_eq!(names(value), ["openat", "write", "fdatasync", "close"], "{value:?}");
        assert!(value[1].line.ends_with(", 3000) = 3000"), "{value:?}");
    }
}

#[test]
fn a_durable_file_is_flushed_before_it_is_renamed_and_its_folder_afterwards() {
    let world = world(20);
    let line = "run a.dir --update --durability durable --batch 10 --rounds 1 --count 20";
    let Some(workers) = traced(&world, line) else { return };
    let one = ["newfstatat", "openat", "write", "fsync", "close", "renameat"];
    for batch in workers.iter().flat_map(|calls| calls.chunks(10 * one.len() + 3)) {
        let (values, folder) = batch.split_at(10 * one.len());
        for value in values.chunks(one.len()) {
            assert_eq!(names(value), one, "{value:?}");
            assert!(value[2].line.ends_with(", 3000) = 3000"), "{value:?}");
        }
        assert_eq!(names(folder), ["openat", "fsync", "close"], "{folder:?}");
        assert!(folder[1].line.contains("/a.dir>)"), "{folder:?}");
    }
}
