//! Stores with a damaged byte, a part or a file missing: each command ends with one line, whatever the
//! engine's library does.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::world::{Ran, World};

/// A target of each engine on disk that may be part of this build.
const STORES: [&str; 8] = [
    "fjall:store.fjall",
    "lmdb:store.lmdb",
    "redb:store.redb",
    "rocksdb:store.rocksdb",
    "pack:store.pack",
    "sqlite:store.db",
    "files:store.dir",
    "hybrid:store.hybrid?inline=1k",
];
const COMMANDS: [&str; 3] =
    ["verify STORE a.db", "copy STORE files:out", "run STORE --read --rounds 1 --count 50"];
/// Of each store, each of which meets all commands.
const DAMAGES: u64 = 8;

/// Numbers that only look random, so that what fails fails again.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end.max(1)
    }
}

fn files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let mut entries: Vec<_> = path.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries.iter().flat_map(|path| files(path)).collect()
}

/// Damages one of the files below `store`, and returns how.
fn damage(store: &Path, numbers: &mut Numbers) -> String {
    let files = files(store);
    let file = &files[numbers.below(files.len())];
    let mut bytes = fs::read(file).unwrap();
    let written: Vec<usize> = (0..bytes.len().min(1 << 20)).filter(|at| bytes[*at] != 0).collect();
    let at = written.get(numbers.below(written.len())).copied().unwrap_or_default();
    let how = numbers.below(8);
    match how {
        0 => {
            fs::remove_file(file).unwrap();
            return format!("{} removed", file.display());
        }
        1 => bytes.truncate(at),
        2 => bytes[at..].iter_mut().take(64).for_each(|byte| *byte = 0),
        3 => bytes[at..].iter_mut().take(16).for_each(|byte| *byte = 0xff),
        _ => bytes[at..].iter_mut().take(1).for_each(|byte| *byte ^= 1 << numbers.below(8)),
    }
    fs::write(file, bytes).unwrap();
    format!("{} at {at}: {how}", file.display())
}

fn check(ran: &Ran, what: &str) {
    assert!(matches!(ran.code, Some(0..=3)), "{what}: {:?} {}", ran.code, ran.err);
    assert!(ran.err.lines().count() <= 2, "{what}: {}", ran.err);
    assert!(ran.err.lines().all(|line| line.starts_with("storemark: ")), "{what}: {}", ran.err);
    // As Rust prints values for programmers.
    for debugged in [" { ", "Error(", "Some(", "(\"", "panicked"] {
        assert!(!ran.err.contains(debugged), "{what}: {}", ran.err);
    }
    if ran.code == Some(1) || ran.code == Some(2) {
        assert!(ran.err.contains("store."), "{what}: names no store: {}", ran.err);
    }
}

#[test]
fn a_damaged_store_ends_each_command_with_a_line() {
    let world = World::after(["init a.db --count 50 --size 2k"]);
    for store in STORES {
        let (engine, path) = store.split_once(':').unwrap();
        let path = path.split('?').next().unwrap();
        if world.run(&format!("copy a.db {store}")).code != Some(0) {
            assert_eq!(engine, "rocksdb", "only that one is not in every build");
            continue;
        }
        let whole = world.path("whole");
        fs::rename(world.path(path), &whole).unwrap();
        for seed in 0..DAMAGES {
            copy(&whole, &world.path(path));
            let how = damage(&world.path(path), &mut Numbers(seed + 1));
            for command in COMMANDS {
                let line = command.replace("STORE", store);
                check(&world.run(&line), &format!("{line}, {how}"));
            }
            for left in [path, "out"] {
                remove(&world.path(left));
            }
        }
        remove(&whole);
    }
}

/// Sets of files that a store may lose: each alone, and all whose names end alike.
fn losses(store: &Path) -> Vec<Vec<PathBuf>> {
    const MOST: usize = 12;
    let files: Vec<_> = files(store).into_iter().take(MOST).collect();
    let endings: BTreeSet<_> = files.iter().filter_map(|file| file.extension()).collect();
    let alike = endings.iter().map(|ending| {
        files.iter().filter(|file| file.extension() == Some(ending)).cloned().collect::<Vec<_>>()
    });
    let several = alike.filter(|files| files.len() > 1);
    files.iter().map(|file| vec![file.clone()]).chain(several).collect()
}

/// A folder of files does not say how many there are; every other store is less than it says.
#[test]
fn a_store_without_some_of_its_files_is_damaged_or_whole() {
    let world = World::after(["init a.db --count 40 --size 3000 --seed 1"]);
    for store in STORES.iter().filter(|store| !store.starts_with("files")) {
        let path = store.split_once(':').unwrap().1.split('?').next().unwrap();
        if world.run(&format!("copy a.db {store}")).code != Some(0) {
            continue;
        }
        let whole = world.path("whole");
        fs::rename(world.path(path), &whole).unwrap();
        for (loss, removed) in losses(&whole).iter().flat_map(|loss| [(loss, true), (loss, false)])
        {
            copy(&whole, &world.path(path));
            for file in loss {
                let below = file.strip_prefix(&whole).unwrap();
                let file = if below == Path::new("") {
                    world.path(path)
                } else {
                    world.path(path).join(below)
                };
                if removed { remove(&file) } else { fs::write(&file, "").unwrap() }
            }
            let what = format!("{store} without {loss:?}, removed: {removed}");
            let alone = world.run(&format!("verify {store}"));
            check(&alone, &what);
            if alone.code == Some(0) {
                let same = world.run(&format!("verify a.db {store}"));
                assert_eq!(same.code, Some(0), "{what}: passes for whole: {}", alone.out);
            } else {
                // A store that is one file is not there, or nobody's, without it.
                let damaged = world.path(path).is_dir() && world.path(path).exists();
                assert!(!damaged || alone.code == Some(3) || !removed, "{what}: {}", alone.err);
                assert_ne!(alone.code, Some(2), "{what}: {}", alone.err);
            }
            remove(&world.path(path));
        }
        remove(&whole);
    }
}

#[test]
fn a_fjall_store_without_its_journals_is_refused_by_name() {
    let world = World::after(["init a.db --count 120 --seed 1", "copy a.db fjall:s"]);
    for file in
        files(&world.path("s")).iter().filter(|file| file.extension() == Some("jnl".as_ref()))
    {
        fs::remove_file(file).unwrap();
    }
    let verified = world.run("verify s");
    assert_eq!(verified.code, Some(3), "{}", verified.out);
    assert_eq!(verified.out, "damaged: s: is damaged: its journals are missing\n");
    for line in
        ["copy s files:out", "run s pack: --rounds 1", "verify s a.db", "copy a.db fjall:s --force"]
    {
        assert!(world.refused(line).contains("s: is damaged: its journals are missing"), "{line}");
    }
    // One in the middle, as a copy of a folder that ended early may lack it.
    for journal in ["s/0.jnl", "s/2.jnl"] {
        world.write(journal, "");
    }
    let said = world.refused("copy s files:out");
    assert!(said.contains("s/1.jnl: is damaged: this file is missing"), "{said}");
}

fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir(to).unwrap();
    for entry in from.read_dir().unwrap().map(Result::unwrap) {
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

fn remove(path: &Path) {
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else if path.exists() {
        fs::remove_file(path).unwrap();
    }
}

/// LMDB believes its pages: it aborts where an assertion fails, or touches memory that it does not have.
#[test]
fn a_library_that_ends_the_process_ends_it_with_a_line() {
    const PAGE: usize = 4096;
    let world = World::after(["init a.db --count 50 --size 2k", "copy a.db lmdb:store.lmdb"]);
    let file = world.path("store.lmdb/data.mdb");
    let whole = fs::read(&file).unwrap();
    let mut gave_up = 0;
    // The kind of a page, its bounds, and where its first entries are.
    for (field, byte) in [(10..12, 0xff), (10..12, 0), (12..16, 0x7f), (16..24, 0xff)] {
        for page in 2..whole.len() / PAGE {
            let mut bytes = whole.clone();
            bytes[page * PAGE..][field.clone()].fill(byte);
            fs::write(&file, bytes).unwrap();
            let line = format!("verify lmdb:store.lmdb {}", ["a.db", ""][page % 2]);
            let ran = world.run(&line);
            check(&ran, &format!("{line}, bytes {field:?} of page {page} are {byte}"));
            gave_up += usize::from(ran.err.contains("its engine's library gave up: "));
        }
    }
    assert!(gave_up > 0, "nothing has shown that the signal is caught");
    // A worker process says it to the one that started it.
    let mut bytes = whole;
    for page in bytes.chunks_exact_mut(PAGE).skip(2) {
        page[10..12].fill(0xff);
    }
    fs::write(&file, bytes).unwrap();
    check(&world.run("run lmdb:store.lmdb a.db --read --rounds 1 --count 50"), "all pages");
}

/// The library asks for any amount of memory that a list of its tables names, and ends the process.
#[test]
fn every_byte_of_a_list_of_fjalls_tables_counts() {
    let world = World::after(["init a.db --count 50 --size 2k", "copy a.db fjall:store.fjall"]);
    let mut lists = files(&world.path("store.fjall")).into_iter().filter(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with('v') && name != "version"
    });
    let current = |list: &PathBuf| fs::read(list.with_file_name("current")).unwrap()[0];
    let list = lists.rfind(|list| list.ends_with(format!("v{}", current(list)))).unwrap();
    let whole = fs::read(&list).unwrap();
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        fs::write(&list, bytes).unwrap();
        let said = world.refused("verify fjall:store.fjall a.db");
        assert!(said.contains("is damaged: its checksum is another"), "{at}: {said}");
        assert!(said.starts_with("storemark: store.fjall/keyspaces/"), "names a copy: {said}");
    }
}
