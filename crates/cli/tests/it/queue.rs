//! `storemark queue` and `--on` from outside.

use std::{
    fs,
    process::{Child, Stdio},
};

use crate::{
    running::{SAMPLE, signal, within},
    world::{Ran, World},
};

const QUICK: &str = "--workers 4 --tasks 2 --rounds 1 -q";

fn left(world: &World) -> Vec<std::path::PathBuf> {
    world.tree().into_keys().collect()
}

#[test]
fn files_and_sqlite_are_measured_and_leave_nothing() {
    let world = World::new();
    let targets = "files:?write=rename files:?write=inplace sqlite: sqlite:?connection=shared \
                   sqlite:?journal=wal&sync=normal&connection=pool";
    let ran = world.ok(&format!("queue {targets} {QUICK} --json r.jsonl"));
    for shown in [
        "4 workers, 2 tasks each: created, status changed, output of 33 B rewritten 10 times",
        "files write=inplace",
        "sqlite connection=shared",
        "durability differs",
    ] {
        assert!(ran.out.contains(shown), "{shown}\n{}", ran.out);
    }
    // Published were 100 workers.
    assert!(!ran.out.contains("DBENCH"), "{}", ran.out);
    assert_eq!(left(&world), [world.path("r.jsonl")]);
    let record = fs::read_to_string(world.path("r.jsonl")).unwrap();
    for told in [r#""steps":{"create":{"#, r#""work":"tasks""#, r#""experiment":{"tasks":{"#] {
        assert!(record.contains(told), "{told}");
    }
    assert_eq!(world.ok("report r.jsonl").out, ran.out);
}

#[test]
fn published_figures_stand_beside_those_of_as_many_workers() {
    let world = World::new();
    let line = "queue files:?write=rename --tasks 1 --rounds 1 -q";
    let out = world.ok(line).out;
    // They are of btrfs and ext4.
    let of_kind = ["ext4", "btrfs"].iter().any(|kind| out.contains(&format!(", {kind}")));
    assert_eq!(out.contains("“DBENCH”, github.com/chrisdavies/dbench"), of_kind, "{out}");
}

#[test]
fn every_class_is_the_same_for_all() {
    for class in ["none", "consistent", "durable"] {
        let world = World::new();
        let ran = world.ok(&format!("queue --durability {class} {QUICK} -v --json r.jsonl"));
        assert!(!ran.out.contains("durability differs"), "{}", ran.out);
        assert!(ran.out.contains(&format!("durability={class}")), "{}", ran.out);
        assert!(ran.out.contains("sqlite connection=pool"), "{}", ran.out);
        assert_eq!(left(&world), [world.path("r.jsonl")]);
    }
}

#[test]
fn waiting_for_each_other_is_shown() {
    let world = World::new();
    // Each step is a transaction: none of eight workers gets through without waiting.
    let ran =
        world.ok("queue sqlite:?sync=off --workers 8 --tasks 10 --rounds 1 -q -v --json r.jsonl");
    let record = fs::read_to_string(world.path("r.jsonl")).unwrap();
    assert!(record.contains("lock waits") && record.contains("busy retries"), "{record}");
    let row = ran.out.lines().rfind(|line| line.starts_with("sqlite ")).unwrap();
    let waits: f64 = row.split_whitespace().nth(3).unwrap().parse().unwrap();
    assert!(waits > 0.0, "{}", ran.out);
}

#[test]
fn targets_stand_on_each_folder_and_are_compared_within_it() {
    let world = World::new();
    for folder in ["a", "b", "ext4"] {
        fs::create_dir(world.path(folder)).unwrap();
    }
    let ran = world.ok(&format!("queue files: sqlite: --on a,b,./ext4 {QUICK} --json r.jsonl"));
    for shown in ["files on ", " in a", "sqlite on ", " in ./ext4", "on the same file system"] {
        assert!(ran.out.contains(shown), "{shown}\n{}", ran.out);
    }
    let folders = ["a", "b", "ext4", "r.jsonl"].map(|name| world.path(name));
    assert_eq!(left(&world), folders);
}

#[test]
fn bad_input_gets_one_line() {
    let world = World::new();
    world.write("file", "x");
    world.refuses([
        ("queue nosuch:", "no engine \"nosuch\""),
        ("queue sqlit:", "did you mean sqlite?"),
        ("queue a.db", "names no engine"),
        ("queue sqlite:a.db", "leave out \"a.db\""),
        ("queue sqlite:?connection=owned", "accepted: own, shared, pool"),
        ("queue files:?writ=rename", "did you mean write?"),
        ("queue files: --tasks 0", "--tasks 0: accepted is 1 or more"),
        ("queue files: --tasks 1g", "accepted is up to 100,000 for 100 workers"),
        ("queue files: --workers 0", "a whole number, 1 to 1024"),
        ("queue files: --rewrites 1m --output 1k", "accepted is up to 268,435,456 bytes together"),
        ("queue files: --baseline sqlite", "no such target"),
        ("queue files: --scratch absent", "absent does not exist"),
        ("queue files: --durability solid", "accepted: none, consistent, durable"),
        ("queue files: --image-size 1G", "--on"),
        ("queue files: --on etx4", "did you mean ext4?"),
        ("queue files: --on zfs", "accepted: a folder, plain, scanned, clamav, ext4, xfs, btrfs"),
        ("queue files: --on ./ext4", "./ext4: no such folder"),
        ("queue files: --on file", "file: is no folder"),
        ("queue files: --on a,", "no such folder"),
    ]);
}

/// What of a world is mounted, and the loop devices of its images.
#[cfg(target_os = "linux")]
fn held(world: &World) -> Vec<String> {
    let folder = world.path("").canonicalize().unwrap().display().to_string();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let files = devices
        .filter_map(|device| fs::read_to_string(device.path().join("loop/backing_file")).ok());
    let all = mounts.lines().map(str::to_owned).chain(files);
    all.filter(|line| line.contains(&folder)).collect()
}

/// Why images cannot be mounted here, in words that an honest answer has.
#[cfg(target_os = "linux")]
fn refusal(ran: &Ran) -> bool {
    ["only root may mount", "is not installed", "no loop device", "failed (exit status"]
        .iter()
        .any(|why| ran.err.contains(why))
}

/// As root with loop devices the images are there; elsewhere one line says why not.
#[test]
#[cfg(target_os = "linux")]
fn images_are_measured_and_leave_nothing() {
    let world = World::new();
    let line = "queue files: sqlite: --durability durable --on ext4,xfs,btrfs --image-size 320MiB";
    // All findings: on a busy machine others are before that of the loop device.
    let ran = world.run(&format!("{line} {QUICK} -v --json r.jsonl"));
    assert_eq!(held(&world), [""; 0]);
    if ran.code != Some(0) {
        assert!(
            ran.code == Some(1) && ran.err.lines().count() == 1 && refusal(&ran),
            "{}",
            ran.err
        );
        assert!(left(&world).is_empty());
        return;
    }
    for shown in ["files on ext4", "sqlite on xfs", "sqlite on btrfs", "a loop device"] {
        assert!(ran.out.contains(shown), "{shown}\n{}", ran.out);
    }
    assert_eq!(left(&world), [world.path("r.jsonl")]);
    let record = fs::read_to_string(world.path("r.jsonl")).unwrap();
    for told in [r#""on":"btrfs""#, r#""kind":"xfs""#, r#""loop_direct_io":"#] {
        assert!(record.contains(told), "{told}");
    }
    for (size, answer) in
        [("100MiB", "xfs: an image of 105 MB is too small"), ("9000000GiB", "images may take")]
    {
        let said = world.refused(&format!("queue files: --on ext4,xfs --image-size {size}"));
        assert!(said.contains(answer), "{said}");
    }
}

/// Processes of ClamAV whose folder is in the world, also if it was removed.
#[cfg(target_os = "linux")]
fn scanners_in(world: &World) -> Vec<String> {
    let folder = world.path("").canonicalize().unwrap();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let own = processes.filter(|process| {
        let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
        let place = fs::read_link(process.path().join("cwd"));
        name.starts_with("clamd") && place.is_ok_and(|place| place.starts_with(&folder))
    });
    own.map(|process| process.path().display().to_string()).collect()
}

/// As root a scanner is in the way; elsewhere one line says why not. Nothing stays mounted, also after a
/// run that was killed while files waited for it.
#[test]
#[cfg(target_os = "linux")]
fn a_scanner_is_in_the_way_of_what_is_placed_behind_it() {
    let world = World::new();
    let line = "run files: sqlite: --update --read --on plain,scanned,clamav --keys 50 --size 2k";
    let ran = world.run(&format!("{line} --rounds 1 -q"));
    assert_eq!(held(&world), [""; 0]);
    if ran.code != Some(0) {
        let why = ["only root on Linux", "mount failed", "the system asks no scanner"];
        assert!(why.iter().any(|why| ran.err.contains(why)), "{}", ran.err);
        assert_eq!((ran.code, ran.err.lines().count()), (Some(1), 1), "{}", ran.err);
        return;
    }
    for shown in ["files on plain", "files on scanned", "sqlite on scanned", "sqlite on clamav"] {
        assert!(ran.out.contains(shown), "{shown}\n{}", ran.out);
    }
    assert!(left(&world).is_empty());
    let line = format!("{line} --rounds 100000 --json run.json");
    let mut child = world.under_way(&line, "run.json", SAMPLE, 3);
    signal(child.id(), "KILL");
    child.wait().unwrap();
    let gone = || held(&world).is_empty() && left(&world) == [world.path("run.json.unfinished")];
    assert!(within(30, gone), "{:?} {:?}", held(&world), left(&world));
    assert!(within(30, || scanners_in(&world).is_empty()), "{:?}", scanners_in(&world));
}

#[test]
fn runs_stand_on_each_folder_too() {
    let world = World::new();
    fs::create_dir(world.path("a")).unwrap();
    fs::create_dir(world.path("b")).unwrap();
    let line = "run files: sqlite: --read --keys 20 --rounds 1 -q --on a,b --json r.jsonl";
    let ran = world.ok(line);
    for shown in ["files on ", " in a", "sqlite on ", " in b"] {
        assert!(ran.out.contains(shown), "{shown}\n{}", ran.out);
    }
    assert_eq!(left(&world), ["a", "b", "r.jsonl"].map(|name| world.path(name)));
    for target in ["memory:", "a"] {
        let said = world.refused(&format!("run {target} --on a,b"));
        assert!(said.contains("--on places scratch stores on file systems"), "{said}");
    }
}

/// What measures on file systems: tasks, and blobs.
#[cfg(target_os = "linux")]
const MEASURING: [&str; 2] =
    ["queue files: sqlite: --workers 8 --tasks 10", "run files: sqlite: --keys 40 --size 2k"];

/// A run on images that has finished a trial; `None` where there can be none.
#[cfg(target_os = "linux")]
fn under_way(world: &World, measuring: &str) -> Option<Child> {
    let on = "--on ext4,btrfs --image-size 120MiB --rounds 100000 --json r.jsonl";
    let mut command = world.command(&format!("{measuring} {on}"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut has_ended = false;
    assert!(within(300, || {
        has_ended = child.try_wait().unwrap().is_some();
        has_ended || world.count("r.jsonl", SAMPLE) > 0
    }));
    if has_ended {
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert!(ran.code == Some(1) && refusal(&ran), "{}", ran.err);
        return None;
    }
    assert!(held(world).len() >= 2, "{:?}", held(world));
    Some(child)
}

#[test]
#[cfg(target_os = "linux")]
fn interrupted_it_unmounts_and_keeps_what_was_measured() {
    for measuring in MEASURING {
        let world = World::new();
        let Some(mut child) = under_way(&world, measuring) else { continue };
        signal(child.id(), "INT");
        assert_eq!(child.wait().unwrap().code(), Some(130), "{measuring}");
        assert_eq!(held(&world), [""; 0], "{measuring}");
        assert_eq!(left(&world), [world.path("r.jsonl")], "{measuring}");
        let shown = world.ok("report r.jsonl").out;
        // Any target may have come first.
        let measured = ["on ext4", "on btrfs"].iter().any(|place| shown.contains(place));
        assert!(shown.contains("interrupted") && measured, "{shown}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn killed_it_is_unmounted_soon() {
    for measuring in MEASURING {
        let world = World::new();
        let Some(mut child) = under_way(&world, measuring) else { continue };
        signal(child.id(), "KILL");
        child.wait().unwrap();
        // Not `left`: what is in a folder that is being removed cannot be walked.
        let names = || -> Vec<_> {
            let entries = fs::read_dir(world.path("")).unwrap().flatten();
            entries.map(|entry| entry.file_name()).collect()
        };
        let gone = within(60, || held(&world).is_empty() && names() == ["r.jsonl.unfinished"]);
        assert!(gone, "{measuring}: {:?} {:?}", held(&world), names());
    }
}
