//! Copies whose process is killed. The copier is this test binary, started once more.

use std::{
    env,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use lab::{Progress, Stop};

use crate::common::*;

const FROM: &str = "STOREMARK_TEST_FROM";
const TO: &str = "STOREMARK_TEST_TO";

/// Prints how far it is, for its parent.
struct Aloud;

impl Progress for Aloud {
    fn stage(&self, _: &str, _: Option<u64>) {}
    fn advance_to(&self, steps: u64) {
        eprintln!("done {steps}");
    }
    fn say(&self, _: &str) {}
}

#[test]
fn copier() {
    let (Ok(from), Ok(to)) = (env::var(FROM), env::var(TO)) else { return };
    lab::copy(&job(&from, &to), &Aloud, &Stop::new()).unwrap();
}

/// Starts a copier and kills it as soon as it has done `after` items.
fn kill_a_copier(from: &str, to: &str, after: u64) {
    let mut copier = Command::new(env::current_exe().unwrap())
        .args(["--exact", "killed::copier", "--nocapture"])
        .envs([(FROM, from), (TO, to)])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let done = BufReader::new(copier.stderr.take().unwrap()).lines().any(|line| {
        let line = line.unwrap();
        line.strip_prefix("done ").is_some_and(|n| n.parse::<u64>().unwrap() >= after)
    });
    copier.kill().unwrap();
    let status = copier.wait().unwrap();
    assert!(done && !status.success(), "the copier ended before it was killed");
}

#[test]
fn a_killed_copy_is_resumed() {
    for (engine, least) in [("sqlite", 4096), ("files", 9000), ("pack", 0)] {
        let (folder, source) = source(30_000);
        let to = at(engine, folder.path(), "copy");
        kill_a_copier(&source, &to, 9000);
        assert_eq!(entries(folder.path()), ["copy.storemark-partial", "source"]);
        let copied = resume(&source, &to).unwrap();
        assert!((least..30_000).contains(&copied.resumed), "{engine}: {}", copied.resumed);
        assert_equal(&source, &to);
        assert_eq!(entries(folder.path()), ["copy", "source"]);
    }
}
