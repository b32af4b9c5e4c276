//! `storemark cache`: counts, maps, changes and locks, and what it says to bad input.

#![cfg(unix)]

use std::{
    fs::{self, File},
    io::{Read, Write},
    os::unix::{
        fs::{FileExt, PermissionsExt, symlink},
        process::CommandExt,
    },
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    running::{signal, within},
    world::{Ran, World, is_root},
};

/// Three files of 3, 1 and no pages, in two folders below `tree`.
fn tree() -> World {
    let world = World::new();
    world.write("tree/a", [1; 10_000]);
    world.write("tree/deep/b", "b");
    world.write("tree/deep/empty", "");
    world
}

/// What `cache --json -` with these words says.
fn json(world: &World, line: &str) -> Value {
    serde_json::from_str(&world.ok(&format!("cache --json - {line}")).out).unwrap()
}

fn total(world: &World, line: &str) -> u64 {
    json(world, line)["pages"]["total"].as_u64().unwrap()
}

/// Pages are larger on some machines.
fn in_pages(world: &World, bytes: u64) -> u64 {
    bytes.div_ceil(json(world, "tree/a")["page_size"].as_u64().unwrap())
}

#[test]
fn the_summary_has_vmtouchs_lines() {
    let world = tree();
    let ran = world.ok("cache tree");
    let pages = in_pages(&world, 10_000) + 1;
    let lines: Vec<_> = ran.out.lines().collect();
    assert_eq!(lines[0], "           Files: 3");
    assert_eq!(lines[1], "     Directories: 2");
    assert!(lines[2].starts_with("  Resident Pages: "), "{}", ran.out);
    assert!(lines[2].contains(&format!("/{pages}  ")), "{}", ran.out);
    let elapsed = lines.last().unwrap();
    assert!(elapsed.starts_with("         Elapsed: ") && elapsed.ends_with(" seconds"));
    assert_eq!(ran.err, "");
    assert_eq!(world.ok("cache -q tree").out, "");
    let touched = world.ok("cache -t tree").out;
    assert!(touched.contains(&format!("   Touched Pages: {pages} (")), "{touched}");
    let evicted = world.ok("cache -e tree").out;
    assert!(evicted.contains("   Evicted Pages: "), "{evicted}");
}

#[test]
fn counts_follow_what_is_done_to_the_files() {
    let world = tree();
    world.ok("cache --touch tree");
    let warm = json(&world, "tree");
    assert_eq!((warm["files"].as_u64(), warm["directories"].as_u64()), (Some(3), Some(2)));
    assert_eq!(warm["pages"]["unknown"], 0);
    // Another program may empty the caches at any time: once in a few attempts is enough.
    let is_warm = || {
        world.ok("cache -t tree");
        let pages = json(&world, "tree")["pages"].clone();
        pages["resident"] == pages["total"]
    };
    assert!((0..5).any(|_| is_warm()));
    let evicted = json(&world, "-e tree");
    // In a file system that lives in memory all stay, and the command says so.
    let left = json(&world, "tree")["pages"]["resident"].clone();
    assert_eq!(evicted["pages"]["resident"], left);
}

#[test]
fn names_of_files_and_folders_are_counted() {
    let world = tree();
    let names = || {
        // Loads them all.
        world.ok("cache tree");
        let names = json(&world, "tree")["names"].clone();
        (names["total"].as_u64().unwrap(), names["cached"].as_u64().unwrap())
    };
    if names().0 == 0 {
        // The system does not tell; then no line speaks of it.
        assert!(!world.ok("cache tree").out.contains("Names"));
        return;
    }
    // a, deep, b and empty; the folder to begin with does not count. Another program may empty
    // the caches at any time.
    assert!((0..5).any(|_| names() == (4, 4)));
    assert!(world.ok("cache tree").out.contains("    Cached Names: "));
}

#[test]
fn parts_limits_and_patterns_choose_what_counts() {
    let world = tree();
    let page = json(&world, "tree")["page_size"].as_u64().unwrap();
    world.write("big", vec![1; usize::try_from(10 * page).unwrap()]);
    assert_eq!(total(&world, "big"), 10);
    for (range, pages) in [
        (format!("{page}-{}", 3 * page), 2),
        (format!("{}-", 4 * page), 6),
        (format!("-{}", 4 * page), 4),
        (format!("{}", 4 * page + 1), 5),
        (format!("{}-{}", page + 1, 2 * page), 1),
        ("-".into(), 10),
        ("1G-".into(), 0),
    ] {
        assert_eq!(total(&world, &format!("-p {range} big")), pages, "{range}");
    }
    let files = |line: &str| json(&world, line)["files"].as_u64().unwrap();
    assert_eq!(files("-i deep tree"), 1);
    assert_eq!(files("-i [ab] tree"), 1);
    assert_eq!(files("-I b -I em* tree"), 2);
    assert_eq!(files("-i tree tree"), 0);
    let limited = json(&world, "-m 5k tree");
    assert_eq!(limited["skipped"]["too_large"], 1);
    assert_eq!(limited["pages"]["total"], 1);
}

#[test]
fn hard_links_count_once_or_each() {
    let world = tree();
    fs::hard_link(world.path("tree/a"), world.path("tree/again")).unwrap();
    let once = total(&world, "tree");
    assert_eq!(total(&world, "-H tree"), once + in_pages(&world, 10_000));
    assert_eq!(json(&world, "tree")["files"], 3);
    assert_eq!(json(&world, "-H tree")["files"], 4);
}

#[test]
fn special_files_and_link_loops_are_skipped_and_counted() {
    let world = tree();
    let at = |name: &str| world.path(name);
    assert!(Command::new("mkfifo").arg(at("tree/fifo")).status().unwrap().success());
    symlink(".", at("tree/self")).unwrap();
    symlink("loop", at("tree/loop")).unwrap();
    symlink("nowhere", at("tree/dangling")).unwrap();
    symlink("../tree/a", at("tree/link")).unwrap();
    let seen = json(&world, "tree /dev/null");
    assert_eq!(seen["files"], 3);
    assert_eq!(
        (&seen["skipped"]["special_files"], &seen["skipped"]["symbolic_links"]),
        (&2.into(), &4.into())
    );
    let followed = json(&world, "-f tree");
    assert_eq!(followed["files"], 4);
    assert_eq!(followed["skipped"]["symbolic_link_loops"], 2);
    assert_eq!(followed["directories"], 2);
}

#[test]
fn a_map_shows_each_file() {
    let world = tree();
    world.ok("cache -t tree");
    let ran = world.ok("cache -v tree");
    let list = json(&world, "-v tree")["list"].clone();
    let files = [("tree/a", 10_000), ("tree/deep/b", 1), ("tree/deep/empty", 0)];
    assert_eq!(list.as_array().unwrap().len(), files.len());
    for ((file, bytes), listed) in files.into_iter().zip(list.as_array().unwrap()) {
        let map = ran.out.lines().skip_while(|line| *line != file).nth(1);
        let map = map.unwrap_or_else(|| panic!("{file}: {}", ran.out));
        let (cells, counts) = map.strip_prefix('[').unwrap().split_once("] ").unwrap();
        // So small a file has a cell for each page.
        let pages = in_pages(&world, bytes);
        assert_eq!((cells.len() as u64, &listed["path"]), (pages, &Value::from(file)), "{map}");
        let resident = cells.matches('O').count();
        assert_eq!(counts, format!("{resident}/{pages}"));
        assert_eq!(listed["pages"].as_u64(), Some(pages));
        // Another program may empty the caches at any time, but not of what was just read.
        assert_eq!(listed["resident"].as_u64(), Some(resident as u64), "{map}");
    }
}

#[test]
fn lists_come_from_files_and_standard_input() {
    let world = tree();
    world.write("lines", "tree/a\n\ntree/deep\n");
    world.write("zeros", "tree/a\0tree/deep/b\0");
    assert_eq!(json(&world, "-b lines")["files"], 3);
    assert_eq!(json(&world, "-b zeros -0")["files"], 2);
    let mut child = world
        .command("cache --json - -b - tree/a")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"tree/deep/b").unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(serde_json::from_str::<Value>(&ran.out).unwrap()["files"], 2);
    world.write("stale", "tree/a\nabsent\n");
    let ran = world.run("cache -b stale");
    assert_eq!(ran.code, Some(2));
    assert!(ran.out.contains("Files: 1\n"), "{}", ran.out);
    assert!(ran.err.lines().count() == 1 && ran.err.contains("absent"), "{}", ran.err);
}

#[test]
fn slips_are_answered_in_one_line() {
    let world = tree();
    world.refuses([
        ("cache", "PATH"),
        ("cache absent", "absent: No such file"),
        ("cache tree absent", "absent: No such file"),
        ("cache -b absent", "absent: No such file"),
        ("cache -t -e tree", "cannot be used with"),
        ("cache -e -l tree", "cannot be used with"),
        ("cache -e -L tree", "cannot be used with"),
        ("cache -l -L tree", "cannot be used with"),
        ("cache -q -v tree", "cannot be used with"),
        ("cache --json - -l tree", "cannot be used with"),
        ("cache -d tree", "--lock"),
        ("cache -P pid tree", "--lock"),
        ("cache -0 tree", "--list"),
        ("cache -m 1x tree", "4096, 4k, 100M, 1.5G"),
        ("cache -m -1 tree", "-1"),
        ("cache -p 8k-4k tree", "ends where it begins"),
        ("cache -p 1-2-3 tree", "4k-50k"),
        ("cache -p 99999999999G tree", "4k-50k"),
        ("cache --tuoch tree", "did you mean --touch?"),
        ("cache -l -P no/such/pid tree", "no/such/pid"),
    ]);
}

#[test]
fn large_sparse_and_shrinking_files_do_no_harm() {
    let world = tree();
    let sparse = File::create(world.path("sparse")).unwrap();
    // Larger than memory, unless the file system has no such files.
    let size = if sparse.set_len(1 << 40).is_ok() { 1 << 40 } else { 1 << 30 };
    sparse.set_len(size).unwrap();
    sparse.write_at(b"x", size / 2).unwrap();
    assert_eq!(total(&world, "sparse"), in_pages(&world, size));
    world.ok("cache -v sparse");
    if size == 1 << 40 {
        let ran = world.run("cache -l sparse");
        assert_eq!((ran.code, ran.err.lines().count()), (Some(2), 1), "{}", ran.err);
        assert!(ran.err.contains("takes 1.10 TB of memory"), "{}", ran.err);
    }
    world.ok("cache -e sparse");
    let flickering = world.path("tree/flickering");
    thread::scope(|scope| {
        let until = Instant::now() + Duration::from_millis(1500);
        scope.spawn(move || {
            while Instant::now() < until {
                fs::write(&flickering, vec![1; 160_000]).unwrap();
                fs::write(&flickering, "").unwrap();
                let _ = fs::remove_file(&flickering);
            }
        });
        while Instant::now() < until {
            for line in ["cache tree", "cache -v tree", "cache -t tree", "cache -e tree"] {
                world.ok(line);
            }
        }
    });
}

/// The binary in `world`, as a user who may lock `limit` KiB and owns nothing: nobody, where the
/// tests run as root, else whoever runs them.
fn as_nobody(world: &World, limit: &str, line: &str) -> Ran {
    // The build's own folder may be out of reach for others.
    let program = world.path("storemark");
    // By another process: a file open for writing here would be inherited by what other tests
    // start meanwhile, and could not be run.
    let copy = Command::new("cp").arg(env!("CARGO_BIN_EXE_storemark")).arg(&program).status();
    assert!(copy.unwrap().success());
    fs::set_permissions(world.path("."), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -l {limit}; exec ./storemark {line}"));
    command.current_dir(world.path("."));
    if is_root() {
        command.uid(65_534).gid(65_534);
    }
    command.output().unwrap().into()
}

#[test]
fn what_may_not_be_read_is_counted_and_named() {
    let world = tree();
    for (name, mode) in [("tree/deep", 0o0), ("tree/a", 0o0)] {
        fs::set_permissions(world.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    world.write("tree/z", "z");
    let plain = as_nobody(&world, "64", "cache tree");
    let named = as_nobody(&world, "64", "cache -v tree");
    fs::set_permissions(world.path("tree/deep"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(plain.code, Some(2), "{}{}", plain.out, plain.err);
    assert!(plain.out.contains("Files: 2\n"), "{}", plain.out);
    assert_eq!(plain.err.lines().count(), 1, "{}", plain.err);
    assert!(plain.err.contains("1 more"), "{}", plain.err);
    assert_eq!(named.code, Some(2));
    for name in ["tree/a: ", "tree/deep: "] {
        assert!(named.err.contains(name), "{}", named.err);
    }
}

#[test]
fn pages_of_other_peoples_files_are_not_made_up() {
    let world = tree();
    let ran = as_nobody(&world, "64", "cache --json - tree/a");
    let seen: Value = serde_json::from_str(&ran.out).unwrap();
    let pages = &seen["pages"];
    if is_root() {
        assert_eq!((&pages["unknown"], &pages["resident"]), (&pages["total"], &Value::Null));
    } else {
        assert_eq!(pages["unknown"], 0);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_limit_on_locked_memory_is_named() {
    let world = tree();
    for line in ["cache -l tree/a", "cache -ld tree/a", "cache -L tree/a"] {
        let ran = as_nobody(&world, "4", line);
        assert_eq!(ran.code, Some(2), "{line}\n{}{}", ran.out, ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        assert!(ran.err.contains("4096 bytes") && ran.err.contains("ulimit -l"), "{}", ran.err);
    }
}

/// Waits until the file exists, or until it is removed.
fn wait_for(world: &World, name: &str, exists: bool) {
    assert!(within(30, || world.path(name).exists() == exists), "{name} did not change in 30 s");
}

/// Where no memory may be locked at all, the refusal is the honest answer.
fn may_lock(world: &World) -> bool {
    let mut child = world.command("cache -q -l -P probe tree/a").spawn().unwrap();
    let mut ended = None;
    assert!(within(60, || {
        ended = child.try_wait().unwrap();
        ended.is_some() || world.path("probe").exists()
    }));
    if let Some(status) = ended {
        assert_eq!(status.code(), Some(2));
        return false;
    }
    signal(child.id(), "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    true
}

fn read_to_end(child: &mut Child) -> String {
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn locks_are_held_until_a_signal_comes() {
    let world = tree();
    if !may_lock(&world) {
        return;
    }
    for (line, name) in [("cache -l -P pid tree", "INT"), ("cache -l -P pid tree", "TERM")] {
        let mut child = world.command(line).stdout(Stdio::piped()).spawn().unwrap();
        wait_for(&world, "pid", true);
        signal(child.id(), name);
        let printed = read_to_end(&mut child);
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let pages = in_pages(&world, 10_000) + 1;
        assert!(printed.starts_with(&format!("LOCKED {pages} pages (")), "{printed}");
        assert!(!world.path("pid").exists());
    }
}

#[test]
fn a_daemon_goes_on_alone_and_removes_its_pidfile() {
    let world = tree();
    if !may_lock(&world) {
        return;
    }
    let ran = world.ok("cache -l -d -P pid tree");
    assert!(ran.out.starts_with("LOCKED "), "{}", ran.out);
    let id: u32 = fs::read_to_string(world.path("pid")).unwrap().trim().parse().unwrap();
    #[cfg(target_os = "linux")]
    {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let locked = status.lines().find(|line| line.starts_with("VmLck:")).unwrap();
        assert!(!locked.contains(" 0 kB"), "{locked}");
    }
    signal(id, "TERM");
    wait_for(&world, "pid", false);
    assert_eq!(world.ok("cache -q -l -d -P pid tree").out, "");
    signal(fs::read_to_string(world.path("pid")).unwrap().trim().parse().unwrap(), "INT");
    wait_for(&world, "pid", false);
}

#[test]
fn what_stops_a_daemon_is_told_by_who_started_it() {
    let world = tree();
    let said = world.refused("cache -l -d tree absent");
    assert!(said.contains("absent"), "{said}");
}
