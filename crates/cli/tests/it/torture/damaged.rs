//! Stores of every engine with bytes flipped, cut off or gone: a command fails with one line or
//! works, what verify calls the same is the same, and the store stays as it is.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, OnceLock},
};

use super::{Draw, ended, search, started};
use crate::world::{Ran, World};

/// Engines, from names and from integers.
const STORES: &[(&str, &str)] = &[
    ("sqlite", "in"),
    ("sqlite", "ints"),
    ("pack", "in"),
    ("pack", "ints"),
    ("lmdb", "in"),
    ("redb", "in"),
    ("fjall", "in"),
    ("rocksdb", "in"),
    ("files", "in"),
    ("hybrid", "in"),
    ("hybrid", "ints"),
];

/// Those with a server, which take long.
const SERVERS: &[(&str, &str)] = &[("mariadb", "in"), ("postgres", "ints"), ("valkey", "in")];

#[test]
fn damaged_stores() {
    search("damaged_stores", 45, case);
}

fn case(n: u64, draw: &mut Draw) -> Result<(), String> {
    let without = std::env::var_os("STOREMARK_WITHOUT").is_some();
    let servers = n % 30 == 29 && !without;
    let (engine, source) = *draw.of(if servers { SERVERS } else { STORES });
    let Some(whole) = whole(engine, source) else { return Ok(()) };
    let world = World::new();
    fs::set_permissions(world.path("."), fs::Permissions::from_mode(0o711)).unwrap();
    copy(whole, &world.path(""));
    let store = world.path("store");
    // One in four only lacks files, which nothing that is left may hide.
    let lacks = draw.below(4) == 0;
    let damage = if lacks { remove_alike(&store, draw) } else { damage(&store, draw) };
    let before = bytes_of(&store);
    let of = format!("{engine} of {source}, {damage}");
    let run = |line: &str| {
        ended(started(world.command(line)), line, None).map_err(|why| format!("{of}: {why}"))
    };
    let same = run(&format!("verify {source} {engine}:store"))?;
    let alone = run(&format!("verify {engine}:store"))?;
    // A folder of files does not say how many it holds.
    if lacks && engine != "files" && alone.code == Some(0) && same.code != Some(0) {
        return Err(format!("{of}: passes for whole: {}", alone.out.trim()));
    }
    run(&format!("verify {source} store"))?;
    let copied = run(&format!("copy {engine}:store files:out"))?;
    run(&format!("run {engine}:store --read --rounds 1"))?;
    if bytes_of(&store) != before && !servers {
        return Err(format!("{of}: reading changed the store"));
    }
    agrees(&copied, &same, run(&format!("verify {source} files:out"))).map_err(|e| of.clone() + &e)
}

/// What was copied differs from the source exactly if the store does.
fn agrees(copied: &Ran, same: &Ran, out: Result<Ran, String>) -> Result<(), String> {
    let out = out?;
    match (copied.code, same.code, out.code) {
        (Some(0), Some(a), Some(b)) if (a == 0) != (b == 0) => Err(format!(
            ": verify says {:?} of the store and {:?} of its copy",
            same.out.trim(),
            out.out.trim()
        )),
        (Some(code), ..) if code != 0 && out.code == Some(0) => {
            Err(": a copy that failed has its final name".to_owned())
        }
        _ => Ok(()),
    }
}

/// A folder with a source and its whole store, made once; `None`: this build lacks the engine.
fn whole(engine: &'static str, source: &'static str) -> Option<&'static Path> {
    type Made = BTreeMap<(&'static str, &'static str), Option<&'static World>>;
    static MADE: OnceLock<Mutex<Made>> = OnceLock::new();
    let mut made = MADE.get_or_init(Mutex::default).lock().unwrap();
    let world = made.entry((engine, source)).or_insert_with(|| {
        let world: &'static World = Box::leak(Box::new(World::new()));
        fs::set_permissions(world.path("."), fs::Permissions::from_mode(0o711)).unwrap();
        for n in 1..25_usize {
            let bytes: Vec<u8> =
                (0..n * n * 40).map(|i| u8::try_from(i * n % 251).unwrap()).collect();
            let name = if source == "in" { format!("{}/{n}", n % 3) } else { format!("{n:06}") };
            world.write(&format!("{source}/{name}"), bytes);
        }
        // Half of the values are files.
        let settings = if engine == "hybrid" { "?inline=6k" } else { "" };
        let ran = world.run(&format!("copy {source} {engine}:store{settings}"));
        let lacks = ran.code == Some(1) && ran.err.contains("feature");
        assert!(ran.code == Some(0) || lacks, "{engine}: {}", ran.err);
        (!lacks).then_some(world)
    });
    world.map(|world| Box::leak(world.path("").into_boxed_path()) as &Path)
}

/// Damages a few files of a store, and says how.
fn damage(store: &Path, draw: &mut Draw) -> String {
    let mut files = Vec::new();
    walk(store, &mut files);
    files.sort();
    let times = 1 + draw.below(3);
    let one = |_| {
        let file = draw.of(&files).clone();
        let name = file.strip_prefix(store.parent().unwrap()).unwrap().display().to_string();
        format!("{name}: {}", damage_file(&file, draw))
    };
    (0..times).map(one).collect::<Vec<_>>().join(", ")
}

/// Removes all files of a store whose names end like one of them, and says which.
fn remove_alike(store: &Path, draw: &mut Draw) -> String {
    let mut files = Vec::new();
    walk(store, &mut files);
    files.sort();
    let one = draw.of(&files).clone();
    // Numbers are names of their own.
    let ending = one.extension().map(ToOwned::to_owned);
    let alike = |file: &&PathBuf| match &ending {
        Some(ending) => file.extension() == Some(ending),
        None => **file == one,
    };
    let removed = files.iter().filter(alike);
    removed.clone().for_each(|file| fs::remove_file(file).unwrap());
    format!("removed all {} like {}", removed.count(), one.display())
}

fn damage_file(file: &Path, draw: &mut Draw) -> String {
    let Ok(mut bytes) = fs::read(file) else { return "gone already".to_owned() };
    if draw.below(7) == 0 {
        fs::remove_file(file).unwrap();
        return "removed".to_owned();
    }
    let said = mutate(&mut bytes, draw);
    fs::write(file, bytes).unwrap();
    said
}

/// Changes some bytes, and says how.
pub(super) fn mutate(bytes: &mut Vec<u8>, draw: &mut Draw) -> String {
    let at = draw.below(bytes.len());
    match draw.below(6) {
        0 | 1 if !bytes.is_empty() => {
            let bit = draw.below(8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at} flipped")
        }
        2 => {
            let end = bytes.len().min(at + 1 + draw.below(4096));
            let with = *draw.of(&[0, 0xff, 0x41]);
            bytes[at..end].fill(with);
            format!("bytes {at} to {end} set to {with}")
        }
        3 => {
            bytes.truncate(at);
            format!("cut to {at} bytes")
        }
        4 => {
            bytes.extend(vec![7; 1 + draw.below(5000)]);
            "made longer".to_owned()
        }
        _ => {
            let from = draw.below(bytes.len());
            let length = draw.below(512).min(bytes.len() - at).min(bytes.len() - from);
            bytes.copy_within(from..from + length, at);
            format!("{length} bytes copied from {from} to {at}")
        }
    }
}

fn walk(path: &Path, files: &mut Vec<PathBuf>) {
    let meta = fs::symlink_metadata(path).unwrap();
    if meta.is_dir() {
        fs::read_dir(path).unwrap().flatten().for_each(|entry| walk(&entry.path(), files));
    } else if meta.is_file() {
        files.push(path.to_owned());
    }
}

fn bytes_of(store: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    if store.exists() {
        walk(store, &mut files);
    }
    files.sort();
    files.into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect()
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status();
    assert!(copied.unwrap().success());
}
