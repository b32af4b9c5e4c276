//! Commands that write, ended by a signal at any moment: sources stay as they were, a final name is
//! whole or absent, the same command then works, and nothing else is left.

use std::{fs, os::unix::fs::PermissionsExt, thread};

use super::{Draw, ended, moment, search, started};
use crate::{
    running::{signal, within},
    world::World,
};

/// A command, and what it makes of what; nothing: it measures and leaves its record.
struct Line(&'static str, Option<(&'static str, &'static str)>);

const LINES: &[Line] = &[
    Line("copy in sqlite:out", Some(("in", "sqlite:out"))),
    Line("copy in files:out", Some(("in", "files:out"))),
    Line("copy in pack:out", Some(("in", "pack:out"))),
    Line("copy in hybrid:out?inline=10k", Some(("in", "hybrid:out"))),
    Line("copy in lmdb:out", Some(("in", "lmdb:out"))),
    Line("copy in redb:out", Some(("in", "redb:out"))),
    Line("copy in fjall:out", Some(("in", "fjall:out"))),
    Line("copy a.db redb:out", Some(("a.db", "redb:out"))),
    Line("copy a.db files:out", Some(("a.db", "files:out"))),
    Line("copy a.db hybrid:out?inline=500", Some(("a.db", "hybrid:out"))),
    Line("export a.db out", Some(("a.db", "files:out"))),
    Line("import ints out", Some(("ints", "sqlite:out"))),
    Line("init out --count 20k --size 100 --seed 1", None),
    Line("run files: sqlite: lmdb: --update --keys 50 --rounds 2 --json r.json", None),
    Line("run a.db --update --rounds 1 --html r.html --json r.json", None),
    Line("run pack: fjall: --read --keys 50 --rounds 1 --save-plan p.toml --json r.json", None),
    Line("rows sqlite: csv: --rows 500 --style text --rounds 2 --json r.json", None),
    Line("queue files: sqlite: --workers 2 --tasks 3 --rounds 2 --json r.json", None),
    Line("age files: sqlite: --objects 20 --size 2k --rounds 1 --json r.json", None),
    Line("man manual", None),
];

/// Those with a server, which take long.
const SERVERS: &[Line] = &[
    Line("copy in mariadb:out", Some(("in", "mariadb:out"))),
    Line("copy in postgres:out", Some(("in", "postgres:out"))),
    Line("copy in valkey:out", Some(("in", "valkey:out"))),
    Line("run mariadb: postgres: valkey: --update --keys 20 --rounds 2 --json r.json", None),
    Line("rows mariadb: postgres:?via=tcp --rows 200 --style text --rounds 1 --json r.json", None),
];

#[test]
fn interrupted_commands() {
    search("interrupted_commands", 36, case);
}

fn case(n: u64, draw: &mut Draw) -> Result<(), String> {
    let without = std::env::var_os("STOREMARK_WITHOUT").is_some();
    let servers = n % 18 == 17 && !without;
    let Line(line, made) = draw.of(if servers { SERVERS } else { LINES });
    let sent = *draw.of(&["INT", "TERM", "KILL"]);
    let (world, before) = sources();
    let child = started(world.command(line));
    thread::sleep(moment(draw));
    // One that has ended waits until it is asked for: its number is still its own.
    signal(child.id(), sent);
    let ran = ended(child, line, Some(sent))?;
    let line = format!("{line} (then {sent})");
    let wrong = |why: &str| Err(format!("{line}: {why}"));
    if !within(60, || left(&world).is_empty()) {
        return wrong(&format!("left {:?}", left(&world)));
    }
    if contents(&world, &["in", "ints", "a.db"]) != before {
        return wrong("a source changed");
    }
    for record in ["r.json", "r.json.unfinished"] {
        readable(&world, record, &["report", record]).or_else(|why| wrong(&why))?;
    }
    let Some((from, to)) = made else { return Ok(()) };
    let verify = format!("verify {from} {to}");
    if world.path("out").exists() {
        return ended(started(world.command(&verify)), &verify, None).and_then(|ran| {
            if ran.code == Some(0) { Ok(()) } else { wrong(&format!("is not whole: {}", ran.err)) }
        });
    }
    if ran.code == Some(0) {
        return wrong("made nothing");
    }
    again(&world, line.split(" (").next().unwrap_or_default(), &verify).or_else(|why| wrong(&why))
}

/// The command works afterwards: continued if it left something to continue, else anew.
fn again(world: &World, line: &str, verify: &str) -> Result<(), String> {
    let partial = fs::read_dir(world.path("")).unwrap().flatten();
    let partial = partial.map(|e| e.path()).find(|p| p.to_string_lossy().contains("-partial"));
    let run = |line: &str| ended(started(world.command(line)), line, None);
    if let Some(partial) = partial {
        if run(&format!("{line} --resume"))?.code == Some(0) {
            return run(verify).and_then(|ran| match ran.code {
                Some(0) => Ok(()),
                _ => Err(format!("differs after --resume: {}", ran.err)),
            });
        }
        let removed =
            if partial.is_dir() { fs::remove_dir_all(&partial) } else { fs::remove_file(&partial) };
        removed.map_err(|e| e.to_string())?;
    }
    for line in [line, verify] {
        let ran = run(line)?;
        if ran.code != Some(0) {
            return Err(format!("{line} fails afterwards: {}", ran.err));
        }
    }
    Ok(())
}

/// A file that exists is whole enough for the command that reads it.
fn readable(world: &World, file: &str, words: &[&str]) -> Result<(), String> {
    let Ok(meta) = fs::metadata(world.path(file)) else { return Ok(()) };
    let line = words.join(" ");
    let ran = ended(started(world.command(&line)), &line, None)?;
    // A command that is killed before it has measured leaves the file that it reserved.
    let is_reserved = meta.len() == 0 && file.ends_with(".unfinished");
    let expected = if is_reserved { "nothing in it" } else { "figures" };
    let is_read = ran.code == Some(0) || ran.err.contains(expected);
    if is_read { Ok(()) } else { Err(format!("{line}: {} bytes: {}", meta.len(), ran.err)) }
}

/// What is read: a folder of names, one of integers, and a database of integers.
fn sources() -> (World, Vec<(String, Vec<u8>)>) {
    let world = World::new();
    fs::set_permissions(world.path("."), fs::Permissions::from_mode(0o711)).unwrap();
    for n in 0..60_usize {
        let bytes = vec![u8::try_from(n).unwrap(); n * n * 13];
        world.write(&format!("in/{}/{n}", n % 7), &bytes);
        world.write(&format!("ints/{n:06}"), &bytes);
    }
    world.ok("init a.db --count 300 --size 1000 --seed 1");
    let before = contents(&world, &["in", "ints", "a.db"]);
    (world, before)
}

fn contents(world: &World, names: &[&str]) -> Vec<(String, Vec<u8>)> {
    let root = world.path("");
    let all = world
        .tree()
        .into_iter()
        .map(|(path, (bytes, _))| (path.strip_prefix(&root).unwrap().display().to_string(), bytes));
    let is_source = |name: &str| names.iter().any(|of| name.split('/').next() == Some(of));
    all.filter(|(name, _)| is_source(name)).collect()
}

/// Scratch folders and processes that are left.
fn left(world: &World) -> Vec<String> {
    let folders = world.names(".").into_iter().filter(|name| name.contains("storemark-scratch"));
    let folder = world.path(".").canonicalize().unwrap();
    let processes = crate::servers::processes(&folder).into_iter().map(|(_, line)| line);
    folders.chain(processes).collect()
}
