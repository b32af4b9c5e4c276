//! Mutated target strings, plans, records and archives through the parsers.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    process::Command,
    sync::OnceLock,
};

use super::{
    Draw,
    damaged::mutate,
    parsers::{ALL, Parser},
    search,
};
use crate::world::World;

#[test]
fn mutated_input() {
    search("mutated_input", 4000, case);
}

/// Inputs that are understood.
struct Seeds {
    world: World,
    of: Vec<(Parser, Vec<Vec<u8>>)>,
}

fn case(n: u64, draw: &mut Draw) -> Result<(), String> {
    static SEEDS: OnceLock<Seeds> = OnceLock::new();
    let seeds = SEEDS.get_or_init(seeds);
    let ((name, parse), inputs) = draw.of(&seeds.of);
    let mut bytes = draw.of(inputs).clone();
    let said: Vec<_> = (0..=draw.below(4)).map(|_| mutate(&mut bytes, draw)).collect();
    let file = seeds.world.path(&format!("case-{n}"));
    let parsed = catch_unwind(AssertUnwindSafe(|| parse(&bytes, &file)));
    let _ = fs::remove_file(&file);
    parsed.map_err(|_| format!("a {name} panicked: {}", said.join(", ")))
}

fn seeds() -> Seeds {
    let world = World::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds");
    let mut command = Command::new("sh");
    command.args([script, env!("CARGO_BIN_EXE_storemark"), "seeds"]);
    let made = command.current_dir(world.path("")).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let read = |folder: &Path| {
        let files = fs::read_dir(folder).unwrap().flatten();
        files.map(|file| fs::read(file.path()).unwrap()).collect::<Vec<_>>()
    };
    let of = ALL.map(|parser| (parser, read(&world.path(&format!("seeds/{}", parser.0)))));
    Seeds { of: of.into(), world }
}
