//! Published experiments.

use crate::{rows::open_world, world::World};

#[test]
fn all_are_listed_and_a_slip_is_answered() {
    let world = World::new();
    let list = world.ok("study").out;
    for name in [
        "faster-than-fs",
        "page-cache",
        "mass-inserts",
        "task-queue",
        "internal-or-external",
        "to-blob-or-not",
        "hashbackup",
        "small-records",
        "on-access-scan",
        "sqlite-options",
        "sqlite-versions",
        "tar-shards",
        "readers-writers",
        "read-while-writing",
        "leveldb",
        "redb",
        "seaweedfs",
        "crash-consistency",
    ] {
        assert!(list.lines().any(|line| line.starts_with(name)), "{list}");
    }
    let said = world.refused("study faster-then-fs");
    assert!(said.contains("did you mean faster-than-fs?"), "{said}");
    let said = world.refused("study page-cache --step 4");
    assert!(said.contains("--step 4: accepted is 1 to 3"), "{said}");
    assert!(world.refused("study page-cache --quick --full").contains("cannot be used with"));
}

#[test]
fn a_step_shows_what_was_published_beside_what_is_measured() {
    let world = World::new();
    let line = "study page-cache --quick --step 2 --rounds 1 --records out --html study.html";
    let ran = world.ok(line);
    let line = |all: &str, part: &str| {
        let found = all.lines().find(|line| line.contains(part));
        found.unwrap_or_else(|| panic!("no line with {part}: {all}")).to_owned()
    };
    assert!(line(&ran.out, "source:").contains("sqlite.org"));
    assert!(line(&ran.out, "read, warm  ").contains("7.36"), "{}", ran.out);
    assert!(ran.out.contains("What differs here:"));
    // Each step has its record, which shows itself.
    assert!(world.ok("report out/page-cache-2.json").out.contains("sqlite api=blob"));
    assert_eq!(world.tree().len(), 3, "{:?}", world.tree().keys());
    let page = std::fs::read_to_string(world.path("study.html")).unwrap();
    assert!(page.contains("What differs here") && page.contains("data-chart=\""), "{page}");
}

#[test]
fn figures_of_roles_are_compared_alone_and_next_to_each_other() {
    let world = World::new();
    let ran = world.ok("study readers-writers --quick --step 1 --rounds 2 --records out");
    let record = world.record("out/readers-writers-1.json");
    assert_eq!(record.header.plan.experiment.roles().map(|data| data.roles.len()), Some(2));
    assert!(ran.out.contains("Of 6 published figures here:"), "{}", ran.out);
    assert!(!ran.out.contains("not measured"), "{}", ran.out);
    for part in ["÷ readers", "readers take this multiple of their time alone"] {
        assert!(ran.words().contains(part), "{part}\n{}", ran.out);
    }
}

#[test]
fn studies_of_engines_that_are_not_here_compare_the_others() {
    let world = World::new();
    for (step, published) in [
        ("read-while-writing --step 1", "lmdb µs/blob 2.76"),
        ("leveldb --step 3", "µs/blob 20.6"),
        ("leveldb --step 7", "µs/blob 625"),
        ("redb --step 1", "lmdb time ÷ 0.676"),
        ("redb --step 3", "redb µs/blob 15.9"),
    ] {
        let words = world.ok(&format!("study {step} --quick --rounds 1 --seed 1")).words();
        assert!(words.contains(published), "{step}: {published}\n{words}");
        assert!(!words.contains(&format!("{published} not measured")), "{step}\n{words}");
    }
    let list = world.ok("study leveldb --quick --step 1 --rounds 1 --seed 1").words();
    assert!(list.contains("LevelDB and Kyoto Cabinet are not engines of storemark"), "{list}");
}

#[test]
fn an_engine_that_is_not_here_is_a_gap_and_the_rest_runs() {
    let world = open_world();
    let said = world.ok("study mass-inserts --quick --step 2 --rounds 1").out;
    assert!(said.contains("sqlite text"), "{said}");
    for engine in ["mariadb", "postgres"] {
        let named = said.contains(&format!("{engine} is not measured: "));
        assert!(named != said.contains(&format!("{engine} text")), "{engine}\n{said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_was_published_of_power_cuts_is_next_to_what_is_found() {
    let world = World::new();
    let line =
        "study crash-consistency --quick --step 1 --seed 1 --records out --html page.html -q";
    let ran = world.ok(line);
    if ran.words().contains("FUSE cannot be used here") {
        assert!(ran.words().contains("not measured"), "{}", ran.out);
        return host::unchecked("fuse", "study crash-consistency");
    }
    // The journal's name is not flushed, with sync=extra it is.
    let said = ran.words();
    for part in ["sqlite journal=delete sync=full commits lost 1 1 confirmed", "1 confirmed"] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    let json = std::fs::read_to_string(world.path("out/crash-consistency-1.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let stores = json["stores"].as_array().unwrap();
    assert_eq!(stores.len(), 2, "{json}");
    let page = std::fs::read_to_string(world.path("page.html")).unwrap();
    for part in ["data-chart=\"study-1\"", "data-chart=\"power-cuts-1\"", "1 confirmed"] {
        assert!(page.contains(part), "{part}");
    }
    let same = "--records out --html out/crash-consistency-1.json";
    world.refuses([
        ("study crash-consistency --time 5s", "--time: each step checks a number of states"),
        (&format!("study crash-consistency {same}"), "is the file of --records as well"),
    ]);
}

#[test]
fn a_study_that_measured_nothing_fails() {
    for time in ["50ms", "1us"] {
        let ran = World::new().run(&format!("study faster-than-fs --quick --step 1 --time {time}"));
        assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
        assert!(ran.err.ends_with("no step was measured; the reasons are above\n"), "{}", ran.err);
        assert!(!ran.out.contains("is no time"), "{}", ran.out);
    }
}
