//! Backups that a SIGKILL ends at any moment: the repository is consistent, and the next backup
//! completes it.

use std::{fs, os::unix::fs::PermissionsExt, thread, time::Instant};

use super::{Draw, ended, search, started};
use crate::{running::signal, world::World};

#[test]
fn killed_backups() {
    search("killed_backups", 4, case);
}

const SAVE: &str = "backup src --keep kept";
const CHECK: &str = "backup check kept";

/// Every second one has a backup before.
fn case(n: u64, draw: &mut Draw) -> Result<(), String> {
    let world = World::new();
    for number in 0..300 {
        write(&world, number, draw);
    }
    let whole = Instant::now();
    run(&world, "backup src --keep whole")?;
    let whole = whole.elapsed();
    if n % 2 == 1 {
        run(&world, SAVE)?;
        for _ in 0..100 {
            write(&world, draw.below(400), draw);
        }
    }
    let child = started(world.command(SAVE));
    thread::sleep(whole.mul_f64(draw.below(1000) as f64 / 1000.0));
    signal(child.id(), "KILL");
    ended(child, SAVE, Some("KILL"))?;
    if world.path("kept/storemark-backup").exists() {
        run(&world, CHECK)?;
    }
    write(&world, 0, draw);
    run(&world, SAVE)?;
    run(&world, CHECK)?;
    run(&world, "backup restore kept restored")?;
    if contents(&world, "src") == contents(&world, "restored") {
        Ok(())
    } else {
        Err("what is restored differs".to_owned())
    }
}

/// A file of a few kilobytes, or of a few hundred, with a mode of its own.
fn write(world: &World, number: usize, draw: &mut Draw) {
    let lines = draw.below(100) * if number.is_multiple_of(30) { 100 } else { 1 };
    let lines: Vec<_> = (0..lines).map(|_| draw.next().to_string()).collect();
    let name = format!("src/{}/{number}", number % 9);
    world.write(&name, lines.join("\n"));
    let mode = [0o600, 0o640, 0o755][number % 3];
    fs::set_permissions(world.path(&name), fs::Permissions::from_mode(mode)).unwrap();
}

fn run(world: &World, line: &str) -> Result<(), String> {
    let ran = ended(started(world.command(line)), line, None)?;
    if ran.code == Some(0) { Ok(()) } else { Err(format!("{line}: {}{}", ran.out, ran.err)) }
}

/// Paths below a folder with content, time and mode.
fn contents(world: &World, folder: &str) -> Vec<impl PartialEq> {
    let root = world.path(folder);
    let of = |(path, (bytes, time)): (std::path::PathBuf, _)| {
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        Some((path.strip_prefix(&root).ok()?.to_owned(), bytes, time, mode))
    };
    world.tree().into_iter().filter_map(of).collect()
}
