//! `copy --force` killed before each of its calls that give or take a name.
#![cfg(target_os = "linux")]

use std::{fs, process::Command};

use crate::world::World;

/// The calls before which it is killed. What is not here changes no name.
const CALLS: [&str; 4] = [
    "rename,renameat,renameat2",
    "unlink,unlinkat,rmdir",
    "mkdir,link,linkat",
    "fsync,syncfs,chmod",
];

/// A file system that cannot exchange two names.
const NO_EXCHANGE: &str = "inject=renameat2:error=EINVAL";

/// Far more than a small copy makes.
const MOST: usize = 100;

const REPLACE: &str = "copy new.pack files:store --force";

/// What an interrupted copy left next to the store.
pub(crate) fn leftovers(world: &World, store: &str) -> Vec<String> {
    let names = world.names(".").into_iter();
    names.filter(|name| name.starts_with(&format!("{store}."))).collect()
}

fn world() -> World {
    let world = World::new();
    for (name, seed) in [("old", 1), ("new", 2)] {
        world.ok(&format!("init {name}.db --count 4 --size 100 --seed {seed}"));
        world.ok(&format!("copy {name}.db pack:{name}.pack"));
    }
    world
}

/// Runs `line` and kills it before the `n`-th of `calls`; returns whether it ended before that. `None` where
/// nobody may trace.
fn killed(world: &World, line: &str, calls: &str, n: usize, also: Option<&str>) -> Option<bool> {
    let program = world.command(line);
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={calls},renameat2")]);
    command.args(["-e", &format!("inject={calls}:signal=KILL:when={n}")]);
    command.args(also.iter().flat_map(|inject| ["-e", inject]));
    command.arg(program.get_program()).args(program.get_args()).current_dir(world.path(""));
    let output = command.output().expect("strace is installed by `make test`");
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("ptrace") && said.contains("not permitted") {
        eprintln!("nobody may trace here: {said}");
        return None;
    }
    assert!(output.status.code().is_none_or(|code| [0, 137].contains(&code)), "{said}");
    Some(output.status.success())
}

fn is(world: &World, pack: &str) -> bool {
    world.run(&format!("verify {pack} files:store")).code == Some(0)
}

/// Kills a replacement before each of `calls`, and returns how often the name was gone.
fn kill_before_each(calls: &str, also: Option<&str>, resume: &str) -> Option<usize> {
    let world = world();
    let mut gone = 0;
    for n in 1.. {
        assert!(n < MOST, "{calls}");
        let _ = fs::remove_dir_all(world.path("store"));
        world.ok("copy old.pack files:store");
        let ended = killed(&world, REPLACE, calls, n, also)?;
        let at = format!("before call {n} of {calls}, {also:?}");
        if world.path("store").exists() {
            assert!(is(&world, "old.pack") || is(&world, "new.pack"), "neither old nor new {at}");
        } else {
            gone += 1;
            let said = world.refused("verify store");
            assert!(said.contains("an interrupted copy is in store.storemark-partial"), "{said}");
            // Without --force the old one is put back, and nothing else.
            let line = "copy new.pack files:store";
            assert_eq!(world.run(line).code, Some(1));
            assert!(is(&world, "old.pack"), "{at}");
        }
        world.ok(&format!("{REPLACE}{resume}"));
        assert!(is(&world, "new.pack"), "{at}");
        assert_eq!(leftovers(&world, "store"), [""; 0], "{at}");
        if ended {
            break;
        }
    }
    Some(gone)
}

#[test]
fn a_killed_replacement_leaves_the_old_store_or_the_new_one() {
    for calls in CALLS {
        let Some(gone) = kill_before_each(calls, None, "") else { return };
        assert_eq!(gone, 0, "the name is never gone: {calls}");
    }
}

#[test]
fn where_names_cannot_be_exchanged_the_next_copy_puts_the_old_store_back() {
    // `renameat2` fails, so that only the other calls are made.
    for calls in ["rename,renameat,link", "unlink,unlinkat,rmdir"] {
        let Some(gone) = kill_before_each(calls, Some(NO_EXCHANGE), " --resume") else { return };
        assert!(gone <= 1, "{calls}: {gone}");
    }
}

/// What a version before this one left is in nobody's way.
#[test]
fn a_folder_that_was_set_aside_before_is_left_as_it_is() {
    let world = world();
    world.ok("copy old.pack files:store");
    world.write("store.storemark-old/000001", "left");
    world.ok(REPLACE);
    assert!(is(&world, "new.pack"));
    assert_eq!(leftovers(&world, "store"), ["store.storemark-old"]);
}
