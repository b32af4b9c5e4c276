//! The commands of "35% Faster Than The Filesystem", verbatim but for the program's name and
//! the number of blobs, and kvtest's other options.

use crate::world::World;

/// `test1.db`, `test1.dir` and `test1.tree` as the article makes them.
fn made() -> World {
    World::after(["init test1.db --count 200"])
}

fn exported() -> World {
    let world = World::after(["init test1.db --count 200 --size 10k --variance 2k"]);
    world.ok("export test1.db test1.dir");
    world.ok("export test1.db test1.tree --tree");
    world
}

#[test]
fn the_database_is_kvtests() {
    let world = exported();
    let schema = world.sqlite3(&["test1.db", "SELECT sql FROM sqlite_schema"]);
    assert_eq!(schema.trim(), "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)");
    let figures = world.sqlite3(&[
        "test1.db",
        "SELECT count(*), min(k), max(k), min(length(v))>=8000, max(length(v))<=12000, \
         count(DISTINCT v) FROM kv; PRAGMA page_size; PRAGMA journal_mode;",
    ]);
    assert_eq!(figures.trim(), "200|1|200|1|1|200\n4096\ndelete");
}

#[test]
fn folders_and_trees_have_kvtests_names_and_the_databases_bytes() {
    let world = exported();
    for (file, key) in [("test1.dir/000001", 1), ("test1.tree/00/01/99", 199)] {
        let hex = world.sqlite3(&["test1.db", &format!("SELECT hex(v) FROM kv WHERE k={key}")]);
        let bytes = std::fs::read(world.path(file)).unwrap();
        let found: Vec<_> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        assert_eq!(found.concat(), hex.trim(), "{file}");
    }
    assert_eq!(std::fs::read_dir(world.path("test1.dir")).unwrap().count(), 200);
}

#[test]
fn stat_shows_what_kvtest_shows() {
    let world = made();
    let stat = world.ok("stat test1.db").out;
    for line in [
        "Number of entries:       200",
        "Average value size:    10000",
        "Minimum value size:    10000",
        "Page-size:              4096",
        "Integrity-check:    ok",
    ] {
        assert!(stat.contains(line), "{line}\n{stat}");
    }
    world.sqlite3(&["test1.db", "DELETE FROM kv WHERE k%2"]);
    let free = |line: &str| {
        let stat = world.ok(line).out;
        stat.lines()
            .find_map(|line| line.strip_prefix("Freelist-count:"))
            .unwrap()
            .trim()
            .to_owned()
    };
    assert_ne!(free("stat test1.db"), "0");
    assert_eq!(free("stat test1.db --vacuum"), "0");
}

#[test]
fn every_run_of_the_article_works() {
    let world = exported();
    for target in ["test1.db", "test1.dir", "test1.tree"] {
        for options in
            ["--blob-api", "", "--update", "--update --nosync", "--update --fsync", "--multitrans"]
        {
            let line = format!("run {target} --count 100 {options} --rounds 1");
            let ran = world.ok(&line);
            assert!(ran.out.contains(target), "{line}\n{}", ran.out);
            assert!(ran.out.contains("100 operations"), "{line}\n{}", ran.out);
        }
    }
}

#[test]
fn every_option_of_kvtests_run_is_taken() {
    let world = exported();
    let ran = world.ok(
        "run test1.db -count 50 --asc --start 7 --max-id 150 -cache-size 100 --mmap 10MiB \
         --jmode wal --nocheckpoint --nosync --update --multitrans --integrity-check --stats \
         --fsync --rounds 1 -v",
    );
    for line in [
        "50 operations, ascending, 1 operation a commit",
        "journal=wal",
        "sync=off",
        "checkpoint=none",
        "cache_pages=100",
        "mmap=10485760",
        "integrity-check: test1.db: ok",
        "page cache misses",
    ] {
        assert!(ran.out.contains(line), "{line}\n{}", ran.out);
    }
    assert!(world.ok("run test1.db --desc --rounds 1").out.contains("descending"));
    assert!(world.ok("run test1.dir --random --rounds 1").out.contains("with replacement"));
}

#[test]
fn all_keys_are_touched_also_in_folders() {
    let world = exported();
    for target in ["test1.db", "test1.dir", "test1.tree"] {
        let out = world.ok(&format!("run {target} --rounds 1 -v")).out;
        assert!(out.contains("\n200 keys"), "{out}");
        assert!(!out.contains("a pass touches"), "{out}");
    }
    let out = world.ok("run test1.dir --count 20 --rounds 1 -v").out;
    assert!(out.contains("a pass touches 20 of 200 keys"), "{out}");
}
