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
        .output()
        .unwrap()
}

const WORK: &str = "--update --keys 200 --count 200 --size 100 --batch 1 --fail-on flushes";

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

#[test]
fn a_build_that_fails_ends_the_job_and_leaves_nothing() {
    let world = repository(["", "no such thing"]);
    let output = job(&world, WORK);
    assert!(!output.status.success());
    assert_eq!(world.names("repository"), [".git", "store.c"]);
}
