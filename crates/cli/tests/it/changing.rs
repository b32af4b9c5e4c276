//! Data that another program changes while a command reads them.

use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
};

use crate::world::{Ran, World};

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
    let changed = |ran: &Ran| ran.err.contains("a.dir: changed while it was measured (");
    // A failure in the scope would wait for the other thread: runs are judged after it.
    let ran = thread::scope(|scope| {
        scope.spawn(|| replace_files(&world, &done));
        let mut ran = Vec::new();
        while ran.len() < TRIES && !ran.iter().any(changed) {
            ran.push(world.run("run a.dir pack: --read --rounds 1"));
        }
        done.store(true, Relaxed);
        ran
    });
    for Ran { err, .. } in &ran {
        assert!(!err.contains("does not hold what was written"), "{err}");
    }
    let blamed = ran.iter().find(|ran| changed(ran)).expect("no run has noticed a change");
    assert_eq!(blamed.code, Some(2), "{}", blamed.err);
}
