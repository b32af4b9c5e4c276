//! `storemark rows` from outside.

use std::{
    fs,
    process::{Child, Stdio},
};

use crate::{
    running::{SAMPLE, signal, within},
    world::World,
};

const QUICK: &str = "--rows 600 --rounds 1 -q";

#[test]
fn every_style_and_group_is_measured_and_leaves_nothing() {
    let world = World::new();
    let line = "rows jsonl: csv: sqlite: sqlite:?store=memory --processes 1,2 --shared --batch 100";
    let ran = world.ok(&format!("{line} {QUICK} --json r.jsonl"));
    for shown in [
        "1 process\n",
        "2 processes, a database each",
        "2 processes on one database",
        "sqlite prepared",
        "sqlite store=memory bulk",
        "time ÷ that of jsonl bulk",
        "600 rows of two integers by each process, 100 a transaction",
    ] {
        assert!(ran.out.contains(shown), "{shown}\n{}", ran.out);
    }
    let left: Vec<_> = world.tree().into_keys().collect();
    assert_eq!(left, [world.path("r.jsonl")]);
    // Files cannot be shared, nor can what is in the memory of a process.
    let (_, shared) = ran.out.split_once("\n2 processes on one database\n").unwrap();
    let (table, _) = shared.split_once("time ÷").unwrap();
    assert!(!table.contains("csv") && !table.contains("memory"), "{table}");
    assert!(table.contains("sqlite text"), "{table}");
    let alone = world.ok(&format!("rows csv: --processes 2 --shared {QUICK} -v")).out;
    assert!(!alone.contains("on one database each process"), "{alone}");
    let words = alone.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = "not measured: several processes on one database: its one file has no locks";
    assert!(words.contains(says), "{alone}");
}

#[test]
fn a_target_may_have_rows_a_transaction_of_its_own() {
    let world = World::new();
    let line = "rows sqlite:?batch=2&sync=off sqlite:?sync=off --style text --durability none";
    let ran = world.ok(&format!("{line} {QUICK} --json r.jsonl"));
    assert!(ran.out.contains("sqlite sync=off batch=2 text"), "{}", ran.out);
    let record = fs::read_to_string(world.path("r.jsonl")).unwrap();
    assert!(record.contains(r#""in_effect":{"batch":"2""#), "{record}");
    for wrong in ["0", "many", "2&batch=3"] {
        let ran = world.run(&format!("rows sqlite:?batch={wrong} {QUICK}"));
        assert_eq!(ran.code, Some(1), "{wrong}: {}", ran.err);
        assert!(ran.err.contains("batch"), "{}", ran.err);
    }
}

#[test]
fn a_record_shows_the_page_again() {
    let world = World::new();
    let ran = world.ok(&format!("rows csv: sqlite: {QUICK} --json r.jsonl"));
    assert_eq!(world.ok("report r.jsonl").out, ran.out);
    let record = fs::read_to_string(world.path("r.jsonl")).unwrap();
    // One of each operation, of csv and of four styles.
    assert_eq!(record.matches(r#"{"line":"sample""#).count(), 15);
}

#[test]
fn the_published_table_stands_beside_as_many_rows() {
    let world = World::new();
    let ran = world.ok("rows sqlite: --style text --rounds 1 -q");
    assert!(ran.out.contains("September 13, 2012"), "{}", ran.out);
    let line = ran.out.lines().find(|line| line.starts_with("sqlite text")).unwrap();
    // In seconds or milliseconds, as those measured here are.
    for published in [["3.17", "3170"], ["0.160", "160"], ["0.960", "960"], ["3.02"; 2]] {
        assert!(published.iter().any(|text| line.contains(text)), "{published:?}: {line}");
    }
    let fewer = world.ok(&format!("rows sqlite: --style text {QUICK}"));
    assert!(!fewer.out.contains("2012"), "{}", fewer.out);
}

#[test]
fn without_targets_what_is_missing_is_named() {
    let world = open_world();
    let ran = world.ok(&format!("rows --style text {QUICK} -v"));
    for (engine, label) in
        [("mariadb", "mariadb engine=innodb text"), ("postgres", "postgres text")]
    {
        let named = ran.out.contains(&format!("{engine}: not measured: "));
        assert!(named != ran.out.contains(label), "{engine} is measured or named\n{}", ran.out);
    }
    assert!(ran.out.contains("time ÷ that of sqlite text"), "{}", ran.out);
    // What was not published is not there as published.
    let published = world.ok(&format!("rows --as-published {QUICK} -v")).out;
    assert!(!published.contains("postgres") && !published.contains("engine=aria"), "{published}");
}

/// A folder that the user as whom a server runs can pass through.
pub(crate) fn open_world() -> World {
    let world = World::new();
    #[cfg(unix)]
    fs::set_permissions(world.path("."), std::os::unix::fs::PermissionsExt::from_mode(0o711))
        .unwrap();
    world
}

/// Whether tests have to do without the server of `engine`, which is not installed.
fn is_without(engine: &str) -> bool {
    crate::servers::without(engine)
}

#[test]
#[cfg(unix)]
fn postgres_is_measured_on_a_server_that_is_gone_afterwards() {
    let world = open_world();
    let line = "rows postgres:?sync=off postgres:?sync=off&null=no --rows 500 --batch 100 --rounds 1 \
                --processes 2 --shared --json r.jsonl -q";
    if is_without("postgres") {
        assert!(world.refused(line).contains("postgres"));
        return;
    }
    let ran = world.ok(line);
    for style in ["text", "prepared", "multi", "bulk"] {
        let starts = ["", "null=no "].map(|null| format!("postgres sync=off {null}{style} "));
        for start in starts {
            // With a database each, and on one; times, then ratios.
            let lines = ran.out.lines().filter(|line| line.starts_with(start.as_str()));
            assert!(lines.count() >= 2, "{start}\n{}", ran.out);
        }
    }
    let record = fs::read_to_string(world.path("r.jsonl")).unwrap();
    assert!(record.contains("lock waits") && record.contains("busy retries"), "{record}");
    let left: Vec<_> = world.tree().into_keys().collect();
    assert_eq!(left, [world.path("r.jsonl")]);
}

#[test]
#[cfg(target_os = "linux")]
fn mariadb_is_measured_and_leaves_nothing() {
    if is_without("mariadb") {
        return world_refuses_mariadb();
    }
    let world = open_world();
    let targets = "mariadb: mariadb:?engine=myisam&null=no mariadb:?engine=memory";
    let ran = world.ok(&format!(
        "rows {targets} --rows 500 --rounds 1 --batch 100 --processes 2 --shared -q --json r.jsonl"
    ));
    for shown in ["mariadb bulk", "mariadb engine=myisam null=no prepared", "2 processes on one"] {
        assert!(ran.out.contains(shown), "{shown}\n{}", ran.out);
    }
    let record = fs::read_to_string(world.path("r.jsonl")).unwrap();
    for told in [r#""null":"no""#, r#""engine":"memory""#, r#""engine":"innodb""#] {
        assert!(record.contains(told), "{told}");
    }
    assert!(!ran.out.contains("not delayed"), "{}", ran.out);
    let left: Vec<_> = world.tree().into_keys().collect();
    assert_eq!(left, [world.path("r.jsonl")]);
    world.refuses([
        ("rows mariadb:?engine=csv", "accepted: null=no"),
        ("rows mariadb:?engine=memory&cache=64MiB", "engine=memory has no cache"),
        ("rows mariadb: --style delayed", "has no such style"),
    ]);
}

#[cfg(target_os = "linux")]
fn world_refuses_mariadb() {
    let said = World::new().refused("rows mariadb:");
    assert!(said.contains("mariadb"), "{said}");
}

#[test]
fn waiting_for_each_other_is_shown() {
    let world = World::new();
    // Each row in a transaction of its own: none of two processes gets through without waiting.
    let line = "rows sqlite: --style text --rows 300 --batch 1 --processes 4 --shared --rounds 1 --verbose";
    let ran = world.ok(line);
    assert!(ran.out.contains("lock waits ") && ran.out.contains(", busy retries "), "{}", ran.out);
}

#[test]
fn bad_input_gets_one_line() {
    let world = World::new();
    world.refuses([
        ("rows nosuch:", "no engine \"nosuch\""),
        ("rows sqlit:", "did you mean sqlite?"),
        ("rows a.db", "names no engine"),
        ("rows sqlite:a.db", "leave out \"a.db\""),
        ("rows sqlite:?synk=off", "did you mean sync?"),
        ("rows sqlite:?null=maybe", "accepted: yes, no"),
        ("rows sqlite: --style txt", "did you mean text?"),
        ("rows sqlite: --style delayed", "sqlite has no such style"),
        ("rows sqlite: --rows 0", "--rows 0: accepted is 1 or more"),
        ("rows sqlite: --batch 0", "--batch 0: accepted is 1 or more"),
        ("rows sqlite: --rows 3g", "accepted is up to 1000000000"),
        ("rows sqlite: --processes 0", "a whole number, 1 to 64"),
        ("rows sqlite: --processes 2,x", "a whole number, 1 to 64"),
        (
            "rows csv: --durability consistent",
            "csv bulk: cannot give durability consistent (it gives: none, durable)",
        ),
        ("rows csv: --baseline sqlite", "no such target"),
        ("rows csv: --scratch absent", "absent does not exist"),
        ("rows sqlite: --as-published --batch 5", "cannot be used with"),
    ]);
}

/// A run that has finished a trial.
fn under_way(world: &World) -> Child {
    let line =
        "rows sqlite: csv: --style text --rows 5000 --processes 2 --rounds 100000 --json r.jsonl";
    world.under_way(line, "r.jsonl", SAMPLE, 4)
}

/// Workers whose parent is `pid`; it has other children too.
#[cfg(target_os = "linux")]
fn workers(pid: u32) -> Vec<u32> {
    let list = format!("/proc/{pid}/task/{pid}/children");
    let list = fs::read_to_string(list).unwrap_or_default();
    list.split_whitespace().map(|id| id.parse().unwrap()).filter(|id| is_worker(*id)).collect()
}

#[cfg(target_os = "linux")]
fn is_worker(pid: u32) -> bool {
    let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split('\0').nth(1) == Some("worker")
}

#[test]
fn interrupted_it_keeps_what_was_measured_and_leaves_nothing() {
    for name in ["INT", "TERM"] {
        let world = World::new();
        let mut child = under_way(&world);
        signal(child.id(), name);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{name}");
        let left: Vec<_> = world.tree().into_keys().collect();
        assert_eq!(left, [world.path("r.jsonl")], "{name}");
        let page = world.ok("report r.jsonl").out;
        assert!(page.contains("interrupted") && page.contains("sqlite text"), "{page}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn workers_end_with_the_one_that_started_them() {
    let world = World::new();
    let mut child = under_way(&world);
    assert!(within(20, || workers(child.id()).len() == 2), "two workers are at work");
    let workers = workers(child.id());
    signal(child.id(), "KILL");
    child.wait().unwrap();
    assert!(within(20, || !workers.iter().any(|id| is_worker(*id))), "a worker outlived the run");
    // The folder that is left is swept by the next run.
    world.ok(&format!("rows csv: {QUICK}"));
    let left: Vec<_> = world.tree().into_keys().collect();
    assert_eq!(left, [world.path("r.jsonl.unfinished")]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_worker_that_is_killed_fails_its_trial_and_the_rest_goes_on() {
    let world = World::new();
    let line =
        "rows sqlite: --style text,prepared --rows 20000 --batch 20 --rounds 2 -q --json r.jsonl";
    let mut command = world.command(line);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert!(within(20, || !workers(child.id()).is_empty()), "a worker is at work");
    signal(workers(child.id())[0], "KILL");
    let ran = crate::world::Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    // One word, as the line may be wrapped anywhere.
    assert!(ran.out.contains("(SIGKILL)"), "{}", ran.out);
    assert!(
        ran.err.starts_with("storemark: sqlite ") && ran.err.contains(" not measured to the end; "),
        "{}",
        ran.err
    );
    // Of the two styles the other one has its rounds.
    let shown = |style: &str| ran.out.lines().any(|line| line.starts_with(style));
    assert!(shown("sqlite text ") != shown("sqlite prepared "), "{}", ran.out);
    let left: Vec<_> = world.tree().into_keys().collect();
    assert_eq!(left, [world.path("r.jsonl")]);
}
