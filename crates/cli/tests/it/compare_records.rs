//! `storemark compare`: records that were written by a run, or changed as a test needs them.

use std::fs;

use serde_json::Value;

use crate::world::World;

/// A world with `old.json`, a record of eight rounds in which every trial took as long as it should:
/// the times of a real run are those of the machine, and tests must not depend on them.
fn recorded() -> World {
    let line = "run files: pack: --read --keys 30 --size 1k --rounds 8 --seed 7";
    let world = World::with_record(line, "run.json");
    retimed(&world, "run.json", "old.json", |_| 1.0);
    world
}

/// Copies a record with times of its own: a microsecond an operation, 1 % more or less from round to
/// round, times what `times` says of the target.
pub(crate) fn retimed(world: &World, from: &str, to: &str, times: impl Fn(u64) -> f64) {
    let text = std::fs::read_to_string(world.path(from)).unwrap();
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["line"] == "sample" {
            let [round, target] = ["round", "target"].map(|name| line[name].as_u64().unwrap());
            let wobble = 0.99 + (round * (target + 1) % 3) as f64 / 100.0;
            let operations = line["operations"].as_f64().unwrap();
            let ns = operations * 1000.0 * wobble * times(target);
            line["wall_ns"] = serde_json::from_str(&format!("{ns:.0}")).unwrap();
            line.as_object_mut().unwrap().remove("waited_ns");
        }
        line.to_string() + "\n"
    };
    world.write(to, text.lines().map(line).collect::<String>());
}

#[test]
fn a_fifth_more_fails_the_gate_and_names_the_row() {
    let world = recorded();
    retimed(&world, "run.json", "new.json", |target| 1.0 + target as f64 / 5.0);
    let ran = world.run("compare old.json new.json --fail-above 10%");
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.err);
    let [line] = ran.err.lines().collect::<Vec<_>>()[..] else { panic!("{}", ran.err) };
    let says = "storemark: gate at 10 %: fail: read, warm: pack: time new ÷ old 1.20";
    assert!(line.starts_with(says), "{line}");
    let row = ran.out.lines().find(|line| line.starts_with("pack")).unwrap();
    assert!(row.ends_with("worse: 1.20× slower"), "{row}");
    let out = world.ok("compare old.json new.json").out;
    assert!(!out.contains("sees") && !out.contains("p99"), "{out}");
    let out = world.ok("compare old.json new.json --verbose").out;
    assert!(out.contains("sees") && out.contains("p99"), "{out}");
    let quiet = world.run("compare old.json new.json --quiet --fail-above 10%");
    assert_eq!((quiet.code, quiet.err), (Some(3), ran.err));
    assert_eq!(
        quiet.out,
        "new.json against old.json\nOf 1 row: 1 worse.\ntimes are divided by those of the control, \
         files, in the same rounds\n"
    );
    for passes in [
        "old.json new.json --fail-above 30%",
        "new.json old.json --fail-above 5%",
        "old.json old.json --fail-above 3%",
    ] {
        let ran = world.ok(&format!("compare {passes}"));
        assert!(ran.err.ends_with("%: pass\n"), "{passes}: {}", ran.err);
    }
}

#[test]
fn the_control_is_the_baseline_or_a_target_that_is_named() {
    let world = recorded();
    retimed(&world, "run.json", "new.json", |target| 1.2 - target as f64 / 5.0);
    let worse = |options: &str| {
        let out = world.ok(&format!("compare old.json new.json {options}")).out;
        let rows = out.lines().filter(|line| line.contains("worse: ")).map(str::to_owned);
        rows.map(|row| row.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(worse(""), [""; 0]);
    assert_eq!(worse("--control pack"), ["files"]);
    assert_eq!(worse("--control pack:"), ["files"]);
    let said = world.refused("compare old.json new.json --control sqlite");
    assert!(
        said.contains("--control \"sqlite\": not in both records (accepted: files, pack)"),
        "{said}"
    );
}

/// A change of the third of a per cent that is asked about is within the interval.
#[test]
fn a_gate_that_is_undecided_fails_unless_it_is_to_pass() {
    let world = recorded();
    retimed(&world, "run.json", "new.json", |_| 1.0001);
    let gate = "compare old.json new.json --fail-above 0.3%";
    let ran = world.run(gate);
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("gate at 0.3 %: undecided: read, warm: pack: time"), "{}", ran.err);
    assert!(
        ran.err
            .ends_with("storemark: more --runs or --time of both records show smaller changes\n")
    );
    assert_eq!(world.run(&format!("{gate} --inconclusive fail")).code, Some(3));
    world.ok(&format!("{gate} --inconclusive pass"));
    assert!(
        world.refused("compare old.json old.json --inconclusive pass").contains("--fail-above")
    );
}

/// However wide its intervals are.
#[test]
fn a_record_is_the_same_as_itself() {
    let world = recorded();
    let ran = world.ok("compare old.json old.json --fail-above 0.1%");
    assert_eq!(ran.out, "old.json against old.json\nThe two are the same record.\n");
    assert_eq!(ran.err, "storemark: gate at 0.1 %: pass\n");
}

/// Copies of a record are no further records.
#[test]
fn a_record_counts_once_among_several() {
    let world = recorded();
    retimed(&world, "run.json", "new.json", |_| 2.0);
    for copy in ["one/1.json", "one/2.json", "two/1.json", "three/1.json"] {
        let folder = world.path(copy);
        fs::create_dir_all(folder.parent().unwrap()).unwrap();
        fs::copy(world.path("old.json"), folder).unwrap();
    }
    fs::copy(world.path("new.json"), world.path("two/2.json")).unwrap();
    world.refuses([
        ("compare one new.json", "2.json is the same record as one/1.json"),
        ("compare two three", "three/1.json is the same record as two/1.json"),
    ]);
    assert!(world.ok("compare two two").out.contains("The two are the same record."));
}

#[test]
fn several_runs_are_in_one_record_and_counted_as_such() {
    let world = World::new();
    let run =
        "run files: pack: --read --keys 30 --size 1k --rounds 5 --runs 3 --quiet --json runs.json";
    let out = world.ok(run).out;
    assert!(out.contains("15 rounds of 3 runs"), "{out}");
    let runs: Vec<_> = world.record("runs.json").samples.iter().map(|s| (s.run, s.round)).collect();
    assert!(runs.iter().all(|(run, round)| *run == round / 5) && runs.len() == 30, "{runs:?}");
    // Stores that only one process can have open are among them.
    world.ok("run files: sqlite: memory: redb: --update --keys 20 --rounds 1 --runs 2 --threads 2");
    let out = world.ok("compare runs.json runs.json --json -").out;
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(told["rows"][1]["time_ratio"]["rounds"], 3, "{out}");
    assert_eq!(told["rows"][1]["single_run"], false);
}

#[test]
fn records_of_a_folder_are_runs_so_that_what_differs_between_them_is_no_change() {
    let world = recorded();
    for folder in ["before", "after"] {
        std::fs::create_dir(world.path(folder)).unwrap();
    }
    for (number, more) in [0.0, 0.1, 0.01, 0.12].into_iter().enumerate() {
        let times = |target: u64| 1.0 + target as f64 * more;
        retimed(&world, "run.json", &format!("before/{number}.json"), times);
        // No copies: all of it is slower, the control too.
        let slower = |target: u64| 1.001 * times(target);
        retimed(&world, "run.json", &format!("after/{}.json", 3 - number), slower);
    }
    let out = world.ok("compare before/0.json after/0.json").out;
    assert!(out.contains("worse: 1.12× slower"), "two records show a change: {out}");
    let compared = world.ok("compare before after --json -").out;
    let compared: Value = serde_json::from_str(&compared).unwrap();
    let change = &compared["rows"][1];
    let [low, point, high] =
        ["low", "point", "high"].map(|end| change["time_ratio"][end].as_f64().unwrap());
    assert!((point - 1.0).abs() < 1e-3 && low < 0.98 && high > 1.02, "{change}");
    assert_eq!(change["single_run"], false, "{change}");
    let said = world.refused("compare before .");
    assert!(said.contains("storemark: ."), "{said}");
    world.ok(
        "run files: pack: --read --keys 20 --size 1k --rounds 1 --quiet --json after/other.json",
    );
    let said = world.refused("compare before after");
    assert!(said.contains("after/other.json are of different plans"), "{said}");
    std::fs::create_dir(world.path("none")).unwrap();
    let said = world.refused("compare none before");
    assert!(said.contains("none: there is no record in it"), "{said}");
}

#[test]
fn two_real_runs_are_compared() {
    let world = World::new();
    for name in ["a", "b"] {
        let run = "run files: sqlite: --keys 30 --size 1k --rounds 5 --quiet";
        world.ok(&format!("{run} --json {name}.json"));
    }
    let out = world.ok("compare a.json b.json").out;
    for title in ["read, warm: read, random permutation", "update, warm: update"] {
        assert!(out.contains(title), "{out}");
    }
}

#[test]
fn what_both_read_is_compared_though_one_updates_as_well() {
    let world = World::new();
    std::fs::create_dir(world.path("own")).unwrap();
    world.ok("init own/a.db --count 30 --size 1k");
    world.ok("export own/a.db own/b");
    let runs = ["run files: sqlite: --keys 30 --size 1k", "run own/a.db own/b"];
    for (number, (run, own)) in runs.iter().zip([false, true]).enumerate() {
        for (name, more) in [("read", ""), ("both", "--update")] {
            world.ok(&format!("{run} --read {more} --rounds 2 -q --json {name}{number}.json"));
        }
        let out = world.ok(&format!("compare read{number}.json both{number}.json --json -")).out;
        let told: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(told["rows"].as_array().unwrap().len(), 2, "{out}");
        assert_eq!(out.contains("own/b (a store of the user)"), own, "{out}");
    }
}

#[test]
fn a_store_that_moved_is_the_same_one_and_with_other_settings_another() {
    let world = World::new();
    std::fs::create_dir(world.path("old")).unwrap();
    world.ok("init old/a.db --count 30 --size 1k");
    let run = |targets: &str, name: &str| {
        world.ok(&format!("run {targets} --read --rounds 5 -q --json {name}.json"));
    };
    run("old/a.db", "old");
    std::fs::rename(world.path("old"), world.path("new")).unwrap();
    run("new/a.db", "new");
    let out = world.ok("compare old.json new.json").words();
    let moved = "stores: old/a.db (a store of the user) against new/a.db (a store of the user)";
    assert!(out.contains(moved), "{out}");
    run("new/a.db?mmap=1MiB", "mapped");
    let said = world.refused("compare old.json mapped.json");
    assert!(said.contains("nothing in common: old/a.db against new/a.db?mmap=1MiB"), "{said}");
}

#[test]
fn rows_queues_and_ages_are_compared_too() {
    let world = World::new();
    for (run, row) in [
        ("rows sqlite: jsonl: --rows 20 --rounds 1", "jsonl"),
        ("queue files: sqlite: --workers 2 --tasks 2 --rounds 1", "sqlite"),
        ("age files: sqlite: --volume 100k --size 10k --ages 0,1 --rounds 1", "sqlite"),
    ] {
        for name in ["a", "b"] {
            world.ok(&format!("{run} --json {name}.json"));
        }
        let out = world.ok("compare a.json b.json").out;
        let line = out.lines().find(|line| line.starts_with(row)).unwrap_or_default();
        assert!(line.ends_with("too few rounds"), "{run}\n{out}");
    }
}

#[test]
fn a_gate_that_nothing_can_pass_is_not_passed() {
    let world = World::after(["run files: --read --keys 10 --rounds 1 --json once.json"]);
    retimed(&world, "once.json", "other.json", |_| 1.0);
    let ran = world.run("compare once.json other.json --fail-above 5%");
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(
        ran.err.ends_with("no row can be judged; more --runs or --time of both records may do\n"),
        "{}",
        ran.err
    );
    assert!(ran.out.contains("too few rounds"), "{}", ran.out);
}

/// A gate would pass for what nobody measured: a row without times, or the control with its target.
#[test]
fn a_gate_names_what_is_measured_no_more() {
    let world = recorded();
    let text = std::fs::read_to_string(world.path("old.json")).unwrap();
    let lost =
        |line: &&str| !(line.contains(r#""line":"sample""#) && line.contains(r#""target":1,"#));
    let text: String = text.lines().filter(lost).flat_map(|line| [line, "\n"]).collect();
    world.write("new.json", text);
    world.ok("run pack: --read --keys 30 --size 1k --rounds 8 --json run.json --seed 7");
    retimed(&world, "run.json", "alone.json", |_| 1.0);
    for (new, lost) in [("new", "read, warm: pack"), ("alone", "files")] {
        let ran = world.run(&format!("compare old.json {new}.json --fail-above 5%"));
        assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
        let says = format!("in the old record, and not in the new one: {lost}\n");
        assert!(ran.err.ends_with(&says), "{}", ran.err);
        let out = world.ok(&format!("compare old.json {new}.json --quiet")).out;
        assert!(out.ends_with(&format!("\n! only in the old record: {lost}\n")), "{out}");
        let divided = out.contains("by those of the control, files");
        let not =
            out.contains("not divided by those of a control: that takes the baseline and another");
        assert_eq!((divided, not), (new == "new", new == "alone"), "{out}");
    }
    world.ok("compare alone.json old.json --fail-above 15%");
}

#[test]
fn each_form_stands_alone_on_standard_output() {
    let world = recorded();
    retimed(&world, "run.json", "new.json", |_| 1.0001);
    let told: Value =
        serde_json::from_str(&world.ok("compare old.json new.json --json -").out).unwrap();
    assert_eq!(told["rows"][1]["target"], "pack");
    assert_eq!(told["rows"][1]["verdict"], "inconclusive");
    let text = world.ok("compare old.json new.json --markdown").out;
    let says = "### new.json against old.json\n\nOf 1 row: 1 inconclusive.";
    assert!(text.starts_with(says) && text.contains("does not show smaller changes"), "{text}");
    assert!(
        world.refused("compare old.json old.json --json - --markdown").contains("cannot be used")
    );
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let world = recorded();
    world.ok("run files: --read --keys 40 --size 1k --rounds 1 --json other.json");
    world.ok("run memory: --read --keys 30 --size 1k --rounds 1 --json memory.json");
    world.write("empty.json", "");
    world.write("foreign.json", "{\"a\":1}\n");
    world.refuses([
        ("compare old.json other.json", "different plans: data: 30 generated blobs"),
        ("compare old.json memory.json", "nothing in common: files; pack against memory"),
        ("compare old.json absent.json", "absent.json"),
        ("compare old.json empty.json", "empty.json: this is not a record"),
        ("compare foreign.json old.json", "foreign.json: this is not a record"),
        ("compare old.json", "<NEW>"),
        ("compare old.json old.json --fail-above 5", "like 5% or 0.5%"),
        ("compare old.json old.json --fail-above=-5%", "like 5% or 0.5%"),
        ("compare old.json old.json --fail-abov 5%", "did you mean --fail-above?"),
    ]);
}

#[test]
fn a_record_that_was_cut_off_is_compared_as_far_as_it_goes() {
    let world = recorded();
    let text = std::fs::read_to_string(world.path("old.json")).unwrap();
    let end = text.rfind(r#""line":"end""#).unwrap_or(text.len());
    world.write("cut.json", &text[..end - 200]);
    let ran = world.ok("compare old.json cut.json");
    assert!(ran.err.starts_with("storemark: cut.json: line "), "{}", ran.err);
    assert!(ran.out.contains("1.00 (0.9"), "{}", ran.out);
}
