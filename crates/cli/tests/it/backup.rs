//! `storemark backup` from outside.

use std::fs;

use crate::world::World;

#[test]
fn every_step_is_measured_with_each_catalogue_and_nothing_is_left() {
    let world = World::new();
    let line = "backup sqlite: lmdb: --files 60 --rounds 1 -q --json r.jsonl";
    let ran = world.ok(line);
    for shown in ["full", "unchanged", "1% changed", "stats", "selftest", "restore", "lmdb"] {
        assert!(ran.out.contains(shown), "{shown}\n{}", ran.out);
    }
    assert!(ran.out.contains("backups of a generated folder: 60 files"), "{}", ran.out);
    let left: Vec<_> = world.tree().into_keys().collect();
    assert_eq!(left, [world.path("r.jsonl")]);
    let record = fs::read_to_string(world.path("r.jsonl")).unwrap();
    for told in
        [r#""work":{"backup":"selftest"}"#, r#""catalogue_ns":"#, r#""experiment":{"backup":{"#]
    {
        assert!(record.contains(told), "{told}");
    }
    assert_eq!(world.ok("report r.jsonl").out, ran.out);
}

#[test]
fn a_replay_is_as_large_as_asked_for() {
    let world = World::new();
    let ran = world.ok("backup sqlite: redb: --replay --files 4100 --rounds 1 -q");
    assert!(ran.out.contains("for 3 copies of a generated folder: 2,000 files"), "{}", ran.out);
    assert!(!ran.out.contains("restore"), "{}", ran.out);
}

#[test]
fn a_kept_repository_is_listed_checked_and_restored() {
    let world = World::new();
    let source = world.path("src");
    fs::create_dir(&source).unwrap();
    for number in 0..50 {
        fs::write(source.join(format!("file {number}")), "line\n".repeat(number * 97)).unwrap();
    }
    let first = world.ok("backup src --keep kept").out;
    assert!(first.starts_with("backup 1: 51 entries"), "{first}");
    fs::write(source.join("file 7"), "changed").unwrap();
    let second = world.ok("backup src --keep kept").out;
    assert!(second.contains("files read: 1 (7 B); "), "{second}");
    let listed = world.ok("backup list kept").out;
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(world.ok("backup check kept").out.starts_with("ok: "), "{listed}");
    world.ok("backup restore kept restored");
    world.ok("backup restore kept older --snapshot 1");
    assert_eq!(fs::read(world.path("restored/file 7")).unwrap(), b"changed");
    assert_ne!(fs::read(world.path("older/file 7")).unwrap(), b"changed");
    assert_eq!(world.ok("backup src --keep kept").out.split(':').next(), Some("backup 3"));

    let pack = world.path("kept/packs/00000001");
    let mut bytes = fs::read(&pack).unwrap();
    bytes[9] ^= 1;
    fs::write(&pack, bytes).unwrap();
    let checked = world.run("backup check kept");
    assert_eq!(checked.code, Some(2), "{}", checked.err);
    assert!(checked.out.contains("packs/00000001: frame at byte 0"), "{}", checked.out);
    let restored = world.run("backup restore kept rest");
    assert_eq!(restored.code, Some(2), "{}", restored.err);
    let named = restored.err.lines().filter(|line| line.contains("frame at byte 0")).count();
    let says = format!("paths that could not be restored as they were: {named}");
    assert!(named > 0 && restored.err.contains(&says), "{}", restored.err);
    // The file that changed since is in another pack.
    assert_eq!(fs::read(world.path("rest/file 7")).unwrap(), b"changed");
    assert_eq!(fs::read_dir(world.path("rest")).unwrap().count(), 50 - named);
}

/// The backup whose record is damaged is named, and the others are listed and restored.
#[test]
fn a_damaged_record_of_a_backup_costs_no_other_backup() {
    let world = World::new();
    world.write("src/file", "x");
    for _ in 0..2 {
        world.ok("backup src --keep kept");
    }
    let zero = "UPDATE sqlar SET data = zeroblob(length(data)) WHERE name = 's/00000001'";
    world.sqlite3(&["kept/catalogue/store", zero]);
    let listed = world.run("backup list kept");
    assert_eq!((listed.code, listed.out.lines().count()), (Some(2), 1), "{}", listed.err);
    assert!(listed.out.trim_start().starts_with("2 "), "{}", listed.out);
    let says = "storemark: kept: catalogue: record s/00000001 is damaged\n";
    assert_eq!(listed.err, says);
    let restored = world.run("backup restore kept restored");
    assert_eq!(restored.code, Some(2), "{}", restored.err);
    assert!(restored.err.contains("record s/00000001 is damaged"), "{}", restored.err);
    assert_eq!(fs::read(world.path("restored/file")).unwrap(), b"x");
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let world = World::new();
    fs::create_dir(world.path("src")).unwrap();
    fs::write(world.path("src/a"), "a").unwrap();
    for (line, said) in [
        ("backup nowhere sqlite:", "nowhere: no such folder"),
        ("backup src files:", "files: cannot hold a catalogue"),
        ("backup src sqlite:x.db", "leave out the location"),
        ("backup src --files 9", "--files: is for a generated folder"),
        ("backup src --keep src/inside", "is inside the folder that is backed up"),
        ("backup --keep kept", "name the folder to back up"),
        ("backup check src", "is no repository of storemark backup"),
        ("backup -q check src", "accepted: storemark backup check DIR, without options"),
        ("backup --keep kept list src", "accepted: storemark backup list DIR, without options"),
        ("backup src sqlite:?journal=delete", "durable: journal=delete gives consistent"),
        ("backup src sqlite: sqlite:?sync=off --replay", "gives none; leave it out"),
        ("backup src sqlite: lmdb: --keep kept", "takes one store"),
        (
            "backup src --keep kept --json log.json",
            "--json: is for measuring backups; --keep takes",
        ),
        ("backup src --keep kept --rounds 2", "--rounds: is for"),
        ("backup src --keep kept --verbose", "--verbose: is for"),
        ("backup src --keep kept --scratch src", "--scratch: is for"),
    ] {
        let ran = world.run(line);
        assert_eq!(ran.code, Some(1), "{line}: {}", ran.err);
        assert!(ran.err.contains(said) && ran.err.lines().count() == 1, "{line}: {}", ran.err);
    }
}
