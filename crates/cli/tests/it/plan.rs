//! Plan files, and records asked for again.

use model::{BlobWork, Order, Work, Workload, record::Header};

use crate::world::World;

const PLAN: &str = "targets = [\"files:\", \"sqlite:?api=blob\"]\nread = true\nkeys = 20\n\
                    size = \"1k\"\nrounds = 1\n";

fn world() -> World {
    let world = World::new();
    world.write("plan.toml", PLAN);
    world
}

fn header(world: &World, name: &str) -> Header {
    world.record(name).header
}

#[test]
fn a_plan_says_what_flags_say() {
    let world = world();
    world.ok("run plan.toml --seed 5 --json plan.json");
    world.ok("run files: sqlite:?api=blob --read --keys 20 --size 1k --rounds 1 --seed 5 --json flags.json");
    let (plan, flags) = (header(&world, "plan.json"), header(&world, "flags.json"));
    assert_eq!(plan.plan.targets, flags.plan.targets);
    assert_eq!(plan.plan.experiment, flags.plan.experiment);
    assert_eq!(plan.spec, flags.spec);
}

#[test]
fn a_plan_or_record_with_words_of_kvtest_sets_the_same() {
    let world = World::new();
    let run = "--read --keys 5 --size 100 --rounds 1 --seed 5";
    world.ok(&format!("run sqlite: {run} --set api=blob --set journal=wal --json set.json"));
    world.ok(&format!("run sqlite: {run} --blob-api --jmode wal --json flags.json"));
    let words = "targets = 'sqlite:'\nread = true\nkeys = 5\nsize = 100\nrounds = 1\nseed = 5\n\
                 blob-api = true\njmode = 'wal'\n";
    world.write("old.toml", words);
    world.ok("run old.toml --json plan.json");
    let text = std::fs::read_to_string(world.path("set.json")).unwrap();
    let set = r#""set":["api=blob","journal=wal"]"#;
    assert!(text.contains(set), "{text}");
    world.write("old.json", text.replace(set, r#""blob-api":true,"jmode":["wal"]"#));
    world.ok("run old.json --json record.json");
    let set = header(&world, "set.json");
    for same in ["flags.json", "plan.json", "record.json"] {
        let same = header(&world, same);
        assert_eq!(same.spec, set.spec);
        assert_eq!(same.plan.targets, set.plan.targets);
    }
    world.write("wrong.toml", "jmode = 'wal'\nblob-api = 'yes'\n");
    let said = world.refused("run wrong.toml");
    assert!(said.contains("wrong.toml:2:12: ") && said.contains("blob-api"), "{said}");
    world.ok("run old.toml --set journal=delete --json over.json");
    let over = header(&world, "over.json").spec.unwrap().options;
    assert_eq!(over["set"].to_string(), r#"["api=blob","journal=delete"]"#);
}

#[test]
fn what_stands_beside_a_plan_wins() {
    let world = world();
    world.write("plan.toml", PLAN.to_owned() + "asc = true\n");
    world.ok("run plan.toml --keys 7 --desc pack: --json run.json");
    let plan = header(&world, "run.json").plan;
    assert_eq!(plan.experiment.summary().unwrap().count, 7);
    assert!(matches!(plan.workloads[0].work, Work::Blobs(BlobWork { order: Order::Desc, .. })));
    let labels: Vec<_> = plan.targets.iter().map(|target| target.label.as_str()).collect();
    assert_eq!(labels, ["pack"]);
}

#[test]
fn a_saved_plan_and_a_record_measure_the_same_again() {
    let world = world();
    world.ok("run plan.toml --save-plan saved.toml --json first.json");
    world.ok("run saved.toml --json second.json");
    world.ok("run first.json --json third.json");
    world.ok("run first.json --seed 3 --json fourth.json");
    let first = header(&world, "first.json");
    for again in ["second.json", "third.json"] {
        assert_eq!(header(&world, again).spec, first.spec);
        assert_eq!(header(&world, again).plan.seed, first.plan.seed);
        assert_eq!(header(&world, again).plan.experiment, first.plan.experiment);
    }
    assert_eq!(header(&world, "fourth.json").plan.seed, 3);
}

#[test]
fn a_record_is_measured_again_with_its_counts_of_operations() {
    let world = world();
    world.ok("run plan.toml --json first.json");
    let text = std::fs::read_to_string(world.path("first.json")).unwrap();
    let Workload { count, slice, .. } = header(&world, "first.json").plan.workloads[0];
    let counts = format!(r#""count":{count},"slice":{},"#, slice.unwrap());
    assert!(text.contains(&counts), "{text}");
    world.write("first.json", text.replace(&counts, r#""count":60,"slice":7,"#));
    let count = |run: &str| {
        world.ok(&format!("run {run} --json again.json"));
        header(&world, "again.json").plan.workloads[0].count
    };
    assert_eq!(count("first.json"), 60);
    assert_eq!(count("first.json --count 40"), 40);
    assert!(count("first.json --keys 10") >= 10, "other data is calibrated anew");
}

#[test]
fn every_command_that_measures_repeats_its_records_and_takes_plans() {
    let world = World::new();
    world.write("small.toml", "rounds = 1\ntargets = ['csv:']\nrows = 20\n");
    for (command, line) in [
        ("rows", "rows small.toml --rows 30"),
        ("queue", "queue files: --workers 2 --tasks 1 --rounds 1"),
        ("age", "age files: --objects 5 --size 1k --ages 0 --rounds 1"),
        ("life", "life files: --keys 5 --size 1k --days 2 --rounds 1"),
    ] {
        world.ok(&format!("{line} --json first.json"));
        world.ok(&format!("{command} first.json --json second.json"));
        let (first, second) = (header(&world, "first.json"), header(&world, "second.json"));
        assert!(first.spec.is_some() && first.spec == second.spec, "{command}");
        assert_eq!(first.plan.experiment, second.plan.experiment);
        let said = world.refused("run first.json");
        assert!(said.contains(&format!("use storemark {command} first.json")), "{said}");
    }
    assert!(world.refused("queue small.toml").contains("no option \"rows\""));
}

#[test]
fn a_plan_is_only_written_over_a_plan() {
    let world = world();
    world.ok("run plan.toml --save-plan saved.toml --dry-run");
    world.ok("run plan.toml --save-plan saved.toml --dry-run --keys 3");
    let saved = std::fs::read_to_string(world.path("saved.toml")).unwrap();
    assert!(saved.contains("keys = 3"), "{saved}");
    world.write("thesis.txt", "years of work");
    assert!(world.refused("run plan.toml --save-plan thesis.txt").contains("is not a plan"));
    assert!(world.refused("run plan.toml --save-plan plan.toml").contains("left as it is"));
    assert!(
        world
            .refused("run plan.toml --save-plan no/such.toml")
            .contains("--save-plan no/such.toml")
    );
}

#[test]
fn a_dry_run_tells_the_plan_and_measures_nothing() {
    let world = world();
    let before = world.tree();
    let out = world.ok("run plan.toml --dry-run --json run.json --update --read").out;
    for said in [
        "files, the baseline",
        "sqlite api=blob",
        "20 keys (20.0 kB)",
        "4 trials a round",
        "of disk",
        "time\n",
    ] {
        assert!(out.contains(said), "{said}\n{out}");
    }
    assert_eq!(world.tree(), before);
}

#[test]
fn a_slip_in_a_plan_is_told_with_its_place() {
    let world = World::new();
    world.write("plan.toml", PLAN);
    for (plan, says) in [
        ("\nsiez = 3", "slip.toml:2:1: no option \"siez\": did you mean size?"),
        ("read = 1", "slip.toml:1:8: read: true or false is accepted"),
        ("count = '1z'", "slip.toml:1:9: "),
        ("size = ['1k', '1z']", "slip.toml:1:15: "),
        ("count = 0", "slip.toml:1:9: --count 0"),
        ("targets = ['files:', 'sqlite:?apy=1']", "slip.toml:1:22: sqlite:?apy=1: no setting"),
        ("targets = ['absent']", "slip.toml:1:12: absent: no such file"),
        ("asc = true\ndesc = true", "cannot be used with"),
        ("read = ", "slip.toml:1:"),
        ("in-place = true", "--update"),
    ] {
        world.write("slip.toml", plan);
        let said = world.refused("run slip.toml");
        assert!(said.contains(says) && said.contains("slip.toml"), "{plan}\n{said}");
    }
    world.write("slip.toml", [0xff, 0xfe]);
    assert!(world.refused("run slip.toml").contains("slip.toml"));
    // What was typed is not blamed on the plan.
    let said = world.refused("run plan.toml --count 1z");
    assert!(!said.contains("plan.toml"), "{said}");
    world.write("folder/storage.toml", PLAN);
    for (line, near) in [
        ("run plam.toml", "plan or record: did you mean plan.toml?"),
        ("run plan.tom", "file or folder: did you mean plan.toml?"),
        ("run folder/storage.tom", "file or folder: did you mean storage.toml?"),
        ("run --data foldr", "file or folder: did you mean folder?"),
        ("backup foldr sqlite:", "folder: did you mean folder?"),
        ("copy plan.tml sqlite:out.db", "file or folder: did you mean plan.toml?"),
        ("report plan.jsn", "record: did you mean plan.toml?"),
    ] {
        let said = world.refused(line);
        assert!(said.contains(&format!("no such {near}")), "{line}\n{said}");
    }
    assert!(world.refused("run plan.toml slip.toml").contains("one plan or record is accepted"));
}

#[test]
fn a_store_is_a_target_whatever_it_is_called() {
    let world = World::after(["init data.toml --count 5 --size 100"]);
    world.ok("init data.json --count 5 --size 100");
    world.ok("export data.toml folder.toml");
    world.ok("run data.toml data.json folder.toml --rounds 1");
}

#[test]
fn what_is_no_whole_record_is_one_clear_line() {
    let world = world();
    world.ok("run plan.toml --json run.json");
    let text = std::fs::read_to_string(world.path("run.json")).unwrap();
    world.write("cut.json", &text[..100]);
    world.write("foreign.json", "{\"a\":1}\n");
    world.write("empty.json", "");
    world.write("old", text.replacen(",\"spec\":", ",\"other\":", 1));
    world.refuses([
        ("run cut.json", "cut.json: this record is cut short within line 1"),
        ("run foreign.json", "foreign.json: this is not a record"),
        ("run empty.json", "nothing in it"),
        ("run old", "old: this record does not have what was asked for"),
        ("run absent.json", "absent.json: no such plan or record"),
    ]);
    // All that is asked for stands in the first line.
    world.write("begun.json", text.lines().next().unwrap());
    world.ok("run begun.json --json again.json");
}

/// Amounts of updates are known only once their rounds begin.
#[test]
fn a_record_is_repeated_with_the_amounts_that_were_measured() {
    let world = World::new();
    // Whether all of it fits into the time does not matter.
    let of_flushes = "lmdb: sqlite: --durability durable --read --update --keys 9000 --size 1k";
    for (run, name) in [(of_flushes, "old.json"), ("old.json --rounds 1", "new.json")] {
        world.run(&format!("run {run} --time 4s --json {name}"));
    }
    let counts = |name: &str| {
        let plan = world.record(name).header.plan;
        plan.workloads.iter().map(|of| (of.count, of.parts)).collect::<Vec<_>>()
    };
    assert_eq!(counts("old.json"), counts("new.json"));
}

#[test]
fn a_baseline_is_named_as_it_is_written() {
    let world = World::new();
    let run = "run files: sqlite:?mmap=1GiB --keys 9 --rounds 1 --json run.json --baseline";
    for (name, place) in [("sqlite:?mmap=1GiB", 1), ("files:", 0), ("2", 1)] {
        world.ok(&format!("{run} {name}"));
        assert_eq!(world.record("run.json").header.plan.baseline, place, "{name}");
    }
}

#[test]
fn no_password_is_kept() {
    let world = World::new();
    let line = "run files: mysql://me:SECRET@localhost/db --dry-run --save-plan -";
    let out = world.ok(line).out;
    assert!(out.contains("mysql://me@localhost/db") && !out.contains("SECRET"), "{out}");
}
