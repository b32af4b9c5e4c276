//! `storemark age` from outside.

use std::fs;

use crate::{
    running::{SAMPLE, signal},
    world::World,
};

const SMALL: &str = "--objects 30 --size 20k --ages 0,1 --rounds 1 -q";

#[test]
fn each_target_is_shown_at_each_age_and_leaves_nothing() {
    let world = World::new();
    let ran = world.ok(&format!("age {SMALL} -v --seed 7 --cache data-cold,warm --json r.jsonl"));
    for shown in [
        "30 keys of ",
        "reading all objects in random order, data-cold",
        "reading all objects in random order, warm",
        "writing: filling the store (age 0)",
        "pieces",
        "files: layout=flat sync=file write=rename",
        "sync=normal",
        "seed 7",
    ] {
        assert!(ran.out.contains(shown), "{shown}\n{}", ran.out);
    }
    // Two states of reads, writes and space.
    for row in [["files", "0"], ["sqlite", "0"], ["files", "1"], ["sqlite", "1"]] {
        let starts = |line: &&str| line.split_whitespace().take(2).eq(row);
        let lines = ran.out.lines().filter(starts).count();
        assert_eq!(lines, 4, "{row:?}\n{}", ran.out);
    }
    let left: Vec<_> = world.tree().into_keys().collect();
    assert_eq!(left, [world.path("r.jsonl")]);
    assert_eq!(world.ok("report r.jsonl -v").out, ran.out);
    let record = fs::read_to_string(world.path("r.jsonl")).unwrap();
    assert_eq!(record.matches(r#"{"line":"sample""#).count(), 2 * (2 + 2 * 2));
    assert_eq!(record.matches(r#""fragments":{"objects":30"#).count(), 4);
    assert!(record.contains(r#""runs":"#), "SQLite tells of its pages: {record}");
}

/// A file system in memory has no device that files could lie on.
#[test]
#[cfg(target_os = "linux")]
fn pieces_that_are_not_told_are_a_finding() {
    let world = World::new();
    let memory = std::path::Path::new("/dev/shm");
    let place = if memory.is_dir() { "/dev/shm" } else { "." };
    let line = format!("age files: --scratch {place} --cache warm {SMALL} -v --json r.jsonl");
    let ran = world.ok(&line);
    let record = fs::read_to_string(world.path("r.jsonl")).unwrap();
    let told = !record.contains(r#""extents":null"#);
    assert_eq!(ran.out.contains("does not answer FIEMAP"), !told, "{}", ran.out);
    assert!(told || !record.contains(r#""extents":0"#), "{record}");
}

/// Every object is read back at every age, so that a run that succeeds replaced rightly.
#[test]
fn values_of_other_lengths_replace_rightly_in_every_engine() {
    let world = World::new();
    let ran = world.ok(&format!(
        "age files:?write=overwrite files:?layout=tree&write=inplace sqlite:?api=blob pack: lmdb: redb: fjall: \
         --durability none {SMALL}"
    ));
    for label in ["files write=overwrite", "sqlite api=blob", "pack", "lmdb", "redb", "fjall"] {
        assert!(ran.out.contains(label), "{label}\n{}", ran.out);
    }
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let world = World::new();
    world.refuses([
        ("age --ages 0,4,2", "2 comes after 4"),
        ("age --ages 1,1", "1 comes after 1"),
        ("age --ages -1", "whole numbers from 0"),
        ("age --ages 0,x", "whole numbers from 0"),
        ("age --size 0", "--size 0: accepted is 1 or more"),
        ("age --size 10k --variance 20k", "larger than the size"),
        ("age --objects 0", "--objects 0: accepted is 1 or more"),
        ("age --objects 5 --volume 1M", "cannot be used with"),
        ("age --volume 10 --size 1k", "holds no object of 1000 bytes"),
        ("age --volume 900000000GB --size 1G", "free"),
        ("age --durability strong", "none, consistent, durable"),
        ("age sqlite:there.db", "leave out the location"),
        ("age mysql://root@localhost/test", "scratch stores only"),
        ("age sqlight:", "did you mean sqlite?"),
        ("age pack:", "pack: cannot give durability consistent"),
        ("age --baseline other", "no such target"),
        ("age --scratch absent", "absent"),
        ("age --cache hot", "hot"),
    ]);
}

#[test]
fn an_interrupted_run_keeps_what_was_measured_and_removes_its_stores() {
    let world = World::new();
    let line = "age --objects 50 --size 20k --ages 0,1,2,3 --rounds 100000 -q --json r.jsonl";
    let mut child = world.under_way(line, "r.jsonl", SAMPLE, 3);
    signal(child.id(), "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let left: Vec<_> = world.tree().into_keys().collect();
    assert_eq!(left, [world.path("r.jsonl")]);
    let ran = world.ok("report r.jsonl");
    assert!(ran.out.contains("interrupted") && ran.out.contains("  0 "), "{}", ran.out);
}
