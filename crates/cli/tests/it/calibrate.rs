//! Comparisons whose truth is known. What they show depends on the machine; that it is counted
//! right does not.

use std::fs;

use serde_json::Value;

use crate::{running::signal, world::World};

/// What is counted does not depend on how far a run comes, if it comes to its first round at all.
const TINY: &str = "--keys 50 --size 1k --run-time 5s";

fn lines(world: &World, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(world.path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// What follows the name of a row of the table.
fn row<'o>(out: &'o str, name: &str) -> Vec<&'o str> {
    let line = out.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{out}"));
    line[name.len()..].split_whitespace().collect()
}

#[test]
fn every_run_is_counted_and_kept() {
    let world = World::new();
    let forms = "--forms slowed,same --slow-down 50% --runs 2";
    let line = format!("calibrate {TINY} {forms} --seed 7 --json out.jsonl");
    let ran = world.ok(&line);
    let said = "this takes up to 20.0 s: 2 runs of each of 2 forms, up to 5.0 s a record";
    assert!(ran.err.contains(said), "{}", ran.err);
    let written = lines(&world, "out.jsonl");
    let (head, runs) = written.split_first().unwrap();
    assert_eq!((&head["line"], &head["target"]), (&"calibration".into(), &"pack:".into()));
    assert_eq!(head["forms"], serde_json::json!(["same", { "slowed": 0.5 }]));
    let slowed = &head["slow_downs"][0];
    assert!(number(&slowed["wait_ns"]) > 0.0 && number(&slowed["measured_ns"]) > 0.0);
    assert_eq!(runs.len(), 4);
    for (form, name) in [(&head["forms"][0], "one store"), (&head["forms"][1], "50 % slower")] {
        assert_eq!(runs.iter().filter(|run| run["form"] == *form).count(), 2);
        assert_eq!(row(&ran.out, name)[0], "2", "{}", ran.out);
    }
    assert!(ran.out.contains("all 4 runs were made; seed 7"), "{}", ran.out);
    // Nothing is left but the lines.
    assert_eq!(fs::read_dir(world.path("")).unwrap().count(), 1);

    // The same seed makes the same runs in the same order, and replaces the file. That shows without time
    // to measure them, too.
    let again = world.run(&line.replace("5s", "0s"));
    assert_eq!(again.code, Some(2), "{}", again.err);
    let seeds = |runs: &[Value]| -> Vec<_> {
        runs.iter().map(|run| (run["form"].clone(), run["seed"].clone())).collect()
    };
    let again = lines(&world, "out.jsonl");
    assert_eq!(seeds(&again[1..]), seeds(runs));
}

#[test]
fn a_line_agrees_with_its_own_rounds() {
    let world = World::new();
    // Four targets have a round each on a busy machine, too.
    world.ok("calibrate files: --keys 50 --size 1k --run-time 10s --forms table --runs 1 --json out.jsonl");
    let run = &lines(&world, "out.jsonl")[1];
    let ratios = run["ratios"].as_array().unwrap();
    // Four targets, one of them the baseline.
    assert_eq!(ratios.len(), 3, "{run}");
    for one in ratios.iter().filter(|one| one["by_round"].as_array().unwrap().len() > 1) {
        let logs = one["by_round"].as_array().unwrap().iter().map(|ratio| number(ratio).ln());
        let ratio = &one["ratio"];
        assert_eq!(ratio["rounds"], logs.len());
        let mean = (logs.clone().sum::<f64>() / logs.len() as f64).exp();
        assert!((mean / number(&ratio["point"]) - 1.0).abs() < 1e-9, "{one}");
        let (low, high) = (number(&ratio["low"]), number(&ratio["high"]));
        assert!(low <= mean && mean <= high, "{one}");
    }
}

/// Each form once: what it does is done, and what it is called is in the table.
#[test]
fn each_form_is_run() {
    let world = World::new();
    let line = "calibrate --keys 50 --size 1k --run-time 3s --runs 1 --json out.jsonl";
    let out = world.ok(line).out;
    let forms = ["one store", "two copies", "four targets", "updates", "cold reads", "two threads"];
    let names = forms.into_iter().chain(["2 % slower", "5 % slower", "--fail-above 10%"]);
    let written = lines(&world, "out.jsonl");
    for (name, run) in names.zip(&written[0]["forms"].as_array().unwrap().clone()) {
        let line = written.iter().find(|line| line["form"] == *run).unwrap();
        // A busy machine may leave it out.
        if line["line"] == "run" {
            assert_eq!(row(&out, name)[0], "1", "{out}");
        }
    }
}

#[test]
fn the_time_given_is_that_of_all_runs() {
    let world = World::new();
    let ran = world.run(&format!("calibrate {TINY} --forms same --runs 1000 --time 3s"));
    // On a busy machine not one fits.
    assert!(matches!(ran.code, Some(0 | 2)), "{}", ran.err);
    assert!(
        ran.err.contains("this takes 3.0 s: as much as fits of 1000 runs, up to 5.0 s"),
        "{}",
        ran.err
    );
    assert!(ran.out.contains(" of 1000 runs were made (--time 3.0 s)"), "{}", ran.out);
    let refused = world.run("calibrate --time 0");
    assert!(refused.err.contains("the time was over"), "{}", refused.err);
}

#[test]
fn a_run_that_does_not_fit_is_left_out_and_the_others_go_on() {
    let world = World::new();
    let ran = world.run(
        "calibrate --keys 50 --size 1k --run-time 0s --forms same,copies,gate --runs 2 --json out.jsonl",
    );
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("none of the runs could be measured; use more --time"), "{}", ran.err);
    let says = "0 of 6 runs were made; seed";
    assert!(ran.out.contains(says), "{}", ran.out);
    let says = "6 runs were left out of all figures: one store 2, two copies 2, gate 2; the first";
    assert!(ran.out.contains(says), "{}", ran.out);
    let written = lines(&world, "out.jsonl");
    assert_eq!(written.len(), 7);
    for line in &written[1..] {
        assert_eq!(line["line"], "left-out");
        assert!(!line["why"].as_str().unwrap().is_empty(), "{line}");
    }
}

#[test]
fn a_store_of_the_users_is_only_read() {
    let world = World::after(["init a.db --count 50 --size 1k"]);
    let before = world.tree();
    // Enough for the updates on a busy machine, too.
    let out = world.ok("calibrate a.db --forms updates --runs 1 --run-time 15s").out;
    assert!(out.contains("a.db, compared with itself"), "{out}");
    assert_eq!(row(&out, "updates")[0], "1", "{out}");
    assert!(world.tree() == before);
    // All forms but those that need copies of it.
    world.run("calibrate a.db --runs 1 --run-time 0s --json out.jsonl");
    let forms = lines(&world, "out.jsonl").swap_remove(0)["forms"].take();
    assert!(
        !forms.to_string().contains("copies") && forms.to_string().contains("updates"),
        "{forms}"
    );
}

#[test]
fn lines_on_standard_output_stand_alone() {
    let world = World::new();
    let ran = world.ok(&format!("calibrate {TINY} --forms same --runs 1 --json -"));
    let kinds: Vec<Value> = ran.out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(kinds.len(), 2);
    assert_eq!(row(&ran.err, "one store")[0], "1");
}

#[test]
fn an_interrupted_calibration_shows_and_keeps_what_is_done() {
    let world = World::new();
    // The first run that fits into its time is waited for.
    let line =
        "calibrate --keys 50 --size 1k --run-time 1s --forms same --runs 1000 --json out.jsonl";
    let child = world.under_way(line, "out.jsonl", r#"{"line":"run""#, 1);
    signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(130), "{out}");
    let done = lines(&world, "out.jsonl").iter().filter(|line| line["line"] == "run").count();
    assert!(done > 0);
    assert!(out.contains(&format!("\n{done} of 1000 runs were made")), "{out}");
    assert_eq!(fs::read_dir(world.path("")).unwrap().count(), 1, "the scratch store is gone");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let world = World::after(["init good.db --count 20 --size 100"]);
    world.ok("run good.db --rounds 1 --json run.json");
    world.write("text", "a text");
    world.refuses([
        ("calibrate absent", "absent"),
        ("calibrate sqlite:absent.db", "absent.db"),
        ("calibrate sqlight:", "did you mean sqlite?"),
        ("calibrate text", "no store of a kind that storemark knows"),
        ("calibrate memory:", "is nowhere on disk"),
        ("calibrate null:", "is nowhere on disk"),
        ("calibrate good.db?journal=wal --quiet", "journal=wal takes effect on writing"),
        ("calibrate good.db --keys 5", "good.db has its own"),
        ("calibrate --size 10 --variance 20", "larger than the size"),
        ("calibrate --keys 0", "at least one"),
        ("calibrate --forms sam", "did you mean same?"),
        ("calibrate good.db --forms copies", "good.db is one store of yours"),
        ("calibrate --runs 0", "0"),
        ("calibrate --runs many", "many"),
        ("calibrate --runs 1000001", "1000001"),
        ("calibrate --run-time soon", "is not a duration"),
        ("calibrate --slow-down 0%", "a percentage above 0"),
        ("calibrate --slow-down -5%", "-5"),
        ("calibrate --slow-down 5", "a percentage above 0"),
        ("calibrate --slow-down fast", "a percentage above 0"),
        ("calibrate good.db --slow-down 0.0000001% --quiet", "shorter than any wait"),
        ("calibrate --scratch absent", "absent does not exist"),
        ("calibrate --json text", "not a record of storemark calibrate"),
        ("calibrate --json run.json", "not a record of storemark calibrate"),
        ("calibrate --json absent/out.jsonl", "absent/out.jsonl"),
        ("calibrat", "did you mean calibrate?"),
    ]);
}
