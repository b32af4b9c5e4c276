//! Interrupted and killed runs leave nothing behind and lose nothing.

use std::process::Child;

use crate::{
    running::{SAMPLE, signal, within},
    world::World,
};

/// A long update of the user's database, under way: some trials are in its record.
fn under_way(world: &World) -> Child {
    let line = "run a.db a.dir --update --count 50 --rounds 100000 --json run.json";
    world.under_way(line, "run.json", SAMPLE, 3)
}

fn made() -> World {
    World::after(["init a.db --count 200 --size 5k", "export a.db a.dir"])
}

fn without_record(world: &World) -> impl PartialEq + std::fmt::Debug + use<> {
    let mut tree = world.tree();
    tree.remove(&world.path("run.json"));
    tree.remove(&world.path("run.json.unfinished"));
    tree
}

#[test]
fn an_interrupted_run_keeps_its_trials_and_removes_its_copies() {
    for name in ["INT", "TERM"] {
        let world = made();
        let before = without_record(&world);
        let mut child = under_way(&world);
        signal(child.id(), name);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{name}");
        assert!(without_record(&world) == before, "{name}");
        let ran = world.ok("report run.json");
        assert!(ran.out.contains("interrupted"), "{}", ran.out);
        assert!(ran.out.contains("a.db"), "{}", ran.out);
    }
}

/// Where there is no shell, as on Windows, storemark itself removes what a killed run leaves.
#[test]
fn the_guard_without_a_shell_removes_an_abandoned_scratch_folder_alone() {
    let world = World::new();
    for folder in ["storemark-scratch-1-0123456789abcdef", "mine"] {
        world.write(&format!("{folder}/lock"), "");
        world.write(&format!("{folder}/deep/file"), "x");
        world.ok(&format!("guard {folder}"));
    }
    assert_eq!(world.names("."), ["mine"]);
    assert_eq!(world.names("mine"), ["deep", "lock"]);
}

#[test]
fn what_a_killed_run_left_is_removed_at_once() {
    let world = made();
    let before = without_record(&world);
    let mut child = under_way(&world);
    signal(child.id(), "KILL");
    child.wait().unwrap();
    // Its cleanup guard does that; what the guard might leave, the next run removes.
    let gone = within(20, || without_record(&world) == before);
    assert!(gone, "a killed run leaves nothing for long");
    world.ok("run a.db --update --rounds 1");
    assert!(without_record(&world) == before);
    // What was written of its record shows what was measured.
    assert!(world.ok("report run.json.unfinished").out.contains("a.db"));
    assert!(!world.path("run.json").exists());
}
