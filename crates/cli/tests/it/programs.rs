//! `worker=`: engines of other storemark programs as targets of `run`.

use std::{fs, os::unix::fs::symlink, path::Path};

use model::record::Record;

use crate::world::World;

const PROGRAM: &str = env!("CARGO_BIN_EXE_storemark");

/// A program of the world that runs these lines of a shell.
fn script(world: &World, name: &str, lines: &str) {
    world.program(name, &format!("#!/bin/sh\n{lines}\n"));
}

/// A program that is storemark, in a file of its own.
fn other(world: &World, name: &str) {
    script(world, name, &format!("exec {PROGRAM} \"$@\""));
}

/// The line by which a command is refused.
fn refused(world: &World, line: &str) -> String {
    let ran = world.run(line);
    let lines = ran.err.lines().count();
    assert_eq!((ran.code, &*ran.out, lines), (Some(1), "", 1), "{line}: {}", ran.err);
    ran.err
}

fn samples(record: &Record, target: usize) -> usize {
    record.samples.iter().filter(|sample| sample.target == target).count()
}

#[test]
fn an_engine_of_another_program_is_measured_next_to_this_ones_and_to_itself() {
    let world = World::new();
    other(&world, "old");
    let mix = "--mix read=50,update=30,insert=10,delete=10 --threads 2";
    for (engine, work, least) in [
        ("redb", "--read --update --cache warm,data-cold", 8),
        ("sqlite", mix, 2),
        ("files", "--read --update", 4),
    ] {
        let work = format!("{work} --keys 200 --count 200 --size 1000 --rounds 2");
        let targets = format!("{engine}: {engine}:?worker=./old");
        let ran = world.ok(&format!("run {targets} {work} -v --json r.json --html r.html"));
        let record = world.record("r.json");
        let plan = &record.header.plan;
        let labels: Vec<_> = plan.targets.iter().map(|target| &*target.label).collect();
        let own = format!("{engine} worker=./old");
        assert_eq!(labels, [engine, &own, "the same build again"]);
        assert_eq!((plan.same_build(2), plan.is_reference(2)), (Some(1), true));
        for target in 0..3 {
            assert_eq!(samples(&record, target), samples(&record, 0), "{engine}: {labels:?}");
            let in_effect = &record.stores[target].in_effect;
            assert_eq!(in_effect.get("worker").is_some(), target > 0);
        }
        assert_eq!(samples(&record, 0), least, "{engine}");
        let libraries = &record.header.environment.libraries;
        let programs: Vec<_> = libraries.iter().map(|one| one.worker.as_deref()).collect();
        assert_eq!(programs, [None, Some("./old")], "{libraries:?}");
        assert!(libraries.iter().all(|one| one.program.is_some()), "{libraries:?}");
        let version = libraries[1].program.clone().unwrap();
        let page = fs::read_to_string(world.path("r.html")).unwrap();
        for text in [&ran.words(), &page] {
            assert!(text.contains(&format!("of storemark {version}")), "{text}");
            assert!(text.contains(&format!("another worker of {own} takes ")), "{text}");
        }
    }
}

/// A program is the same by all its names.
#[test]
fn a_program_that_is_compared_with_itself_is_not_measured_a_third_time() {
    let world = World::new();
    symlink(PROGRAM, world.path("link")).unwrap();
    let work = "--read --keys 50 --count 50 --rounds 1 --json r.json";
    for targets in
        ["redb: redb:?worker=./link", "redb:?worker=./link", "files: redb:?worker=./link"]
    {
        world.ok(&format!("run {targets} {work}"));
        let count = targets.split(' ').count();
        assert_eq!(world.record("r.json").header.plan.targets.len(), count, "{targets}");
    }
}

/// The protocol decides, not the version.
#[test]
fn a_program_of_another_version_with_the_same_protocol_is_measured() {
    let world = World::new();
    let newer = r#"sed -u '1s/"version":"[^"]*"/"version":"9.9.9"/g'"#;
    script(&world, "newer", &format!("{PROGRAM} \"$@\" | {newer}"));
    let work = "--read --update --keys 50 --count 50 --rounds 2 --json r.json";
    let ran = world.ok(&format!("run redb: redb:?worker=./newer {work} -v"));
    let record = world.record("r.json");
    let libraries = &record.header.environment.libraries;
    assert_eq!(libraries[1].program.as_deref(), Some("9.9.9"), "{libraries:?}");
    assert!(ran.words().contains("of storemark 9.9.9"), "{}", ran.out);
    let samples = record.samples.iter().filter(|sample| sample.target == 1);
    assert_eq!(samples.count(), 4);
}

/// Keys and values come from the user's own store, through the other program.
#[test]
fn a_store_of_the_user_is_measured_by_another_program_and_left_as_it_was() {
    let world = World::new();
    other(&world, "old");
    world.ok("init own.redb --count 100 --size 2000");
    let before = fs::read(world.path("own.redb")).unwrap();
    let targets = "own.redb own.redb?worker=./old";
    world.ok(&format!("run {targets} --read --update --count 100 --rounds 2 --json r.json"));
    assert_eq!(fs::read(world.path("own.redb")).unwrap(), before);
    let record = world.record("r.json");
    assert_eq!(samples(&record, 0), samples(&record, 1));
    assert!(samples(&record, 1) >= 4);
}

#[test]
fn what_is_no_such_program_or_has_no_such_stores_is_refused_in_one_line() {
    let world = World::new();
    other(&world, "old");
    world.write("text", "no program");
    script(&world, "quiet", "exit 0");
    script(&world, "loud", "echo hello; echo more >&2");
    let greeting = r#"{"hello":{"protocol":3,"version":"0.0.1"}}"#;
    script(&world, "ancient", &format!("echo '{greeting}'; cat > /dev/null"));
    script(
        &world,
        "bare",
        r#"echo '{"hello":{"protocol":11,"version":"7","program":{"version":"7","engines":{"files":null}}}}'"#,
    );
    let run = |target: &str| refused(&world, &format!("run files: {target} --read --keys 9"));
    for (target, said) in [
        ("redb:?worker=./absent", "no such program"),
        ("redb:?worker=./text", "cannot be started"),
        ("redb:?worker=.", "cannot be started"),
        ("redb:?worker=./quiet", "is no storemark program; a storemark program with protocol"),
        ("redb:?worker=./loud", "is no storemark program; a storemark program with protocol"),
        ("redb:?worker=./ancient", "it is storemark 0.0.1 (protocol 3)"),
        ("redb:?worker=./bare", "was built without redb (it has: files)"),
        ("memory:?worker=./old", "compares programs over stores in files"),
        ("redb:?worker=./old --processes 2", "leave out --processes"),
        ("redb:?worker=./old memory:", "compares programs over stores in files"),
        ("redb:?worker=./old&nothing=1", "nothing"),
        ("redb:?wroker=./old", "no setting \"wroker\": did you mean worker?"),
    ] {
        let line = run(target);
        assert!(line.contains(said), "{target}: {line}");
    }
    for line in
        ["rows sqlite:?worker=./old", "queue sqlite:?worker=./old", "age redb:?worker=./old"]
    {
        let said = refused(&world, line);
        assert!(said.contains("for `storemark run` only"), "{line}: {said}");
    }
    assert!(!Path::new(&world.path("storemark-scratch")).exists());
}

/// The workers of a program end after some were started: the others are measured to the end.
#[test]
fn a_program_that_dies_is_left_out_and_what_was_measured_is_kept() {
    let world = World::new();
    // A line for each start.
    let count = "echo >> starts; test $(wc -l < starts) -lt $(cat most) || exit 3";
    script(&world, "frail", &format!("{count}\nexec {PROGRAM} \"$@\""));
    world.write("most", "1000");
    let work = "--read --update --keys 100 --count 100 --rounds 2 --json r.json";
    let line = format!("run files: redb:?worker=./frail {work}");
    world.ok(&line);
    let starts = fs::read_to_string(world.path("starts")).unwrap().lines().count();
    // In preparation, in the reads, and in the updates.
    for most in [3, starts / 2, starts - 1] {
        world.write("most", most.to_string());
        fs::remove_file(world.path("starts")).unwrap();
        let ran = world.run(&line);
        assert_eq!(ran.code, Some(2), "{most} of {starts}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains("redb worker=./frail"), "{}", ran.err);
        let record = world.record("r.json");
        let files = record.header.plan.targets.iter().position(|one| one.engine == "files");
        assert!(samples(&record, files.unwrap()) >= 4, "{}", ran.err);
        let kept = record.findings.iter().map(|finding| finding.kind.to_string());
        assert!(kept.into_iter().any(|said| said.contains("worker=")), "{:?}", record.findings);
    }
}
