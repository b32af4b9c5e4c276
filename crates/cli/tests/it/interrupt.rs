//! Interrupted and killed runs leave nothing behind and lose nothing.

use std::{
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use crate::world::World;

/// A long update of the user's database, under way: some trials are in its record.
fn under_way(world: &World) -> Child {
    let mut command = world.command("run a.db a.dir --update --rounds 100000 --json run.json");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    for _ in 0..600 {
        let record = fs::read_to_string(world.path("run.json")).unwrap_or_default();
        if record.matches(r#"{"line":"sample""#).count() >= 3 {
            return child;
        }
        thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    panic!("no trial finished in 30 s: {:?}", child.wait());
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
}

fn made() -> World {
    let world = World::new();
    world.ok("init a.db --count 200 --size 5k");
    world.ok("export a.db a.dir");
    world
}

fn without_record(world: &World) -> impl PartialEq + std::fmt::Debug + use<> {
    let mut tree = world.tree();
    tree.remove(&world.path("run.json"));
    tree
}

#[test]
fn an_interrupted_run_keeps_its_trials_and_removes_its_copies() {
    for name in ["INT", "TERM"] {
        let world = made();
        let before = without_record(&world);
        let mut child = under_way(&world);
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(2), "{name}");
        assert!(without_record(&world) == before, "{name}");
        let ran = world.ok("report run.json");
        assert!(ran.out.contains("interrupted"), "{}", ran.out);
        assert!(ran.out.contains("a.db"), "{}", ran.out);
    }
}

#[test]
fn what_a_killed_run_left_is_removed_at_once() {
    let world = made();
    let before = without_record(&world);
    let mut child = under_way(&world);
    signal(&child, "KILL");
    child.wait().unwrap();
    // Its shell does that; what it might have left, the next run sweeps.
    let gone = (0..400).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        without_record(&world) == before
    });
    assert!(gone, "a killed run leaves nothing for long");
    world.ok("run a.db --update --rounds 1");
    assert!(without_record(&world) == before);
    // Its record shows what was measured.
    assert!(world.ok("report run.json").out.contains("a.db"));
}
