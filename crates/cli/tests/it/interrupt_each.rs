//! Every command that works for long ends when it is asked to, and leaves what it should.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Child, Stdio},
};

use crate::{
    running::{signal, within},
    world::World,
};

/// Runs `line`, interrupts it once it reports to be at `stage`, and returns what it printed after
/// that.
fn interrupted(world: &World, line: &str, stage: &str) -> Vec<String> {
    let mut command = world.command(&format!("{line} --verbose"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains(stage)), "{line}: never at {stage:?}");
    signal(child.id(), "INT");
    let after = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{line}: {after:?}");
    after
}

fn assert_said(after: &[String]) {
    assert_eq!(after.last().map(String::as_str), Some("storemark: interrupted"));
}

/// Names in the folder, those of records left out.
fn names(world: &World) -> Vec<String> {
    world.names(".").into_iter().filter(|name| !name.contains(".json")).collect()
}

#[test]
fn copies_of_all_kinds_keep_what_they_have_for_resuming() {
    let world = World::after(["init a.db --count 500k --size 10"]);
    for (line, to) in [
        ("init b.db --count 5M --size 10", "b.db"),
        ("export a.db a.dir", "a.dir"),
        ("import a.db c.db", "c.db"),
        ("copy a.db redb:a.redb", "a.redb"),
    ] {
        let before = names(&world);
        let after = interrupted(&world, line, "storemark: copying");
        assert!(after.last().unwrap().contains("--resume continues"), "{line}: {after:?}");
        let partial = format!("{to}.storemark-partial");
        let mut expected = [before, vec![partial.clone()]].concat();
        expected.sort();
        assert_eq!(names(&world), expected, "{line}");
        fs::remove_dir_all(world.path(&partial)).unwrap();
    }
    assert_said(&interrupted(&world, "verify a.db a.db", "storemark: comparing"));
}

#[test]
fn what_measures_shows_what_it_has() {
    let world = World::new();
    for line in [
        "run files: pack: --keys 50 --count 50 --rounds 100000",
        "rows sqlite: csv: --rows 500 --style text --rounds 100000",
        "queue files: sqlite: --workers 3 --tasks 3 --rounds 100000",
        "age files: sqlite: --objects 20 --size 2k --rounds 100000",
        "life files: sqlite: --keys 20 --size 2k --days 2 --rounds 100000",
        "calibrate pack: --keys 50 --forms same --runs 100000 --run-time 1s --time 1h",
    ] {
        let child = world.under_way(&format!("{line} --json record.json"), "record.json", "\n", 4);
        signal(child.id(), "INT");
        let output = child.wait_with_output().unwrap();
        let (out, err) =
            [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b)).into();
        assert_eq!(output.status.code(), Some(130), "{line}: {out}{err}");
        assert!(err.ends_with("interrupted\n"), "{line}: {err}");
        assert!(out.lines().count() > 3, "{line}: {out}");
        assert_eq!(names(&world), [""; 0], "{line}");
        fs::remove_file(world.path("record.json")).unwrap();
    }
}

#[test]
fn a_study_shows_the_step_it_was_at_and_goes_no_further() {
    let world = World::new();
    let line = "study readers-writers --quick --rounds 100000 --records .";
    let child = world.under_way(line, "readers-writers-1.json", "\n", 4);
    signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.ends_with("storemark: interrupted\n") && !err.contains("step 2"), "{err}");
    assert_eq!(names(&world), [""; 0]);
}

#[test]
fn the_doctor_tells_what_was_seen() {
    let world = World::new();
    assert_said(&interrupted(&world, "doctor . --time 10m", "storemark: checking"));
    assert_eq!(names(&world), [""; 0]);
}

/// Output that nobody reads blocks its writer, so that the first signal has no effect.
#[test]
#[cfg(target_os = "linux")]
fn a_second_signal_ends_a_command_that_is_blocked() {
    use std::io::Write;

    let (_reader, mut full) = std::io::pipe().unwrap();
    full.write_all(&vec![0; PIPE]).unwrap();
    let mut child = World::new().command("engines").stdout(full).spawn().unwrap();
    assert!(within(30, || waits_for_signals(&child).is_some()));
    let waits = waits_for_signals(&child);
    signal(child.id(), "INT");
    assert!(within(30, || waits_for_signals(&child) > waits), "it handled the first signal");
    assert_eq!(child.try_wait().unwrap(), None);
    signal(child.id(), "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// What a pipe holds, in bytes: pipe(7).
#[cfg(target_os = "linux")]
const PIPE: usize = 65_536;

/// How often the thread of `child` that handles signals has waited for one, if it waits now.
#[cfg(target_os = "linux")]
fn waits_for_signals(child: &Child) -> Option<u64> {
    let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).unwrap().flatten();
    let statuses = tasks.filter_map(|task| fs::read_to_string(task.path().join("status")).ok());
    let status = statuses.into_iter().find(|status| status.starts_with("Name:\tsignals\n"))?;
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
    if !value("State:\t")?.starts_with('S') {
        return None;
    }
    value("voluntary_ctxt_switches:\t")?.parse().ok()
}
