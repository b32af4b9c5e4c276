//! Comparisons whose truth is known. What they show depends on the machine; that it is counted
//! right does not.

use std::fs;

use serde_json::Value;

use crate::{running::signal, world::World};

/// Five rounds each, whatever the time.
const TINY: &str = "--keys 50 --size 1k --same-time 0 --slowed-time 0";

fn lines(world: &World, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(world.path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// The figures of a row of the table.
fn row(out: &str, name: &str) -> Vec<String> {
    let line = out.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{out}"));
    line[name.len()..].split_whitespace().map(str::to_owned).collect()
}

/// Of a kind, those with this verdict.
fn count(comparisons: &[Value], kind: &str, verdict: &str) -> String {
    let fits = |one: &&Value| one["kind"] == kind && one["verdict"] == verdict;
    comparisons.iter().filter(fits).count().to_string()
}

#[test]
fn every_comparison_is_counted_and_kept() {
    let world = World::new();
    let line = format!("calibrate {TINY} --same 3 --slowed 2 --seed 7 --json out.jsonl");
    let out = world.ok(&line).out;
    let written = lines(&world, "out.jsonl");
    let (head, comparisons) = written.split_first().unwrap();
    assert_eq!((&head["line"], &head["target"]), (&"calibration".into(), &"pack:".into()));
    assert_eq!(head["same"]["count"], 3);
    assert!(number(&head["wait_ns"]) > 0.0 && number(&head["measured_wait_ns"]) > 0.0);
    assert_eq!(row(&out, "comparisons"), ["3", "2"]);
    for (name, verdict) in [
        ("called faster", "faster"),
        ("called slower", "slower"),
        ("no difference shown", "no difference"),
    ] {
        let counted = ["same", "slowed"].map(|kind| count(comparisons, kind, verdict));
        assert_eq!(row(&out, name), counted, "{out}");
    }
    assert!(out.contains("all 5 comparisons were made; seed 7"), "{out}");
    // Nothing is left but the lines.
    assert_eq!(fs::read_dir(world.path("")).unwrap().count(), 1);

    // The same seed makes the same comparisons in the same order, and replaces the file.
    world.ok(&line);
    let seeds = |comparisons: &[Value]| -> Vec<_> {
        comparisons.iter().map(|one| (one["kind"].clone(), one["seed"].clone())).collect()
    };
    let again = lines(&world, "out.jsonl");
    assert_eq!(seeds(&again[1..]), seeds(comparisons));
}

#[test]
fn a_line_agrees_with_its_own_rounds() {
    let world = World::new();
    world.ok(&format!("calibrate files: {TINY} --same 1 --slowed 1 --json out.jsonl --check"));
    for one in &lines(&world, "out.jsonl")[1..] {
        assert_eq!(one["line"], "comparison");
        let ratios: Vec<f64> = one["ratios"].as_array().unwrap().iter().map(number).collect();
        assert_eq!(one["rounds"], 5);
        assert_eq!((ratios.len(), one["first"].as_array().unwrap().len()), (5, 5));
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / 5.0).exp();
        assert!((mean / number(&one["ratio"]) - 1.0).abs() < 1e-9, "{one}");
        let (low, high) = (number(&one["low"]), number(&one["high"]));
        assert!(low <= mean && mean <= high, "{one}");
        let verdict = match (low > 1.0, high < 1.0) {
            (true, _) => "slower",
            (_, true) => "faster",
            _ => "no difference",
        };
        assert_eq!(one["verdict"], verdict);
        assert!(one["ended"] == "time" || one["ended"] == "precise", "{one}");
    }
}

#[test]
fn a_store_of_the_users_is_only_read() {
    let world = World::new();
    world.ok("init a.db --count 50 --size 1k");
    let before = world.tree();
    let out = world.ok("calibrate a.db --same 0 --slowed 1 --slowed-time 0 --slow-down 50%").out;
    assert!(out.contains("a.db reading"), "{out}");
    assert_eq!(row(&out, "comparisons"), ["0", "1"]);
    assert!(world.tree() == before);
}

#[test]
fn lines_on_standard_output_stand_alone() {
    let world = World::new();
    let ran = world.ok(&format!("calibrate {TINY} --same 1 --slowed 0 --json - --quiet"));
    let kinds: Vec<Value> = ran.out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(kinds.len(), 2);
    assert_eq!(row(&ran.err, "comparisons"), ["1", "0"]);
}

#[test]
fn an_interrupted_calibration_shows_and_keeps_what_is_done() {
    let world = World::new();
    let line = format!("calibrate {TINY} --same 100000 --json out.jsonl");
    let child = world.under_way(&line, "out.jsonl", r#"{"line":"comparison""#, 1);
    signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2), "{out}");
    let done = lines(&world, "out.jsonl").len() - 1;
    assert!(done > 0);
    assert!(out.contains(&format!("\n{done} of 100010 comparisons were made")), "{out}");
    assert_eq!(fs::read_dir(world.path("")).unwrap().count(), 1, "the scratch store is gone");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let world = World::new();
    world.ok("init good.db --count 20 --size 100");
    world.ok("run good.db --rounds 1 --json run.json");
    world.write("text", "a text");
    for (line, says) in [
        ("calibrate absent", "absent"),
        ("calibrate sqlite:absent.db", "absent.db"),
        ("calibrate sqlight:", "did you mean sqlite?"),
        ("calibrate text", "no store of a kind that storemark knows"),
        ("calibrate memory:", "is nowhere on disk"),
        ("calibrate null:", "is nowhere on disk"),
        ("calibrate good.db?journal=wal", "journal=wal takes effect on writing"),
        ("calibrate good.db --keys 5", "good.db has its own"),
        ("calibrate --size 10 --variance 20", "larger than the size"),
        ("calibrate --keys 0", "at least one"),
        ("calibrate --same 0 --slowed 0", "there is nothing to compare"),
        ("calibrate --same many", "many"),
        ("calibrate --same 1000001", "1000001"),
        ("calibrate --same-time soon", "is not a duration"),
        ("calibrate --slow-down 0%", "a percentage above 0"),
        ("calibrate --slow-down -5%", "-5"),
        ("calibrate --slow-down 5", "a percentage above 0"),
        ("calibrate --slow-down fast", "a percentage above 0"),
        ("calibrate good.db --slow-down 0.0000001%", "shorter than any wait"),
        ("calibrate --scratch absent", "absent does not exist"),
        ("calibrate --json text", "not a record of storemark calibrate"),
        ("calibrate --json run.json", "not a record of storemark calibrate"),
        ("calibrate --json absent/out.jsonl", "absent/out.jsonl"),
        ("calibrat", "did you mean calibrate?"),
    ] {
        let said = world.refused(line);
        assert!(said.contains(says), "{line}\n{said}");
    }
}
