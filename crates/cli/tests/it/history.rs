//! `storemark compare --history`: where the times of a folder of records change.

use serde_json::Value;

use crate::{compare_records::retimed, world::World};

const WEEK: u64 = 7 * 86_400;

/// A world with `records/00.json` and so on, a record a week: the time of `pack`, divided by that of
/// `files`, is what `times` says, 2 % more or less.
fn weekly(count: u64, times: impl Fn(u64) -> f64) -> World {
    let line = "run files: pack: --read --keys 30 --size 1k --rounds 5 --seed 7";
    let world = World::with_record(line, "run.json");
    for (week, noise) in (0..count).zip([0.98, 1.01, 1.0, 1.02, 0.99].into_iter().cycle()) {
        let name = format!("records/{week:02}.json");
        retimed(
            &world,
            "run.json",
            &name,
            |target| if target == 0 { 1.0 } else { times(week) * noise },
        );
        change(&world, &name, |header| {
            header["started"] = (1_700_000_000 + week * WEEK).into();
        });
    }
    world
}

/// Changes the header of a record.
fn change(world: &World, name: &str, change: impl Fn(&mut Value)) {
    let text = std::fs::read_to_string(world.path(name)).unwrap();
    let (header, rest) = text.split_once('\n').unwrap();
    let mut header: Value = serde_json::from_str(header).unwrap();
    change(&mut header);
    world.write(name, format!("{header}\n{rest}"));
}

#[test]
fn a_baseline_that_creeps_by_one_percent_a_week_is_found() {
    let world = weekly(20, |week| 1.01_f64.powf(week as f64));
    let out = world.ok("compare --history records").words();
    assert!(out.starts_with("history of records Of 1 line: 1 creeping."), "{out}");
    let says = "read, warm: pack: creeps by +1.0";
    assert!(out.contains(says) && out.contains("from 00.json (2023-11-14)"), "{out}");
    let pairs = ["00.json records/01.json", "18.json records/19.json"];
    for pair in pairs {
        let out = world.ok(&format!("compare records/{pair}")).out;
        assert!(!out.contains("worse"), "two neighbours show nothing: {out}");
    }
}

#[test]
fn a_step_is_found_with_what_changed_at_it_in_each_form() {
    let world = weekly(16, |week| if week < 9 { 1.0 } else { 1.1 });
    for week in 9..16 {
        change(&world, &format!("records/{week:02}.json"), |header| {
            header["environment"]["kernel"] = "9.9.9".into();
        });
    }
    let out = world.ok("compare --history records").words();
    assert!(out.contains("Of 1 line: 1 with steps."), "{out}");
    assert!(out.contains("read, warm: pack: 1.") && out.contains("differs in: kernel: "), "{out}");
    assert!(out.contains("× slower since 09.json (2024-01-16), 1."), "{out}");
    assert_eq!(out, world.ok("compare --history records").words(), "the seed is fixed");
    let quiet = world.ok("compare --history records --quiet").out;
    assert_eq!(quiet, "history of records\nOf 1 line: 1 with steps.\n");
    let text = world.ok("compare --history records --markdown").out;
    assert!(text.starts_with("### history of records\n\nOf 1 line: 1 with steps."), "{text}");
    let data: Value =
        serde_json::from_str(&world.ok("compare --history records --json -").out).unwrap();
    let line = &data["groups"][0]["lines"][1];
    assert_eq!((&line["target"], &line["control"]), (&"pack".into(), &"files".into()));
    assert_eq!((&line["verdict"], &line["steps"][0]["record"]), (&"steps".into(), &9.into()));
    world.ok("compare --history records --quiet --html page.html");
    let page = std::fs::read_to_string(world.path("page.html")).unwrap();
    assert!(page.contains("Where does the time change in records?"), "{page}");
    assert!(page.contains("× slower since 09.json"), "{page}");
    let same = "compare --history records --quiet --html x --json x";
    assert!(world.refused(same).contains("--json x: is the file of --html as well"));
    assert!(!world.path("x").exists());
}

#[test]
fn records_of_other_machines_and_settings_are_apart() {
    let world = weekly(16, |week| if week % 2 == 0 { 1.0 } else { 1.2 });
    for week in (1..16).step_by(2) {
        change(&world, &format!("records/{week:02}.json"), |header| {
            header["environment"]["cpu"]["model"] = "Another".into();
        });
    }
    let out = world.ok("compare --history records").words();
    assert!(out.contains("Of 2 lines: 2 steady."), "{out}");
    assert!(out.contains("are not compared: 2 groups") && out.contains("Another"), "{out}");
    world.ok("run files: pack: --read --keys 31 --size 1k --rounds 5 -q --json records/other.json");
    world.ok(
        "run files: pack:?io=mmap --read --keys 30 --size 1k --rounds 5 -q --json records/map.json",
    );
    let out = world.ok("compare --history records").words();
    assert!(out.contains("are not compared: 3 groups"), "{out}");
    assert!(out.contains("2 steady, 2 with too few records"), "{out}");
}

#[test]
fn what_is_no_history_is_refused() {
    let world = weekly(3, |_| 1.0);
    let out = world.ok("compare --history records").words();
    assert!(out.contains("changes are shown from 8 records of one group on"), "{out}");
    world.refuses([
        ("compare --history record", "record: no such folder: did you mean records?"),
        ("compare --history run.json", "run.json: is not a folder"),
        ("compare --history records run.json run.json", "cannot be used"),
        ("compare --history records --fail-above 5%", "cannot be used"),
        ("compare --history records --verbose", "cannot be used with '--verbose'"),
        ("compare run.json run.json --html page.html", "--html shows a history: add --history DIR"),
        ("compare --history records --control redb", "not in any record (accepted: files, pack)"),
        ("compare --history records --control fles", "not in any record: did you mean files?"),
        ("compare run.json run.json --control pakc", "not in both records: did you mean pack?"),
    ]);
    std::fs::copy(world.path("records/01.json"), world.path("records/copy.json")).unwrap();
    world.refuses([("compare --history records", "copy.json is the same record as 01.json")]);
    world.write("records/copy.json", "{}\n");
    world.refuses([("compare --history records", "copy.json: this is not a record")]);
}

#[test]
fn records_of_too_few_rounds_have_no_line_and_it_is_said_why() {
    let world = World::new();
    std::fs::create_dir(world.path("records")).unwrap();
    for name in ["a", "b", "c"] {
        let record = format!("records/{name}.json");
        world.ok(&format!("run files: --read --keys 30 --size 1k --rounds 2 --json {record}"));
    }
    let out = world.ok("compare --history records").words();
    assert!(out.contains("each record has fewer than 5 rounds"), "{out}");
}
