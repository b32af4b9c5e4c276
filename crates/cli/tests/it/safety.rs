//! Nothing is created, changed or deleted that is not storemark's.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

use crate::{
    running::SAMPLE,
    world::{Ran, World},
};

/// A folder full of names that a careless program would use.
fn crowded() -> World {
    let world = World::new();
    for name in ["sqlite", "test.db", "tmp", "files", "pack", "kv", "storemark", "lock", "0-read"] {
        world.write(name, format!("my {name}"));
    }
    for name in ["data/file", "scratch/file", "storemark-scratch-1-2/file"] {
        world.write(name, "mine");
    }
    world
}

#[test]
fn the_default_run_leaves_every_byte_as_it_was() {
    let world = crowded();
    let before = world.tree();
    world.ok("run --keys 20 --rounds 1");
    assert_eq!(world.tree(), before);
}

#[test]
fn a_users_stores_are_only_read() {
    let world = crowded();
    world.ok("init a.db --count 20 --size 500");
    world.ok("export a.db a.dir");
    world.ok("copy a.db pack:a.pack");
    let before = world.tree();
    for options in ["", "--update", "--update --durability consistent", "--jmode wal"] {
        if !options.contains("consistent") {
            world.ok(&format!("run a.pack --rounds 1 {options}"));
        }
        world.ok(&format!("run a.db a.dir --rounds 1 {options}"));
        assert_eq!(world.tree(), before, "{options}");
    }
    world.ok("stat a.db");
    world.ok("verify a.db a.dir");
    assert_eq!(world.tree(), before);
}

/// What is written is bytes, and a handle for blobs would leave a text's type as it is.
#[test]
fn texts_are_not_replaced_in_place() {
    let world = World::new();
    let sql = "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB); \
               INSERT INTO kv VALUES(1, x'00'), (2, 'text');";
    world.sqlite3(&["t.db", sql]);
    for target in ["t.db", "sqlite:t.db?api=blob"] {
        let line = format!("run {target} --update --rounds 1");
        let said = world.refused(&format!("{line} --in-place"));
        assert!(said.contains("the value of key 2 is text, and --in-place writes bytes"), "{said}");
        world.ok(&line);
    }
}

#[test]
fn only_in_place_writes_to_a_users_store() {
    let world = World::after(["init a.db --count 20 --size 500", "export a.db a.dir"]);
    world.ok("run a.dir --update --in-place --rounds 1");
    assert_eq!(world.run("verify a.db a.dir").code, Some(3));
    world.ok("run a.db --update --in-place --rounds 1");
    assert_eq!(fs::read_dir(world.path(".")).unwrap().count(), 2);
}

#[test]
fn a_database_that_another_has_locked_is_told_soon() {
    let world = World::after(["init a.db --count 20 --size 500"]);
    let mut shell = Command::new("sqlite3");
    shell.arg(world.path("a.db")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    let mut asked = shell.stdin.take().unwrap();
    asked.write_all(b"BEGIN EXCLUSIVE; SELECT 'locked';\n").unwrap();
    let mut said = String::new();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut said).unwrap();
    for line in ["run a.db", "stat a.db"] {
        let said = world.refused(line);
        assert!(said.contains("a.db: another process holds it locked"), "{said}");
    }
    drop(asked);
    shell.wait().unwrap();
    world.ok("stat a.db");
}

#[test]
fn a_database_in_wal_mode_is_left_alone() {
    let world = World::after(["init a.db --count 20 --size 500"]);
    world.sqlite3(&["a.db", "PRAGMA journal_mode=wal"]);
    let before = world.tree();
    for line in ["run a.db --rounds 1", "stat a.db", "verify a.db a.db", "export a.db out"] {
        world.ok(line);
    }
    let mut after = world.tree();
    after.retain(|path, _| !path.starts_with(world.path("out")));
    assert_eq!(after, before);
}

#[test]
fn a_read_only_folder_is_refused_before_anything_is_measured() {
    // Root may write anywhere but into /proc.
    let world = World::new();
    let said = world.refused("run null: files: --scratch /proc --keys 5");
    assert!(said.contains("/proc"), "{said}");
    let said = world.refused("init /proc/new.db");
    assert!(said.contains("/proc"), "{said}");
}

#[test]
fn a_read_only_database_can_be_measured_and_updated_in_a_copy() {
    let world = World::after(["init a.db --count 20 --size 500"]);
    fs::set_permissions(world.path("a.db"), fs::Permissions::from_mode(0o444)).unwrap();
    let before = world.tree();
    world.ok("run a.db --read --update --rounds 1");
    assert_eq!(world.tree(), before);
}

#[test]
fn too_little_room_is_found_before_writing() {
    let world = World::new();
    let said = world.refused("run files: --keys 1000 --size 1GB");
    assert!(said.contains("free"), "{said}");
    let said = world.refused("init big.db --count 1000 --size 900MB");
    assert!(said.contains("free"), "{said}");
}

#[test]
fn a_link_leads_to_the_database_and_the_files_beside_it() {
    let world = World::after(["init a.db --count 20 --size 500"]);
    std::os::unix::fs::symlink("a.db", world.path("link.db")).unwrap();
    world.ok("run link.db --update --rounds 1");
    // A connection that is open keeps the last row in its log.
    let mut shell = std::process::Command::new("sqlite3")
        .arg(world.path("a.db"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = shell.stdin.take().unwrap();
    std::io::Write::write_all(
        &mut input,
        b"PRAGMA journal_mode=wal; INSERT INTO kv VALUES(999, x'07'); SELECT 'done';\n",
    )
    .unwrap();
    let mut output = std::io::BufReader::new(shell.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("done") {
        line.clear();
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    }
    assert!(world.ok("stat link.db").out.contains("Number of entries:        21"));
    drop(input);
    shell.wait().unwrap();
}

#[test]
fn a_copy_is_measured_with_the_reason_and_the_writers_names() {
    let world = World::after(["init a.db --count 20 --size 500"]);
    assert!(!world.ok("run a.db --rounds 1").out.contains("scratch copy"));
    world.sqlite3(&["a.db", "PRAGMA journal_mode=wal"]);
    let before = world.tree();
    let found = world.ok("run a.db --rounds 1 -v").words();
    assert!(found.contains("journal=wal") && !found.contains("scratch copy"), "{found}");
    let why = "not of the store itself: opening a database in WAL mode creates files next to it";
    let found = world.ok("run a.db --rounds 1 --batch 1").words();
    assert!(found.contains(why) && !found.contains("open to write"), "{found}");
    assert_eq!(world.tree(), before);
    let mut writer = Command::new("sqlite3");
    let writer = writer.arg("a.db").current_dir(world.path("")).stdin(Stdio::piped());
    let mut writer = writer.stdout(Stdio::piped()).spawn().unwrap();
    let mut input = writer.stdin.take().unwrap();
    writeln!(input, "UPDATE kv SET v = zeroblob(500) WHERE k = 1; SELECT 'done';").unwrap();
    let mut output = std::io::BufReader::new(writer.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("done") {
        line.clear();
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    }
    let found = world.ok("run a.db --rounds 1").words();
    assert!(found.contains("an unfinished or unmerged transaction is next to it"), "{found}");
    if cfg!(target_os = "linux") {
        let named = format!("open to write in sqlite3 (process {})", writer.id());
        assert!(found.contains(&named), "{found}");
    }
    drop(input);
    writer.wait().unwrap();
}

/// What a program may leave that was killed after it had merged its log.
#[test]
fn an_empty_log_is_not_given_an_index() {
    let world = World::after(["init a.db --count 20 --size 500"]);
    world.sqlite3(&["a.db", "PRAGMA journal_mode=wal"]);
    world.write("a.db-wal", "");
    let before = world.tree();
    for line in ["run a.db --rounds 1", "run a.db --rounds 1 --batch 1", "stat a.db"] {
        world.ok(line);
        assert_eq!(world.tree(), before, "{line}");
    }
}

/// Runs `target`, and calls `meanwhile` again and again from the first sample to the end.
fn run_while(world: &World, target: &str, meanwhile: impl Fn()) -> Ran {
    let line = format!("run {target} --read --time 5s -v --json r.json");
    let mut child = world.under_way(&line, "r.json", SAMPLE, 1);
    while child.try_wait().unwrap().is_none() {
        meanwhile();
    }
    Ran::from(child.wait_with_output().unwrap())
}

/// What is read without locks may change meanwhile.
#[test]
fn a_log_that_is_merged_while_the_database_is_read_is_no_damage() {
    let world = World::after(["init a.db --count 20000 --size 200"]);
    world.sqlite3(&["a.db", "PRAGMA journal_mode=wal"]);
    let ran = run_while(&world, "a.db", || {
        let update = "UPDATE kv SET v = randomblob(300) WHERE k % 7 = abs(random() % 7)";
        world.sqlite3(&["-cmd", ".timeout 5000", "a.db", update]);
    });
    let said = format!("{} {}", ran.words(), ran.err);
    assert!(said.contains("while it was measured") && !said.contains("malformed"), "{said}");
    assert!(world.sqlite3(&["a.db", "PRAGMA integrity_check"]).starts_with("ok"));
}

#[test]
fn a_database_that_is_written_to_while_it_is_read_is_named() {
    let world = World::after(["init a.db --count 2000 --size 500"]);
    let ran = run_while(&world, "a.db", || {
        let update = "UPDATE kv SET v = zeroblob(500) WHERE k = 1";
        world.sqlite3(&["-cmd", ".timeout 5000", "a.db", update]);
    });
    let said = format!("{} {}", ran.words(), ran.err);
    let named = said.contains("was written to while it was measured");
    assert!(named || said.contains("changed while it was measured"), "{said}");
    let own = world.ok("run a.db --read --update --in-place --rounds 2 -v").words();
    assert!(!own.contains("was written to while"), "{own}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_mapped_database_that_becomes_shorter_ends_a_run_with_a_line() {
    let world = World::after(["init a.db --count 20000 --size 500"]);
    let ran = run_while(&world, "a.db?mmap=1GiB --threads 2 --over-time", || {
        fs::File::options().write(true).open(world.path("a.db")).unwrap().set_len(4096).unwrap();
    });
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    let said = format!("{} {}", ran.words(), ran.err);
    let by_a_read = said.contains("changed while it was measured");
    assert!(by_a_read || said.contains("a store changed while it was read"), "{said}");
    assert!(!said.contains("malformed"), "{said}");
}

#[test]
fn an_earlier_record_is_kept_when_nothing_is_measured() {
    let world = World::after(["run null: --keys 5 --rounds 1 --json run.json"]);
    world.sqlite3(&["empty.db", "CREATE TABLE kv(k INTEGER PRIMARY KEY, v)"]);
    for name in ["run.json", "new.json"] {
        let said = world.refused(&format!("run empty.db --json {name}"));
        assert!(said.contains("no values to measure with"), "{said}");
    }
}

#[test]
fn a_database_whose_writer_was_killed_is_left_alone() {
    let world = World::after(["init a.db --count 20 --size 500"]);
    world.write("a.db-journal", [0xd9; 600]);
    let said = world.refused("run a.db");
    assert!(said.contains("a.db-journal"), "{said}");
    world.refused("stat a.db");
}
