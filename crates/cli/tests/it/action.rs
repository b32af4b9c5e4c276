//! The job of `action.yml`: two commits of a repository are built, and measured in one run.

#![cfg(target_os = "linux")]

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use crate::world::{World, systems_sqlite};

const PROGRAM: &str = env!("CARGO_BIN_EXE_storemark");

/// The root of storemark's own repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A library that is SQLite's, with this line of C after each change.
fn library(line: &str) -> String {
    format!(
        "#define _GNU_SOURCE
        #include <dlfcn.h>
        #include <unistd.h>
        int sqlite3_stmt_readonly(void *);
        int sqlite3_step(void *statement) {{
            int (*step)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, \"sqlite3_step\");
            int done = step(statement);
            if (!sqlite3_stmt_readonly(statement)) {{ {line} }}
            return done;
        }}"
    )
}

fn git(world: &World, arguments: &[&str]) {
    let own = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
    let done = Command::new("git")
        .args(own)
        .args(arguments)
        .current_dir(world.path("repository"))
        .output()
        .expect("git is installed where tests run");
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository with two commits: those of a library with each of these lines.
fn repository(lines: [&str; 2]) -> World {
    let world = World::new();
    world.write("repository/store.c", "");
    git(&world, &["init", "--quiet"]);
    for line in lines {
        world.write("repository/store.c", library(line));
        git(&world, &["add", "store.c"]);
        git(&world, &["commit", "--quiet", "--allow-empty", "--message", "Change it"]);
    }
    world
}

/// Runs the last step of the action as a runner does: bash, with these variables.
fn job(world: &World, options: &str) -> Output {
    job_with(world, options, &[])
}

/// Runs it with other values of some variables.
fn job_with(world: &World, options: &str, variables: &[(&str, &str)]) -> Output {
    let action = fs::read_to_string(Path::new(ROOT).join("action.yml")).unwrap();
    let (_, step) = action.rsplit_once("      run: ").unwrap();
    let system = systems_sqlite();
    let build =
        format!("cc -shared -fPIC store.c -o libsqlite3.so -Wl,--no-as-needed {system} -ldl");
    Command::new("bash")
        .args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step])
        .current_dir(world.path("repository"))
        .env("GITHUB_ACTION_PATH", ROOT)
        .env("GITHUB_STEP_SUMMARY", world.path("summary.md"))
        .env("STOREMARK", PROGRAM)
        .env("BASE", "HEAD~1")
        .env("HEAD", "HEAD")
        .env("BUILD", build)
        .env("TARGET", "sqlite:?journal=delete&sync=full&lib={}/libsqlite3.so")
        .env("OPTIONS", options)
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

const WORK: &str =
    "--update --keys 50 --count 50 --size 100 --batch 1 --rounds 3 --fail-on flushes";

#[test]
fn a_commit_that_flushes_once_more_fails_and_one_that_does_not_passes() {
    for (head, code, gate) in [
        (
            "fsync(0);",
            3,
            "- gate on flushes: fail: update, warm: sqlite journal=delete sync=full lib=head/libsqlite3.so: flushes per operation 4 → 5",
        ),
        ("", 0, "- gate on flushes: pass"),
    ] {
        let world = repository(["", head]);
        let output = job(&world, WORK);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        let summary = fs::read_to_string(world.path("summary.md")).unwrap();
        assert!(summary.contains(gate), "{summary}\n{said}");
        assert!(
            summary.contains("| sqlite journal=delete sync=full lib=head/libsqlite3.so |"),
            "{summary}"
        );
        assert_eq!(world.record("repository/storemark.json").header.plan.targets.len(), 3);
        // Nothing but the record is left.
        assert_eq!(world.names("repository"), [".git", "store.c", "storemark.json"]);
    }
}

/// The limit is far from what other work on the machine does to equal builds.
#[test]
fn a_commit_that_is_slower_fails_and_one_that_is_not_passes() {
    let gate = "gate at 50 %: ";
    for (head, code, said) in [("usleep(200);", 3, "fail: update, warm: "), ("", 0, "pass")] {
        let world = repository(["", head]);
        let options =
            "--update --keys 200 --count 200 --size 100 --durability none --fail-above 50%";
        let output = job_with(&world, options, &[("TARGET", "sqlite:?lib={}/libsqlite3.so")]);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{err}");
        let summary = fs::read_to_string(world.path("summary.md")).unwrap();
        assert!(summary.contains(&format!("- {gate}{said}")), "{summary}\n{err}");
    }
}

#[test]
fn what_cannot_be_built_or_measured_ends_the_job_in_one_line_and_leaves_nothing() {
    let world = repository(["", "no such thing"]);
    let line = |variables: &[(&str, &str)]| {
        world.write("repository/storemark.json", "of another run");
        let output = job_with(&world, WORK, variables);
        assert_eq!(output.status.code(), Some(1), "{variables:?}");
        let names = world.names("repository");
        assert!(names.iter().all(|name| !name.starts_with(".storemark.")), "{names:?}");
        assert!(!world.path("summary.md").exists(), "{variables:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        said.lines().last().unwrap_or_default().to_owned()
    };
    for (variables, said) in [
        (("HEAD", "HEAD"), "compare-builds: the build of head ("),
        (("BASE", ""), "compare-builds: no commit \"\" here: "),
        (("HEAD", "feature"), "compare-builds: no commit feature here: "),
        (("TARGET", "sqlite:"), "compare-builds: sqlite:: has no {}, "),
        (("STOREMARK", "./absent"), "compare-builds: no program ./absent: "),
        (("HEAD", "HEAD~1"), "storemark: "),
    ] {
        // The last one builds, and is refused by storemark.
        let options = ("OPTIONS", if said == "storemark: " { "--nothing" } else { WORK });
        let last = line(&[variables, options]);
        assert!(last.starts_with(said), "{variables:?}: {last}");
    }
}
