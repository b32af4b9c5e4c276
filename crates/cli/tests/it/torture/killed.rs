//! Backups and restores that a SIGKILL ends at any moment: the repository is consistent, the next backup
//! completes it, rsync finds what is restored equal, and another user never reads what is private.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

use super::{Draw, ended, search, started};
use crate::{
    kept::{Mounted, SECRET, twins},
    running::signal,
    world::{World, is_root},
};

#[test]
fn killed_backups() {
    search("killed_backups", 4, case);
}

const SAVE: &str = "backup src --keep kept";
const CHECK: &str = "backup check kept";

/// Every second one has a backup before; every fourth has two file systems with equal inodes.
fn case(n: u64, draw: &mut Draw) -> Result<(), String> {
    let world = World::new();
    for number in 0..300 {
        write(&world, number, draw);
    }
    further_kinds(&world);
    let _mounted = (n % 4 == 3).then(|| mount_twins(&world, ["squashfs", "ext4"][draw.below(2)]));
    let watcher = Watcher::start(&world);
    let whole = Instant::now();
    run(&world, "backup src --keep whole")?;
    let whole = whole.elapsed();
    if n % 2 == 1 {
        run(&world, SAVE)?;
        for _ in 0..100 {
            write(&world, draw.below(400), draw);
        }
    }
    killed(&world, SAVE, whole, draw)?;
    if world.path("kept/storemark-backup").exists() {
        run(&world, CHECK)?;
    }
    write(&world, 0, draw);
    run(&world, SAVE)?;
    run(&world, CHECK)?;
    killed(&world, "backup restore kept half", whole, draw)?;
    run(&world, "backup restore kept restored")?;
    watcher.map_or(Ok(()), |watcher| watcher.finish(&world))?;
    compare(&world)?;
    lose_catalogue(n, &world)
}

/// Ends a command by SIGKILL, at any moment of about the time that it takes.
fn killed(world: &World, line: &str, about: Duration, draw: &mut Draw) -> Result<(), String> {
    let child = started(world.command(line));
    thread::sleep(about.mul_f64(draw.below(1000) as f64 / 1000.0));
    signal(child.id(), "KILL");
    ended(child, line, Some("KILL")).map(drop)
}

/// A file of a few kilobytes, or of a few hundred, with a mode of its own.
fn write(world: &World, number: usize, draw: &mut Draw) {
    let lines = draw.below(100) * if number.is_multiple_of(30) { 100 } else { 1 };
    let lines: Vec<_> = (0..lines).map(|_| draw.next().to_string()).collect();
    let name = format!("src/{}/{number}", number % 9);
    if world.path(&name).exists() {
        fs::set_permissions(world.path(&name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    world.write(&name, lines.join("\n"));
    let mode = [0o600, 0o640, 0o755, 0o4711, 0o2755, 0o1444][number % 6];
    fs::set_permissions(world.path(&name), fs::Permissions::from_mode(mode)).unwrap();
}

/// Names of any bytes, links of both kinds, folders with modes, and a file that only its folder protects.
fn further_kinds(world: &World) {
    world.write("src/private/inside/secret", SECRET);
    world.write("src/\u{1b}[31m \n name", "a name");
    world.write("src/empty/none", "");
    fs::remove_file(world.path("src/empty/none")).unwrap();
    for copy in ["1/again", "2/again", "private/again"] {
        fs::hard_link(world.path("src/0/9"), world.path("src").join(copy)).unwrap();
    }
    symlink("../0/9", world.path("src/1/link")).unwrap();
    symlink("nowhere", world.path("src/dangling")).unwrap();
    for (path, mode) in [("private", 0o700), ("private/inside", 0o755), ("empty", 0o2777)] {
        let path = world.path("src").join(path);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
}

fn mount_twins(world: &World, kind: &str) -> Vec<Mounted> {
    let images = twins(world, kind);
    let mounted = [1, 2].map(|number| {
        let place = world.path(&format!("src/mounted-{number}"));
        fs::create_dir(&place).unwrap();
        Mounted::image(&images[number - 1], place)
    });
    mounted.into_iter().flatten().collect()
}

/// Another user, who reads what can be read in a folder until a file in it is removed.
struct Watcher(Child);

impl Watcher {
    /// Only root can start it.
    fn start(world: &World) -> Option<Self> {
        if !is_root() {
            eprintln!("no other user watches: this one is not root");
            return None;
        }
        fs::set_permissions(world.path(""), fs::Permissions::from_mode(0o755)).unwrap();
        world.write("watch", "");
        let script = format!(
            "test -r watch || echo blind; \
             while test -e watch; do grep -rls {SECRET} . && break; ls kept 2>/dev/null && break; \
             done; :"
        );
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", &script]);
        command.current_dir(world.path(""));
        Some(Self(started(command)))
    }

    fn finish(self, world: &World) -> Result<(), String> {
        fs::remove_file(world.path("watch")).unwrap();
        let ran = ended(self.0, "the other user", None)?;
        if ran.out.is_empty() { Ok(()) } else { Err(format!("another user read: {}", ran.out)) }
    }
}

/// What rsync would do to make what is restored equal: nothing.
fn compare(world: &World) -> Result<(), String> {
    let mut command = Command::new("rsync");
    command.args(["-aHAXnci", "--delete", "src/", "restored/"]).current_dir(world.path(""));
    let ran = ended(started(command), "rsync", None)?;
    match (ran.code, ran.out.as_str()) {
        (Some(0), "") => Ok(()),
        _ => Err(format!("what is restored differs: {}{}", ran.out, ran.err)),
    }
}

/// A catalogue that is empty, older, absent or another repository's is named, and costs no pack.
fn lose_catalogue(n: u64, world: &World) -> Result<(), String> {
    let store = world.path("kept/catalogue/store");
    let packs = |world: &World| world.names("kept/packs");
    let before = packs(world);
    match n % 4 {
        0 => drop(world.sqlite3(&["kept/catalogue/store", "delete from sqlar"])),
        1 => fs::write(&store, "").unwrap(),
        2 => fs::remove_file(&store).unwrap(),
        _ => drop(fs::copy(world.path("whole/catalogue/store"), &store).unwrap()),
    }
    for line in [CHECK, SAVE, "backup list kept", "backup restore kept lost"] {
        let ran = ended(started(world.command(line)), line, None)?;
        if ran.code == Some(0) {
            return Err(format!("{line}: a lost catalogue is not noticed: {}{}", ran.out, ran.err));
        }
    }
    if packs(world) == before { Ok(()) } else { Err("packs are gone".to_owned()) }
}

fn run(world: &World, line: &str) -> Result<(), String> {
    let ran = ended(started(world.command(line)), line, None)?;
    if ran.code == Some(0) { Ok(()) } else { Err(format!("{line}: {}{}", ran.out, ran.err)) }
}
