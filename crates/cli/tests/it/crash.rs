//! `storemark crash`: planted faults are found, correct programs are not accused, and nothing stays behind.
#![cfg(target_os = "linux")]

use std::{fs, path::Path};

use crate::{
    servers::without,
    world::{Ran, World},
};

/// A program with a fault: values by rename, a log, a page in place, or data with a marker.
const WRITER: &str = r#"#!/usr/bin/env python3
import os, sys, time
fault = sys.argv[1]

def flush(path):
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)

def write(path, text, offset=0, flags=0):
    fd = os.open(path, os.O_CREAT | os.O_WRONLY | flags)
    os.pwrite(fd, text, offset)
    os.close(fd)

def ack(n):
    os.write(1, b"ACK %d\n" % n)

for n in range(1, 10):
    if fault in ("ack", "late"):
        ack(n)
    if fault == "late":
        time.sleep(0.1)
    if fault in ("none", "folder", "rename", "ack", "late"):
        write("a.tmp", b"%d\n" % n * 4000, flags=os.O_TRUNC)
        if fault != "rename":
            flush("a.tmp")
        os.rename("a.tmp", "a")
        if fault == "rename":
            flush("a")
        if fault != "folder":
            flush(".")
    elif fault == "noop":
        os.fsync = lambda fd: None
        write("log", b"%d\n" % n, 2 * (n - 1))
    elif fault == "torn":
        write("page", b"%d" % n * 4096)
        flush("page")
    elif fault == "order":
        write("data", b"%d\n" % n)
        write("marker", b"%d\n" % n)
        for name in ("marker", "data", "."):
            flush(name)
    if fault not in ("ack", "late"):
        ack(n)
"#;

const CHECK: &str = r#"#!/bin/sh
last=$(tail -n 1 "$STOREMARK_ACKED")
cd "$1" || exit 1
fail() { echo "$1"; exit 1; }
is_whole() { [ "$(uniq a | wc -l)" = 1 ] && [ "$(wc -l <a)" = 4000 ]; }
is_older() { [ "$(head -n 1 "$1")" -lt "${last:-0}" ]; }
[ -z "$last" ] || [ -n "$(ls)" ] || fail "nothing is there"
if [ -e a ]; then is_whole || fail "a is not whole"; ! is_older a || fail "a is older than $last"; fi
[ -z "$last" ] || [ -e a ] || [ -e log ] || [ -e page ] || [ -e data ] || fail "a is not there"
if [ -e log ]; then [ -z "$last" ] || grep -qx "$last" log || fail "$last is not in the log"; fi
if [ -s page ] && [ -n "$last" ]; then
  [ "$(head -c 4096 page | tr -d "$(head -c 1 page)" | wc -c)" = 0 ] || fail "the page is of two versions"
fi
if [ -s marker ]; then
  [ -s data ] && [ "$(cat marker)" -le "$(cat data)" ] || fail "the marker is newer than the data"
fi
exit 0
"#;

/// A world with the writer and its check.
pub(crate) fn world() -> World {
    let world = World::new();
    world.program("writer.py", WRITER);
    world.program("check.sh", CHECK);
    world
}

fn crash(world: &World, fault: &str, options: &str) -> Ran {
    world.run(&format!("crash --check ./check.sh {options} -- ./writer.py {fault}"))
}

/// Whether a scratch folder or a mount of it is left.
pub(crate) fn is_clean(world: &World) -> bool {
    let folder = world.path("").canonicalize().unwrap();
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    let left = world.names(".").into_iter().filter(|name| name.starts_with("storemark-scratch"));
    left.count() == 0 && !mounts.contains(&*folder.to_string_lossy())
}

#[test]
fn planted_faults_are_found() {
    if without("fuse") {
        return;
    }
    let world = world();
    let faults = [
        ("folder", "the folder `.` was not flushed after the rename of `a.tmp` to `a`"),
        ("rename", "was not flushed after"),
        ("noop", "was not flushed after the"),
        ("ack", "model kill"),
        ("torn", "model torn-512"),
        ("order", "the marker is newer than the data"),
    ];
    for (fault, says) in faults {
        let ran = crash(&world, fault, "--states 120 --models kill,ordered,torn --seed 1");
        assert_eq!(ran.code, Some(3), "{fault}: {}{}", ran.out, ran.err);
        assert!(ran.words().contains(says), "{fault}: {}", ran.out);
    }
    assert!(is_clean(&world));
}

/// A program that goes on after a failed flush, or stops.
const FAILING: &str = r#"#!/usr/bin/env python3
import os, sys
fd = os.open("log", os.O_CREAT | os.O_WRONLY)
for n in range(1, 9):
    os.pwrite(fd, b"%d\n" % n * 2048, 4096 * (n - 1))
    try:
        os.fsync(fd)
    except OSError:
        if sys.argv[1] == "stops":
            raise
    os.write(1, b"ACK %d\n" % n)
"#;

const PAGES: &str = r#"#!/bin/sh
for n in $(cat "$STOREMARK_ACKED"); do
  first=$(tail -c +$((4096 * n - 4095)) "$1/log" | head -c 1 | tr '\0' 0)
  [ "$first" = "$n" ] || { echo "$n is lost"; exit 1; }
done
"#;

#[test]
fn a_program_that_goes_on_after_a_failed_flush_loses_what_it_acknowledged() {
    if without("fuse") {
        return;
    }
    let world = World::new();
    world.program("failing.py", FAILING);
    world.program("pages.sh", PAGES);
    // The page after each failed flush is flushed as usual.
    for (does, code, kept, reported) in [("goes-on", 3, 0, 0), ("stops", 0, 8, 8)] {
        let options = "--models eio --seed 1 --json -";
        let ran = world.run(&format!("crash --check ./pages.sh {options} -- ./failing.py {does}"));
        assert_eq!(ran.code, Some(code), "{does}: {}{}", ran.out, ran.err);
        let result: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let row = &result["models"][0];
        let found = ["states", "kept", "reported"].map(|name| row[name].as_u64().unwrap());
        assert_eq!(
            (row["model"].as_str(), found),
            (Some("eio"), [8, kept, reported]),
            "{result:#}"
        );
        if does == "goes-on" {
            let first = &result["first"];
            assert_eq!((&first["reason"], &first["cut"]), (&"1 is lost".into(), &0.into()));
            assert_eq!(first["at"], "at the failed flush of `log`");
        }
    }
    let again = "--models eio --seed 1 --cut 3 --keep state";
    let ran = world.run(&format!("crash --check ./pages.sh {again} -- ./failing.py goes-on"));
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.err);
    assert!(ran.words().contains("4 is lost"), "{}", ran.out);
    let log = fs::read(world.path("state/log")).unwrap();
    assert_eq!((log[2 * 4096], log[3 * 4096], log[4 * 4096]), (b'3', 0, b'5'));
    assert!(is_clean(&world));
}

/// Only the moments of a program whose check counts no commits are known.
#[test]
fn a_page_shows_the_moments_that_break_the_promise_and_the_command_that_makes_the_state_again() {
    if without("fuse") {
        return;
    }
    let world = world();
    let ran = crash(&world, "folder", "--states 60 --models ordered --seed 3 --html page.html");
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.err);
    let page = fs::read_to_string(world.path("page.html")).unwrap();
    for part in [
        "<h1>What does a power cut leave of what ./writer.py wrote?</h1>",
        "data-chart=\"power-cuts-1\"",
        "At which moments does a cut break the promise?",
        "the folder `.` was not flushed after the rename",
        "<strong>again: </strong><code class=\"command\">storemark crash --check ./check.sh --cut ",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
}

#[test]
fn a_program_that_flushes_is_not_accused() {
    if without("fuse") {
        return;
    }
    let world = world();
    let ran = crash(&world, "none", "--states 200 --seed 2");
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("kept its promise in") && is_clean(&world), "{}", ran.out);
}

#[test]
fn a_broken_state_is_made_again() {
    if without("fuse") {
        return;
    }
    let world = world();
    let ran = crash(&world, "folder", "--states 60 --models ordered --seed 3 --json -");
    let result: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let first = &result["first"];
    let options =
        format!("--cut {} --seed {} --models ordered --keep state", first["cut"], first["seed"]);
    let again = crash(&world, "folder", &options);
    assert_eq!(again.code, Some(3), "{}{}", again.out, again.err);
    assert!(again.words().contains(first["reason"].as_str().unwrap()), "{}", again.out);
    assert!(world.path("state").is_dir());
    assert!(crash(&world, "folder", &options).err.contains("exists already"));
}

/// The reason is a sum of the bytes of a torn page, so that another choice of what is lost shows.
#[test]
fn the_seed_makes_the_same_bytes_again() {
    if without("fuse") {
        return;
    }
    let world = world();
    let sums = "#!/bin/sh\ncd \"$1\" && [ -s page ] || exit 0\n\
        [ \"$(fold -w 1 page | sort -u | wc -l)\" = 1 ] || { cksum <page; exit 1; }\n";
    world.program("sums.sh", sums);
    let first = |options: &str| -> serde_json::Value {
        let options = format!("--models torn-512 --json - {options}");
        let ran = world.run(&format!("crash --check ./sums.sh {options} -- ./writer.py torn"));
        let result: serde_json::Value = serde_json::from_str(&ran.out).expect(&ran.err);
        result["first"].clone()
    };
    let broken = first("--states 40 --seed 3");
    let options = format!("--cut {} --seed {} --keep state", broken["cut"], broken["seed"]);
    assert!(broken["reason"].is_string(), "{broken}");
    assert_eq!(first(&options)["reason"], broken["reason"]);
}

#[test]
fn what_cannot_be_is_refused() {
    let world = world();
    world.refuses([
        ("crash --check ./check.sh --models journal -- ./writer.py", "journal is no model"),
        ("crash --check ./check.sh --states 0 -- ./writer.py", "--states"),
        ("crash --check ./check.sh -- ./absent.py", "./absent.py"),
        ("crash --check ./check.sh", "PROGRAM"),
        ("crash sqlite: --models eio,kill", "--models: eio cuts no power, and goes alone"),
        ("crash sqlite: --json x --html ./x", "--html ./x: is the file of --json as well"),
        (
            "crash --check ./check.sh --json x --html x -- ./writer.py",
            "--html x: is the file of --json as well",
        ),
    ]);
    if !without("fuse") {
        world.program("fails.sh", "#!/bin/sh\necho out of luck >&2\nexit 7\n");
        let ran = world.run("crash --check ./check.sh -- ./fails.sh");
        assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
        assert!(
            ran.err.contains("./fails.sh: ended with exit status: 7: out of luck"),
            "{}",
            ran.err
        );
    }
}

/// In a namespace in which the device of FUSE is another one.
#[test]
fn without_fuse_the_program_is_killed() {
    if without("root") {
        return;
    }
    let world = world();
    let ran = |fault: &str| {
        // A copy of the mount of another test would keep that test's folder busy.
        let hidden = "umount -l -a -t fuse 2>/dev/null; \
            mount --bind /dev/null /dev/fuse && exec \"$@\"";
        let mut command = std::process::Command::new("unshare");
        command.args(["-m", "sh", "-c", hidden, "sh", env!("CARGO_BIN_EXE_storemark")]);
        let line = format!("crash --check ./check.sh --states 6 --seed 1 -- ./writer.py {fault}");
        command.args(line.split(' ')).current_dir(world.path(""));
        Ran::from(command.output().unwrap())
    };
    let holds = ran("none");
    assert_eq!(holds.code, Some(0), "{}{}", holds.out, holds.err);
    assert!(holds.words().contains("FUSE cannot be used here"), "{}", holds.out);
    assert!(holds.words().contains("kill 6 6 0"), "{}", holds.out);
    // Killed while it sleeps, it has not written what it acknowledged.
    let late = ran("late");
    assert_eq!(late.code, Some(3), "{}{}", late.out, late.err);
    let lost = ["a is older than", "nothing is there"];
    assert!(lost.iter().any(|lost| late.words().contains(lost)), "{}", late.out);
    assert!(is_clean(&world));
}

#[test]
fn what_was_written_is_kept_on_the_disk_and_not_in_memory() {
    if without("fuse") {
        return;
    }
    let world = World::new();
    let writer = "#!/bin/sh\nhead -c 192M /dev/zero >a && echo ACK\n";
    world.program("writes.sh", writer);
    let ran = world.run("crash --check true --states 2 --models kill --json - -- ./writes.sh");
    let result: serde_json::Value = serde_json::from_str(&ran.out).expect(&ran.err);
    let bytes = result["bytes"].as_u64().unwrap();
    let peak = result["peak_bytes"].as_u64().unwrap();
    assert_eq!(bytes, 192 << 20);
    assert!(0 < peak && peak < bytes / 2, "{peak} bytes of memory for {bytes} that were written");
}

/// The blocks of the page that follow a comment with the name of a file.
#[test]
fn the_documented_example_is_found() {
    if without("fuse") {
        return;
    }
    let world = World::new();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/crash.md");
    let page = fs::read_to_string(page).unwrap();
    for part in page.split("<!-- file ").skip(1) {
        let (name, rest) = part.split_once(" -->\n```").unwrap();
        let (_, text) = rest.split_once('\n').unwrap();
        world.program(name, text.split("```").next().unwrap());
    }
    let line = page.lines().find_map(|line| line.strip_prefix("    storemark ")).unwrap();
    let ran = world.run(line);
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.err);
    let missing = "the folder `.` was not flushed after the rename of `a.tmp` to `a`";
    assert!(ran.words().contains(missing), "{}", ran.out);
    let fixed = fs::read_to_string(world.path("writer.py")).unwrap().replace("# Missing: ", "");
    world.program("writer.py", &fixed);
    let ran = world.run(line);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}
