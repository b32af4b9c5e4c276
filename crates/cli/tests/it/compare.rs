//! Several targets in one run.

use crate::world::World;

fn exported() -> World {
    World::after(["init a.db --count 50 --size 1k", "export a.db a.dir"])
}

#[test]
fn the_first_target_is_the_baseline_unless_another_is_named() {
    let world = exported();
    let row = |out: &str, target: &str| {
        let start = format!("{target}  ");
        out.lines().find(|line| line.starts_with(&start)).unwrap().to_owned()
    };
    let out = world.ok("run a.db a.dir --rounds 1").out;
    assert!(row(&out, "a.db").ends_with("baseline"), "{out}");
    for baseline in ["a.dir", "2"] {
        let out = world.ok(&format!("run a.db a.dir --rounds 1 --baseline {baseline}")).out;
        assert!(row(&out, "a.dir").ends_with("baseline"), "{out}");
    }
}

#[test]
fn a_target_twice_has_a_name_and_figures_each() {
    let world = exported();
    let out = world.ok("run a.db a.db --rounds 2 --json twice.jsonl").out;
    let record = world.record("twice.jsonl");
    let labels: Vec<_> = record.header.plan.targets.iter().map(|t| t.label.as_str()).collect();
    assert_eq!(labels, ["a.db", "a.db #2"]);
    for (target, label) in labels.iter().enumerate() {
        assert_eq!(record.samples.iter().filter(|s| s.target == target).count(), 2, "{label}");
        let row = |line: &str| line.split("  ").next().map(str::trim) == Some(label);
        assert!(out.lines().any(row), "{label}: {out}");
    }
}

#[test]
fn scratch_targets_take_their_data_from_the_first_store() {
    let world = exported();
    let out = world
        .ok("run a.db files: files:?layout=tree pack:?io=mmap memory: sqlite:?api=blob --rounds 1")
        .out;
    assert!(out.contains("\n50 keys"), "{out}");
    assert!(out.contains("pack io=mmap"), "{out}");
}

#[test]
fn null_measures_the_tool_and_says_so() {
    let world = World::new();
    let out = world.ok("run null: --keys 100 --rounds 1 --read -v").out;
    assert!(out.contains("storemark's own loop"), "{out}");
}

#[test]
fn compared_updates_promise_the_same() {
    let world = exported();
    let out = world.ok("run a.db a.dir --update --rounds 1 -v").out;
    assert!(out.contains("journal=wal") && out.contains("sync=normal"), "{out}");
    assert!(!out.contains("durability is"), "{out}");
    let out = world.ok("run a.db a.dir --update --rounds 1 --durability none -v").out;
    assert!(out.contains("journal=off") && out.contains("sync=off"), "{out}");
    assert!(!out.contains("durability is"), "{out}");
    let out = world.ok("run a.db a.dir --update --rounds 1 --durability durable --batch 10 -v").out;
    assert!(out.contains("journal=wal") && out.contains("write=rename"), "{out}");
    // A setting of a target's own wins, and a difference is a finding.
    let out = world.ok("run a.db a.dir?sync=full&write=rename --update --rounds 1 -v").words();
    assert!(out.contains("durability is durable, the baseline's consistent"), "{out}");
}

#[test]
fn a_setting_that_does_not_take_effect_is_a_finding() {
    let world = exported();
    let out = world.ok("run a.db?page_size=8192 --rounds 1 -v").words();
    assert!(out.contains("page_size=8192 was asked for, page_size=4096 is in effect"), "{out}");
    world.sqlite3(&["a.db", "PRAGMA journal_mode=wal"]);
    let out = world.ok("run a.db?page_size=8192 --rounds 1 -v").words();
    assert!(out.contains("page_size=8192 was asked for, page_size=4096 is in effect"), "{out}");
}

#[test]
fn a_page_size_takes_effect_beside_a_log() {
    let world = World::new();
    let out = world.ok("run sqlite:?journal=wal&page_size=8192 --keys 5 --rounds 1 --verbose").out;
    assert!(out.contains("journal=wal") && out.contains("page_size=8192"), "{out}");
    assert!(!out.contains("was asked for"), "{out}");
}

#[test]
fn sizes_beyond_two_gigabytes_do_not_overflow() {
    let world = exported();
    let out = world.ok("run a.db --mmap 3GiB --cache-size -3000000 --rounds 1 --verbose").words();
    assert!(out.contains("cache=3072000000"), "{out}");
    // As SQLite is built by default it maps 64 KiB less than 2 GiB, which is said.
    assert!(out.contains("mmap=3221225472 was asked for, mmap=2147418112 is in effect"), "{out}");
}

#[test]
fn one_commit_for_all_updates_is_a_finding() {
    let world = exported();
    let one = "all 50 updates of a pass share one commit";
    let run = "run a.db a.dir --update --count 50 --batch all --rounds 1 --verbose";
    let line = |out: &str| out.lines().find(|line| line.contains(one)).map(str::to_owned);
    let out = world.ok(&format!("{run} --durability none")).out;
    assert!(line(&out).is_some_and(|line| line.starts_with("· ")), "{out}");
    let out = world.ok(&format!("{run} --durability durable")).out;
    assert!(line(&out).is_some_and(|line| line.starts_with("! ")), "{out}");
    let run = run.replace("--batch all ", "");
    assert!(line(&world.ok(&run).out).is_none());
}

#[test]
fn a_log_that_is_never_checkpointed_is_a_finding() {
    let world = exported();
    let run = "run a.db --update --jmode wal --rounds 1 --verbose";
    let says = "the log is never written back into the database";
    assert!(!world.ok(run).out.contains(says));
    let out = world.ok(&format!("{run} --nocheckpoint")).out;
    assert!(out.contains(says), "{out}");
}

#[test]
fn a_users_folder_is_measured_by_its_paths() {
    let world = World::new();
    for (name, size) in [("a/b/c.txt", 10), ("a/d.txt", 0), ("e f.txt", 5000), ("ü.bin", 3)] {
        world.write(&format!("mine/{name}"), vec![7; size]);
    }
    std::os::unix::fs::symlink("c.txt", world.path("mine/a/b/link")).unwrap();
    let before = world.tree();
    let ran = world.ok("run --data mine --rounds 1 --verbose");
    assert!(ran.out.contains("\n4 keys of 0 to 5,000 bytes"), "{}", ran.out);
    assert!(ran.err.contains("a/b/link"), "{}", ran.err);
    assert_eq!(world.tree(), before);
    world.ok("run mine --rounds 1");
}

#[test]
fn a_users_folder_of_numbers_is_measured_by_its_paths() {
    for odd in [None, Some("mine/notes")] {
        let world = World::new();
        for name in ["mine/000001", "mine/000033"].into_iter().chain(odd) {
            world.write(name, [7; 100]);
        }
        world.ok("run files: sqlite: pack: memory: --data mine --rounds 1");
        world.ok("run files: sqlite: --data mine --update --rounds 1");
    }
}

#[test]
fn threads_and_batches_do_all_the_work() {
    let world = exported();
    for line in [
        "run a.db a.dir --threads 4 --rounds 1",
        "run a.db --update --threads 4 --batch 3 --rounds 1 --jmode wal",
        "run a.dir --update --threads 4 --batch 3 --rounds 1",
        "run a.db --update --random --threads 2 --rounds 1",
        "run pack: --update --threads 2 --keys 30 --rounds 1",
        "run memory: --update --threads 2 --keys 30 --rounds 1",
    ] {
        let out = world.ok(line).out;
        assert!(out.contains("operations"), "{out}");
    }
}

/// What one commit changes does not fit beside what is there.
const TOO_FULL: &str = "lmdb:?map=10MiB";

#[test]
fn a_target_that_fails_before_the_rounds_is_left_out_and_the_others_are_measured() {
    let world = World::new();
    let run = "--keys 500 --update --batch all --rounds 1 --json r.json";
    let ran = world.run(&format!("run {TOO_FULL} files: sqlite: {run} -v"));
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("storemark: lmdb map=10MiB not measured to the end"), "{}", ran.err);
    assert!(ran.out.contains("! lmdb map=10MiB: not measured: "), "{}", ran.out);
    let row = |name: &str| ran.out.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    assert!(row("files ").ends_with("baseline"), "the first that remains: {}", ran.out);
    let record = world.path("r.json");
    let text = std::fs::read_to_string(&record).unwrap();
    assert_eq!(text.matches(r#"{"line":"sample""#).count(), 2, "{text}");
    // With no other there is nothing to go on with.
    std::fs::remove_file(&record).unwrap();
    let ran = world.run(&format!("run {TOO_FULL} {run}"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
    assert!(ran.err.starts_with("storemark: lmdb map=10MiB: "), "{}", ran.err);
}

/// What a percentile is, is the machine's; that it is judged is not.
#[test]
fn a_percentile_is_judged_if_it_is_asked_for() {
    let world = World::new();
    let run = "--read --keys 200 --size 100 --rounds 6 --judge p99";
    let ran = world.run(&format!("run lmdb: files: {run} --fail-above 0.001% --json r.json"));
    assert!(ran.out.contains("read, warm: p99"), "{}", ran.out);
    assert!(ran.err.contains("read, warm: files: p99 ÷ that of lmdb "), "{}", ran.err);
    let told = world.ok("report r.json --json -").out;
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let judged = &told["runs"][0]["rows"][1]["judged"];
    assert_eq!((&judged["figure"], &judged["ratio"]["rounds"]), (&"p99".into(), &6.into()));
    world.ok("report r.json --html page.html");
    let page = std::fs::read_to_string(world.path("page.html")).unwrap();
    assert!(page.contains("Verdicts on a percentile of the latencies"), "{page}");
    let plain = world.ok("run lmdb: files: --read --keys 200 --size 100 --rounds 5").out;
    assert!(!plain.contains("read, warm: p99"), "{plain}");
    world.refuses([
        ("run lmdb: files: --judge p98", "accepted: time, p50, p99"),
        ("rows sqlite: jsonl: --judge p99", "--judge"),
    ]);
}

/// LMDB against files: whatever the machine, a file takes system calls.
#[test]
fn a_gate_on_a_run_passes_fails_or_cannot_judge() {
    let world = World::new();
    let gated = |targets: &str, rest: &str| {
        let ran = world.run(&format!("run {targets} --read --keys 200 --size 100 {rest}"));
        (ran.code.unwrap(), ran.err)
    };
    let (code, said) = gated("files: lmdb: pack:", "--rounds 6 --fail-above 5%");
    assert_eq!((code, said.contains("gate at 5 %: pass")), (0, true), "{said}");
    let (code, said) = gated("lmdb: files:", "--rounds 6 --fail-above 5%");
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("gate at 5 %: fail: read, warm: files: time ÷ that of lmdb "), "{said}");
    for (more, expected) in [("", 2), (" --inconclusive pass", 2)] {
        let (code, said) = gated("lmdb: files:", &format!("--rounds 1 --fail-above 5%{more}"));
        assert_eq!(code, expected, "{said}");
        assert!(said.contains("no target can be judged; more --rounds may do"), "{said}");
    }
    // A limit of the machine is measured as without a gate, and not judged.
    let (code, said) = gated("files: pack:", "--rounds 2 --fail-above 5% --json limit.json");
    assert_eq!((code, said.contains("as there is no store to compare")), (2, true), "{said}");
    assert_eq!(world.record("limit.json").samples.len(), 4);
    let (code, said) = gated("files: pack:", "--time 5s --fail-above 5% --json limit.json");
    assert_eq!(code, 2, "{said}");
    assert!(!world.record("limit.json").samples.is_empty(), "{said}");
    let (code, said) = gated("files:", "--fail-above 5%");
    assert_eq!((code, said.contains("there is only one target")), (1, true), "{said}");
    let (code, said) = gated("lmdb: files:", "--inconclusive pass");
    assert_eq!((code, said.contains("--fail-above")), (1, true), "{said}");
}

/// Every experiment has both gates. One of two targets takes longer than the other by more than a thousandth of a
/// percent, or nobody knows, so that the gate on times cannot pass in both orders.
#[test]
fn every_experiment_is_gated() {
    for (command, targets) in [
        ("rows --rows 300", ["sqlite:", "sqlite:?cache=1MiB"]),
        ("queue --workers 2 --tasks 2 --judge p99", ["sqlite:", "sqlite:?connection=shared"]),
        ("age --objects 20 --size 2k --ages 0,1 --judge p50", ["sqlite:", "sqlite:?api=blob"]),
        ("life --keys 50 --size 1k --days 1", ["sqlite:", "sqlite:?cache=1MiB"]),
        ("backup --files 40", ["sqlite:", "sqlite:?cache=1MiB"]),
    ] {
        let world = World::new();
        let mut said = String::new();
        for [one, other] in [targets, [targets[1], targets[0]]] {
            let gates = "--rounds 5 --fail-above 0.001% --fail-on flushes";
            let ran = world.run(&format!("{command} {one} {other} {gates}"));
            let passes = |gate: &str| ran.err.contains(&format!("gate {gate}: pass\n"));
            let both = passes("at 0.001 %") && passes("on flushes");
            assert_eq!(ran.code, Some(if both { 0 } else { 3 }), "{command}: {}", ran.err);
            assert!(ran.err.contains("gate on flushes: "), "{command}: {}", ran.err);
            said += &ran.err;
        }
        let figure = command.split_once("--judge ").map_or("time", |(_, figure)| figure);
        let not_passed = ["fail", "undecided"].map(|gate| format!("gate at 0.001 %: {gate}: "));
        let lines = said.lines().filter(|line| not_passed.iter().any(|gate| line.contains(gate)));
        assert!(lines.clone().any(|line| line.contains(&format!("{figure} ÷ that of "))), "{said}");
    }
}
