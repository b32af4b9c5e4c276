//! `copy --force` ended by a SIGKILL at any moment: the old store or the new one has the name, and the next
//! copy ends well and leaves nothing.

use std::{fs, thread, time::Instant};

use super::{Draw, ended, search, started};
use crate::{replaced::leftovers, running::signal, world::World};

#[test]
fn replaced_stores() {
    search("replaced_stores", 6, case);
}

/// Stores that are replaced, those that are a folder most often.
const ENGINES: [&str; 6] = ["files", "files", "lmdb", "fjall", "sqlite", "pack"];

fn case(_: u64, draw: &mut Draw) -> Result<(), String> {
    let world = World::new();
    let engine = *draw.of(&ENGINES);
    for (name, seed) in [("old.pack", 1), ("new.pack", 2)] {
        world.ok(&format!(
            "init {name}.db --count {} --size 300 --seed {seed}",
            20 + draw.below(400)
        ));
        world.ok(&format!("copy {name}.db pack:{name}"));
    }
    world.ok(&format!("copy old.pack {engine}:store"));
    let replace = format!("copy new.pack {engine}:store --force");
    let whole = Instant::now();
    world.ok(&replace.replace(":store", ":other").replace(" --force", ""));
    let whole = whole.elapsed();
    let child = started(world.command(&replace));
    thread::sleep(whole.mul_f64(draw.below(1200) as f64 / 1000.0));
    signal(child.id(), "KILL");
    ended(child, &replace, Some("KILL"))?;
    let is = |name: &str| world.run(&format!("verify {name} {engine}:store")).code == Some(0);
    if !is("old.pack") && !is("new.pack") {
        return Err(format!("{engine}: the store is neither the old one nor the new one"));
    }
    let resume = if draw.below(2) == 0 { " --resume" } else { "" };
    let again = ended(started(world.command(&(replace.clone() + resume))), &replace, None)?;
    let left = leftovers(&world, "store");
    if again.code != Some(0) || !is("new.pack") || !left.is_empty() {
        return Err(format!("{engine}: the next copy{resume}: {}, left {left:?}", again.err));
    }
    fs::remove_dir_all(world.path("")).map_err(|error| error.to_string())
}
