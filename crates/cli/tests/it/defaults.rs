//! What is measured if the user does not say how.

use engines::registry;
use model::Declaration;
use spec::BlobsSpec;

use crate::world::World;

/// Options of `run`, and what its plan says of the targets, reads, updates and the durability class.
#[test]
fn updates_are_what_programs_do_unless_asked_otherwise() {
    let world =
        World::after(["init a.db --count 20 --size 100", "init b.db --count 20 --size 100"]);
    let [once, each] = ["all in one batch", "1 a batch"];
    let cases = [
        ("", once, each, "consistent"),
        ("files: sqlite:", once, each, "consistent"),
        ("files: sqlite: pack:", once, each, "consistent"),
        ("files: sqlite: --batch all", once, once, "consistent"),
        ("files: sqlite: --batch 7", "7 a batch", "7 a batch", "consistent"),
        ("files: sqlite: --multitrans", each, each, "consistent"),
        ("files: sqlite: --durability none", once, each, "none"),
        ("files: sqlite: --durability durable", once, each, "durable"),
        // A limit that nobody named is measured as it is.
        ("--durability durable", once, each, "durable"),
        // Also with settings that are of no class by themselves.
        ("sqlite:?journal=delete sqlite:?journal=wal", once, each, "consistent"),
        ("sqlite:?journal=memory sqlite:", once, each, "none"),
        // What cannot promise it is compared with stores that do not either.
        ("files: files:?write=overwrite", once, each, "none"),
        ("files: s3:", once, each, "none"),
        // kvtest's commands have one store, and do what kvtest does.
        ("a.db", once, once, ""),
        ("a.db --multitrans", each, each, ""),
        ("a.db b.db", once, each, "consistent"),
        ("sqlite:", once, each, ""),
    ];
    for (options, reads, updates, class) in cases {
        let plan = world.ok(&format!("run {options} --read --update --dry-run")).out;
        let line = |start: &str| plan.lines().find(|line| line.starts_with(start)).unwrap_or("");
        for (work, batch) in [("  read: ", reads), ("  update: ", updates)] {
            assert!(line(work).contains(&format!(", {batch}, ")), "{options}: {batch}\n{plan}");
        }
        let given = plan
            .split_once("durability\n  ")
            .map_or("", |(_, rest)| rest.lines().next().unwrap_or_default());
        assert_eq!(given, class, "{options}\n{plan}");
    }
}

#[test]
fn a_plan_says_whether_all_of_it_fits_into_the_time() {
    let world = World::new();
    let plan = |options: &str| {
        world.ok(&format!("run memory: sqlite: --size 100 --dry-run {options}")).words()
    };
    let fits = plan("--keys 100 --time 1m");
    assert!(
        fits.contains("100 operations or more") && fits.contains("about 1 min 0 s in all, with"),
        "{fits}"
    );
    let part = plan("--keys 1000000 --time 10s");
    let says = "time 10.0 s in all; all of the data and of the operations take about ";
    assert!(part.contains("1,000,000 operations or fewer") && part.contains(says), "{part}");
    // A number of rounds is for all of it.
    let all = plan("--keys 1000000 --rounds 5");
    assert!(all.contains("1,000,000 operations or more") && !all.contains("fewer"), "{all}");
}

#[test]
fn the_first_keys_are_no_random_sample() {
    let world = World::after(["init a.db --count 300 --size 100"]);
    let words = world.ok("run a.db --max-id 10 --rounds 2 -v").words();
    assert!(words.contains("a pass touches 10 of 300 keys"), "{words}");
    assert!(!words.contains("drawn at random"), "{words}");
}

/// Every engine of the program that needs no server is compared, each once.
#[test]
fn each_engine_of_the_program_is_measured_once() {
    let world = World::new();
    let plan = world.ok("run --dry-run").out;
    let targets = plan.lines().skip(1).take_while(|line| line.starts_with("  "));
    let engines: Vec<_> = targets.map(|line| line.split([' ', ',']).nth(2).unwrap()).collect();
    let known = world.ok("engines").out;
    for engine in ["files", "sqlite", "lmdb", "redb", "fjall", "rocksdb", "pack"] {
        let has = known.contains(&format!("\n{engine}: "));
        let count = engines.iter().filter(|other| **other == engine).count();
        assert_eq!(count, usize::from(has), "{engine}: {engines:?}");
    }
    // Options for all targets are not undone by settings of the default ones.
    assert!(world.ok("run --mmap 1M --dry-run").out.contains("\n  sqlite\n"));
    // Several processes have one store open.
    world.ok("run --clients 1,2 --update --dry-run");
}

/// `advise` tries what `run` measures if nothing is named.
#[test]
fn what_run_measures_by_itself_is_worth_trying() {
    for text in BlobsSpec::TARGETS {
        let (name, settings) = text.split_once(':').unwrap();
        let Ok(engine) = registry::blobs(name) else { continue };
        let Declaration { worth_trying, reference, .. } = engine.declaration();
        let settings = settings.trim_start_matches('?');
        let is_tried = worth_trying.iter().any(|one| one.settings == settings);
        assert!(is_tried || *reference, "{text}");
    }
}
