//! Names the commit that the program is built from, for `--version`.

use std::{env, fs, path::Path, process::Command};

/// As many digits of a commit as are shown.
const DIGITS: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let is_debug = env::var("PROFILE").is_ok_and(|profile| profile == "debug");
    // A commit would have the tests built again.
    let of = if is_debug { Some("debug build".to_owned()) } else { packaged().or_else(cloned) };
    let of = of.map(|of| format!(" ({of})")).unwrap_or_default();
    println!("cargo::rustc-env=STOREMARK_VERSION={version}{of}");
}

/// A package has it in a file: cargo's, or that of `.ci/release`, which packages an export.
fn packaged() -> Option<String> {
    let files = ["commit", ".cargo_vcs_info.json"];
    let found = files.iter().find_map(|file| fs::read_to_string(file).ok())?;
    found.split(|c: char| !c.is_ascii_hexdigit()).find(|word| word.len() >= 40).map(short)
}

fn cloned() -> Option<String> {
    // A folder above may be a clone of something else.
    if !Path::new("../../.git").exists() {
        return None;
    }
    for file in ["HEAD", "logs/HEAD"] {
        println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", file])?);
    }
    git(&["rev-parse", "HEAD"]).map(|commit| short(&commit))
}

fn short(commit: &str) -> String {
    commit.chars().take(DIGITS).collect()
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
