//! Values that take much of the memory, or more than there is.
#![cfg(target_os = "linux")]

use std::{fs::File, process::Command};

use model::FindingKind;

use crate::world::{Ran, World};

/// The bytes of a large value.
const LARGE: u64 = 600_000_000;

/// A folder `in` with small files, and one that has so many bytes and takes no room on disk.
fn made(bytes: u64) -> World {
    let world = World::new();
    for name in ["a", "film.txt", "z"] {
        world.write(&format!("in/{name}"), name);
    }
    File::create(world.path("in/film")).unwrap().set_len(bytes).unwrap();
    world
}

/// Runs a line with so many bytes of addresses.
fn limited(world: &World, bytes: u64, line: &str) -> Ran {
    let program = env!("CARGO_BIN_EXE_storemark");
    let script = format!("ulimit -v {}; exec {program} {line}", bytes / 1024);
    Command::new("sh").args(["-c", &script]).current_dir(world.path("")).output().unwrap().into()
}

#[test]
fn memory_has_a_large_value_once() {
    let world = made(LARGE);
    for line in ["copy in pack:in.pack", "verify in in.pack"] {
        let ran = limited(&world, LARGE + LARGE / 2, line);
        assert_eq!(ran.code, Some(0), "{line}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn memory_has_no_value_as_a_whole_that_both_stores_have_in_parts() {
    let world = made(LARGE);
    for line in [
        "copy in tar:in.tar",
        "copy in.tar files:out --key-suffix .mov",
        "verify in.tar out --key-suffix .mov",
        "copy in zip:in.zip?method=deflated",
        "copy in.zip zip:stored.zip",
        "verify in.zip stored.zip",
    ] {
        let ran = limited(&world, LARGE, line);
        assert_eq!(ran.code, Some(0), "{line}: {}{}", ran.out, ran.err);
    }
    assert_eq!(world.path("out/film.mov").metadata().unwrap().len(), LARGE);
}

#[test]
fn a_value_that_is_larger_than_memory_is_named() {
    let world = made(4 << 40);
    for line in ["copy in hybrid:in.hybrid", "import in in.db"] {
        let ran = world.run(line);
        assert_eq!((ran.code, &*ran.out), (Some(1), ""), "{line}: {}", ran.err);
        let why = "the value of film has 4.40 TB, and ";
        // SQLite has a limit of its own.
        let says = if line.starts_with("import") { "film" } else { why };
        assert!(ran.err.contains(says) && ran.err.lines().count() == 1, "{line}: {}", ran.err);
    }
    assert_eq!(world.names(""), ["in"]);
}

/// More keys than are enough for other data; the mean is decided by one of them.
#[test]
#[cfg(feature = "sqlite")]
fn a_value_that_decides_is_among_those_that_are_read() {
    let world = World::new();
    let rows = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 600000)";
    let sql = format!(
        "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB); {rows} INSERT INTO kv SELECT i, x'00' FROM n;"
    );
    world.sqlite3(&["a.db", &sql]);
    let drawn = || {
        world.ok("run a.db --rounds 1 --time 10m -q --json a.json");
        world.record("a.json").header.plan.experiment.blobs().unwrap().drawn
    };
    assert_eq!(drawn(), Some(500_000));
    world.sqlite3(&["a.db", "UPDATE kv SET v = zeroblob(5000000) WHERE k = 1000"]);
    assert_eq!(drawn(), None, "all keys");
}

#[test]
fn a_value_that_decides_and_is_in_no_sample_is_named() {
    let world = World::new();
    for number in 1..=200 {
        world.write(&format!("in/{number:06}"), "a value");
    }
    world.write("in/000100", vec![7; 100_000]);
    let missed = (1..=4).filter(|seed| {
        let options = format!("--sample 20 --seed {seed} --read --rounds 1 -q --json r.json");
        world.ok(&format!("run --data in sqlite: files: {options}"));
        let record = world.record("r.json");
        let is_named = record.findings.iter().any(|found| {
            matches!(found.kind, FindingKind::LargeValueNotRead { bytes: 100_000, .. })
        });
        let largest = record.header.plan.experiment.blobs().unwrap().summary.largest;
        assert_eq!(is_named, largest < 100_000, "{largest}");
        is_named
    });
    assert!(missed.count() > 0);
}

/// An environment of LMDB with a map of the usual size does not fit into so few addresses.
#[test]
#[cfg(feature = "lmdb")]
fn a_store_is_replaced_where_only_its_own_map_has_room() {
    let world = World::new();
    world.write("in/a", "1");
    let copy = "copy in 'lmdb:out?map=64MiB'";
    for (line, code) in [(copy.to_owned(), 0), (copy.to_owned(), 1), (format!("{copy} --force"), 0)]
    {
        let ran = limited(&world, 4 << 30, &line);
        assert_eq!(ran.code, Some(code), "{line}: {}", ran.err);
        assert!(code == 0 || ran.err.contains("--force replaces it"), "{}", ran.err);
        if code == 1 {
            world.write("in/b", "2");
        }
    }
    world.ok("verify in out");
}
