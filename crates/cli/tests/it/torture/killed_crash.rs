//! `storemark crash` that a SIGKILL ends at any moment: no mount, no folder and no process of it is left.

use std::{fs, os::unix::ffi::OsStrExt, thread};

use super::{Draw, ended, moment, search, started};
use crate::{
    crash::{is_clean, world},
    running::{signal, within},
    servers::without,
    world::World,
};

/// A program, a store that is created and one that was prepared, with more states than can be checked in
/// the time.
const LINES: [&str; 3] = [
    "crash --check ./check.sh --states 5000 -- ./writer.py none",
    "crash sqlite: --durability durable --stores new --states 5000",
    "crash files: --durability none --stores established --states 5000",
];

#[test]
fn killed_crash_tests() {
    if !without("fuse") {
        search("killed_crash_tests", 3, case);
    }
}

fn case(_: u64, draw: &mut Draw) -> Result<(), String> {
    let world = world();
    let line = draw.of(&LINES);
    let child = started(world.command(line));
    let moment = moment(draw);
    thread::sleep(moment);
    signal(child.id(), "KILL");
    let ran = ended(child, line, Some("KILL"))?;
    let wrong = |why: &str| Err(format!("{line}, killed after {moment:?}: {why}"));
    if ran.code.is_some() {
        return wrong(&format!("ended by itself: {}{}", ran.out, ran.err));
    }
    if !within(60, || is_clean(&world)) {
        return wrong(&format!("left a mount or a folder: {:?}", world.names(".")));
    }
    if !within(60, || !runs_in(&world)) {
        return wrong("left a process");
    }
    Ok(())
}

/// Whether a process works in the world's folder, or below it.
fn runs_in(world: &World) -> bool {
    let folder = world.path("").canonicalize().unwrap();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut working = processes.filter_map(|entry| fs::read_link(entry.path().join("cwd")).ok());
    working.any(|cwd| cwd.as_os_str().as_bytes().starts_with(folder.as_os_str().as_bytes()))
}
