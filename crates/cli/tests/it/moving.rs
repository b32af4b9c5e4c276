//! `import`, `export`, `copy` and `verify`.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    time::{Duration, UNIX_EPOCH},
};

use crate::world::World;

/// A folder as people have it.
fn mine() -> World {
    let world = World::new();
    world.write("mine/a/b/c.txt", "deep");
    world.write("mine/empty", "");
    world.write("mine/with space", vec![1; 70_000]);
    world.write("mine/run.sh", "#!/bin/sh\n");
    fs::set_permissions(world.path("mine/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let file = fs::File::options().append(true).open(world.path("mine/a/b/c.txt")).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
    world
}

#[test]
fn a_folder_goes_into_an_sqlite_archive_and_back() {
    let world = mine();
    world.ok("import mine mine.db");
    world.ok("verify mine mine.db");
    world.ok("copy mine.db files:back");
    world.ok("verify mine back");
    let metadata = fs::metadata(world.path("back/run.sh")).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o7777, 0o755);
    let modified = fs::metadata(world.path("back/a/b/c.txt")).unwrap().modified().unwrap();
    assert_eq!(modified, UNIX_EPOCH + Duration::from_secs(1_000_000_000));
}

#[test]
fn the_sqlite3_shell_lists_and_extracts_the_archive() {
    let world = mine();
    world.ok("import mine mine.db");
    let listed = world.sqlite3(&["mine.db", "-A", "-t"]);
    let mut names: Vec<_> = listed.lines().collect();
    names.sort_unstable();
    assert_eq!(names, ["a/b/c.txt", "empty", "run.sh", "with space"]);
    fs::create_dir(world.path("out")).unwrap();
    world.sqlite3(&["mine.db", "-A", "-x", "-C", "out"]);
    world.ok("verify mine out");
}

#[test]
fn numbered_folders_and_trees_are_imported_as_integers() {
    let world = World::new();
    world.ok("init a.db --count 150 --size 1k");
    world.ok("export a.db a.dir");
    world.ok("export a.db a.tree --tree");
    world.ok("import a.dir b.db --pagesize 8192");
    world.ok("import a.tree c.db");
    for store in ["a.dir", "a.tree", "b.db", "c.db"] {
        world.ok(&format!("verify a.db {store}"));
    }
    assert_eq!(world.sqlite3(&["b.db", "PRAGMA page_size"]).trim(), "8192");
    world.ok("copy a.tree pack:a.pack");
    world.ok("verify a.pack a.db");
}

#[test]
fn nothing_is_overwritten_without_force() {
    let world = World::new();
    world.ok("init a.db --count 10 --size 100");
    world.ok("export a.db a.dir");
    for line in ["export a.db a.dir", "copy a.dir sqlite:a.db", "import a.dir a.db"] {
        assert!(world.refused(line).contains("--force"), "{line}");
    }
    world.ok("init b.db --count 20 --size 100");
    world.ok("copy b.db files:a.dir --force");
    world.ok("verify a.dir b.db");
    world.write("precious/thesis", "years of work");
    world.refused("copy b.db files:precious --force");
    world.sqlite3(&["other.db", "CREATE TABLE kv(k INTEGER PRIMARY KEY, v); CREATE TABLE mine(x)"]);
    world.refused("copy a.dir sqlite:other.db --force");
}

#[test]
fn an_empty_folder_may_be_filled() {
    let world = World::new();
    world.ok("init x1.db --count 10 --size 100");
    fs::create_dir(world.path("x1")).unwrap();
    world.ok("export x1.db x1");
    world.ok("verify x1.db x1");
}

#[test]
fn what_is_no_file_is_counted_and_named() {
    let world = mine();
    std::os::unix::fs::symlink("run.sh", world.path("mine/link")).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(world.path("mine/pipe")).status();
    assert!(fifo.unwrap().success());
    let ran = world.ok("import mine mine.db");
    assert!(ran.err.contains("link") && ran.err.contains("pipe"), "{}", ran.err);
}

#[test]
fn verify_names_what_differs() {
    let world = World::new();
    world.ok("init a.db --count 10 --size 100");
    world.ok("export a.db a.dir");
    world.write("a.dir/000003", [0; 100]);
    fs::remove_file(world.path("a.dir/000005")).unwrap();
    world.write("a.dir/000077", "more");
    let ran = world.run("verify a.db a.dir");
    assert_eq!(ran.code, Some(3));
    for says in ["missing", "extra", "different", "77", "5", "3"] {
        assert!(ran.out.contains(says), "{says}\n{}", ran.out);
    }
}

#[test]
fn a_store_that_is_read_as_a_copy_needs_room_for_it() {
    let world = World::new();
    world.ok("init a.db --count 10 --size 1k");
    world.ok("copy a.db fjall:a.fjall");
    // More than disks hold, at no cost: each is one hole, of the length that ext4 allows.
    for name in 0..64 {
        let hole = fs::File::create(world.path(&format!("a.fjall/{name}"))).unwrap();
        hole.set_len(15 << 40).unwrap();
    }
    for line in ["run a.fjall pack: --rounds 1", "verify a.db a.fjall", "copy a.fjall pack:b"] {
        let ran = world.run(line);
        assert_eq!(ran.code, Some(1), "{line}: {}", ran.err);
        let says = "a.fjall: it is read as a copy of 1.06 PB";
        assert!(ran.err.contains(says) && ran.err.contains(" free; --scratch"), "{}", ran.err);
    }
}
