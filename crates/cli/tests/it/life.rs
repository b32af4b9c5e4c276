//! `storemark life` from outside.

use std::fs;

use model::{Cache, Measured, Sample, Work, life::LifeStep, record::Record};

use crate::world::World;

const STEPS: &str = "life files: sqlite: --keys 200 --size 5k --days 3 --rounds 1 --seed 7 -q";

fn samples(record: &Record, target: usize, step: LifeStep) -> Vec<&Sample> {
    let of = |sample: &&Sample| {
        let work = record.header.plan.workloads[sample.workload].work;
        sample.target == target && work == Work::Life(step)
    };
    record.samples.iter().filter(of).collect()
}

#[test]
fn every_step_of_each_store_is_measured_and_nothing_is_left() {
    let world = World::new();
    let ran = world.ok(&format!("{STEPS} --json r.jsonl --html r.html"));
    for step in LifeStep::ALL {
        assert!(ran.out.contains(step.as_str()), "{step}\n{}", ran.out);
    }
    let words = ran.words();
    for shown in ["200 keys of 5,000 bytes", "over 3 days", "open, data-cold", "reclaimed"] {
        assert!(words.contains(shown), "{shown}\n{}", ran.out);
    }
    let left: Vec<_> = world.tree().into_keys().collect();
    assert_eq!(left, ["r.html", "r.jsonl"].map(|name| world.path(name)));
    assert_eq!(world.ok("report r.jsonl").out, ran.out);
    assert!(world.ok("report r.jsonl --csv").out.contains("backup_blocks_bytes"));
    let record = world.record("r.jsonl");
    let files = |target, step| samples(&record, target, step)[0].files().unwrap().apparent;
    let operations = |step| {
        let [files, sqlite] = [0, 1].map(|target| {
            let found = samples(&record, target, step);
            found.iter().map(|sample| sample.operations).collect::<Vec<_>>()
        });
        assert!(files == sqlite || step == LifeStep::Reclaim, "{step}");
        sqlite
    };
    assert_eq!(operations(LifeStep::Stat), [200]);
    assert_eq!(operations(LifeStep::List), [200]);
    assert_eq!(operations(LifeStep::Day), [2]);
    assert_eq!(operations(LifeStep::Month), [4]);
    assert_eq!(operations(LifeStep::Half), [100]);
    assert_eq!(operations(LifeStep::Rest), [100]);
    assert_eq!(samples(&record, 0, LifeStep::Open)[0].cache, Cache::DataCold);
    // A file is gone with its value; a database keeps its pages until it is rewritten.
    assert!(samples(&record, 0, LifeStep::Reclaim).is_empty());
    assert_eq!(files(0, LifeStep::Half), 100 * 5000);
    assert_eq!(files(0, LifeStep::Rest), 0);
    assert!(files(1, LifeStep::Half) > 200 * 5000);
    assert!(files(1, LifeStep::Reclaim) < 120 * 5000);
    // Whole values of 5,000 bytes take two blocks each; a database is copied whole or in pages.
    let backup = |target| samples(&record, target, LifeStep::Day)[0].backup_bytes().unwrap();
    assert!(backup(0).files <= 2 * 5000 && backup(0).blocks <= 2 * 8192, "{:?}", backup(0));
    assert!(backup(1).files > 200 * 5000 && backup(1).blocks < 100 * 1000, "{:?}", backup(1));
    assert!(record.samples.iter().all(|sample| matches!(sample.measured, Measured::Life(_))));
}

#[test]
fn all_engines_live_to_their_end() {
    let world = World::new();
    let engines = "files: sqlite: hybrid:?inline=1k lmdb: redb: fjall: pack: memory: null:";
    let ran = world.ok(&format!(
        "life {engines} --keys 30 --size 2k --days 2 --rounds 1 --durability none -q --json r.jsonl"
    ));
    let record = world.record("r.jsonl");
    for (target, planned) in record.header.plan.targets.iter().enumerate() {
        assert_eq!(
            samples(&record, target, LifeStep::Rest).len(),
            1,
            "{}\n{}",
            planned.label,
            ran.out
        );
    }
}

#[test]
fn a_folder_of_the_user_is_only_read() {
    let world = World::new();
    for number in 0..40 {
        world.write(&format!("mine/{}/file {number}", number % 3), "line\n".repeat(number * 37));
    }
    let before = world.tree();
    let ran = world.ok("life files: sqlite: --data mine --days 1 --rounds 1 -q");
    assert!(ran.out.contains("from mine"), "{}", ran.out);
    assert!(!ran.out.contains(LifeStep::Month.as_str()), "{}", ran.out);
    assert_eq!(world.tree(), before);
}

#[test]
fn the_same_seed_asks_for_the_same() {
    let world = World::new();
    let asked = |name: &str| {
        world.ok(&format!("{STEPS} --json {name}"));
        let record = world.record(name);
        let of = |s: &Sample| (s.target, s.workload, s.operations, s.bytes, s.backup_bytes());
        let mut asked: Vec<_> = record.samples.iter().map(of).filter(|of| of.0 == 0).collect();
        asked.sort_unstable_by_key(|of| of.1);
        asked
    };
    assert_eq!(asked("one.jsonl"), asked("two.jsonl"));
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let world = World::new();
    world.write("one/a", "a");
    fs::create_dir(world.path("empty")).unwrap();
    for (line, said) in [
        ("life files:one", "leave out the location"),
        ("life --data nowhere", "nowhere: no such file or folder"),
        ("life --data one/a", "is no store of a kind that storemark knows"),
        ("life --data one --keys 5", "--data has its own"),
        ("life --data one", "fewer than 2 values"),
        ("life --data empty", "fewer than 2 values"),
        ("life --keys 1", "fewer than 2 values"),
        ("life --days 0", "1 to 3650"),
        ("life --keys 1M --size 1G", "less data takes less"),
        ("life filse:", "did you mean files"),
        ("life --durability much", "durability class"),
    ] {
        let refused = world.refused(line);
        assert!(refused.contains(said), "{line}: {refused}");
    }
}
