//! Data that another program changes while a command reads them.

use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
};

use crate::world::World;

const FILES: u32 = 300;

/// Replaces file after file by one of the same length until `done`.
fn replace_files(world: &World, done: &AtomicBool) {
    for turn in 0.. {
        for file in 1..=FILES {
            if done.load(Relaxed) {
                return;
            }
            fs::write(world.path("next"), format!("{turn:0500}")).unwrap();
            fs::rename(world.path("next"), world.path(&format!("a.dir/{file:06}"))).unwrap();
        }
    }
}

#[test]
fn a_source_that_changes_is_blamed_and_not_the_store_that_was_filled_from_it() {
    const TRIES: usize = 50;
    let world = World::after(["init a.db --count 300 --size 500", "export a.db a.dir"]);
    let done = AtomicBool::new(false);
    let seen = thread::scope(|scope| {
        scope.spawn(|| replace_files(&world, &done));
        let seen = (0..TRIES).any(|_| {
            let ran = world.run("run a.dir pack: --read --rounds 1");
            let blamed = ran.err.contains("does not hold what was written");
            assert!(!blamed, "{}", ran.err);
            let changed = ran.err.contains("a.dir: changed while it was measured (key ");
            assert!(!changed || ran.code == Some(2), "{:?}: {}", ran.code, ran.err);
            changed
        });
        done.store(true, Relaxed);
        seen
    });
    assert!(seen, "no run has noticed a change");
}
