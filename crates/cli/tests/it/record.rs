//! The record that a run writes, and the report made from it.

use crate::world::World;

fn recorded() -> World {
    World::with_record(
        "run files: sqlite: --keys 30 --count 30 --size 1k --rounds 5 --seed 7",
        "run.json",
    )
}

#[test]
fn a_record_has_its_header_all_samples_and_an_end() {
    let world = recorded();
    let text = std::fs::read_to_string(world.path("run.json")).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| lines.iter().filter(|line| line["line"] == kind).count();
    assert_eq!(lines[0]["line"], "header");
    assert_eq!(lines[0]["plan"]["seed"], 7);
    assert_eq!(of("store"), 2);
    // Two targets, reading and updating, five rounds.
    assert_eq!(of("sample"), 20);
    assert_eq!(lines.last().unwrap()["line"], "end");
    let environment = &lines[0]["environment"];
    assert_eq!(environment["libraries"][0]["name"], "SQLite");
    assert!(environment["filesystems"][0]["kind"].is_string());
    assert!(environment["filesystems"][0]["flush"]["p50_ns"].as_u64() > Some(0), "{environment}");
}

#[test]
fn what_is_only_read_flushes_nothing() {
    let world = World::new();
    let out = world.ok("run files: --read --keys 10 --rounds 1 --json -").out;
    let header: serde_json::Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert!(header["environment"]["filesystems"][0]["flush"].is_null(), "{header}");
}

#[test]
fn the_report_prints_the_same_tables_again() {
    let world = World::new();
    let run = world.ok("run files: sqlite: --keys 30 --size 1k --rounds 5 --json run.json");
    assert_eq!(world.ok("report run.json").out, run.out);
}

#[test]
fn what_explains_the_tables_is_printed_when_asked_for() {
    let world = World::new();
    let line = "run files: sqlite: --read --keys 30 --size 1k --rounds 5 --json run.json --explain";
    let explained = world.ok(line).out;
    assert!(explained.contains("read, warm: where the time goes, per blob"), "{explained}");
    assert!(explained.contains("read, warm: what was moved"), "{explained}");
    assert!(!explained.contains("NaN"), "{explained}");
    assert_eq!(world.ok("report run.json --explain").out, explained);
    assert!(!world.ok("report run.json").out.contains("where the time goes"));
}

#[test]
fn standard_output_carries_the_record_alone() {
    let world = World::new();
    let ran = world.ok("run files: --keys 10 --rounds 1 --json -");
    assert!(ran.out.lines().all(|line| line.starts_with(r#"{"line":""#)), "{}", ran.out);
    assert!(ran.err.contains("µs/blob"), "{}", ran.err);
}

#[test]
fn a_file_that_is_no_record_is_not_overwritten() {
    let world = recorded();
    world.write("thesis.txt", "years of work");
    assert!(world.refused("run null: --json thesis.txt").contains("not a record of storemark"));
    // A record may be: the same command can be run again.
    world.ok("run null: --keys 5 --rounds 1 --json run.json");
}

#[test]
fn what_can_be_read_of_a_damaged_record_is_shown() {
    let world = recorded();
    let text = std::fs::read_to_string(world.path("run.json")).unwrap();
    world.write("cut.json", &text[..text.len() * 2 / 3]);
    let ran = world.ok("report cut.json");
    assert!(ran.err.contains("cut short"), "{}", ran.err);
    assert!(ran.out.contains("sqlite"), "{}", ran.out);
    world.write("newer.json", text.replacen(r#""format":3"#, r#""format":99"#, 1));
    let ran = world.ok("report newer.json");
    assert!(ran.err.contains("99"), "{}", ran.err);
    world.write("empty.json", "");
    world.refused("report empty.json");
    world.write("other.json", "{\"a\":1}\n");
    world.refused("report other.json");
}

#[test]
fn the_same_seed_makes_the_same_data() {
    let world = World::after(["init a.db --count 20 --size 1k --variance 100 --seed 5"]);
    world.ok("init b.db --count 20 --size 1k --variance 100 --seed 5");
    world.ok("init c.db --count 20 --size 1k --variance 100 --seed 6");
    world.ok("verify a.db b.db");
    assert_eq!(world.run("verify a.db c.db").code, Some(3));
}

#[test]
fn json_goes_to_a_file_or_alone_to_standard_output() {
    let world = World::new();
    let run = "run files: sqlite: --read --keys 10 --rounds 1";
    let quiet = world.ok(&format!("{run} -q --json -"));
    assert_eq!(quiet.err, "");
    assert!(quiet.out.lines().all(|line| line.starts_with(r#"{"line":""#)), "{}", quiet.out);
    for name in ["run", "other"] {
        world.ok(&format!("{run} -q --json {name}.json"));
    }
    for line in ["report run.json", "compare run.json other.json"] {
        let alone = world.ok(&format!("{line} --json -")).out;
        let both = world.ok(&format!("{line} --json out.json")).out;
        assert!(both.contains("files") && !both.starts_with('{'), "{both}");
        assert_eq!(std::fs::read_to_string(world.path("out.json")).unwrap(), alone);
    }
    let said = world.refused("report run.json --json run.json");
    assert!(said.contains("it is left as it is"), "{said}");
}
