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
    let world = World::after(["init a.db --count 150 --size 1k", "export a.db a.dir"]);
    world.ok("init files:made --count 20 --size 1k");
    assert!(world.path("made").is_dir());
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
    let world = World::after(["init a.db --count 10 --size 100", "export a.db a.dir"]);
    for line in ["export a.db a.dir", "copy a.dir sqlite:a.db", "import a.dir a.db"] {
        assert!(world.refused(line).contains("--force"), "{line}");
    }
    world.ok("init b.db --count 20 --size 100");
    world.ok("copy b.db files:a.dir --force");
    world.ok("verify a.dir b.db");
    world.write("precious/thesis", "years of work");
    let said = world.refused("copy b.db files:precious --force");
    assert!(said.contains("a folder of files with names of their own; remove it"), "{said}");
    // A store of named values is known by its own files.
    for engine in ["lmdb", "hybrid"] {
        world.ok(&format!("copy precious {engine}:named"));
        world.ok(&format!("copy precious {engine}:named --force"));
        fs::remove_dir_all(world.path("named")).unwrap();
    }
    world.sqlite3(&["other.db", "CREATE TABLE kv(k INTEGER PRIMARY KEY, v); CREATE TABLE mine(x)"]);
    world.refused("copy a.dir sqlite:other.db --force");
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
    let world = World::after(["init a.db --count 10 --size 100", "export a.db a.dir"]);
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
    let world = World::after(["init a.db --count 10 --size 1k", "copy a.db fjall:a.fjall"]);
    // More than disks hold, at no cost: each is one hole, of the length that ext4 allows.
    for name in 0..64 {
        let hole = fs::File::create(world.path(&format!("a.fjall/{name}"))).unwrap();
        hole.set_len(15 << 40).unwrap();
    }
    for line in ["run a.fjall pack: --rounds 1", "verify a.db a.fjall", "copy a.fjall pack:b"] {
        let ran = world.run(line);
        assert_eq!(ran.code, Some(1), "{line}: {}", ran.err);
        let says = "a.fjall: a copy of it takes 1.06 PB";
        assert!(ran.err.contains(says) && ran.err.contains(" free; --scratch"), "{}", ran.err);
    }
}

/// A database from SQL.
fn database(name: &str, sql: &str) -> World {
    let world = World::new();
    world.sqlite3(&[name, sql]);
    world
}

const SQLAR: &str =
    "CREATE TABLE sqlar(name TEXT PRIMARY KEY, mode INT, mtime INT, sz INT, data BLOB);";

#[test]
fn every_row_of_an_archive_is_carried_or_named() {
    let rows = "INSERT INTO sqlar VALUES('plain',33188,5,1,x'61'), ('short',420,5,1,x'62'), \
                ('bare',NULL,NULL,1,x'63'), ('link',41471,5,-1,'plain'), ('dir',16877,5,0,NULL), \
                ('dir/in',33188,5,0,x''), ('none',16877,5,0,NULL), (NULL,33188,5,0,x'')";
    let world = database("a.db", &format!("{SQLAR}{rows}"));
    let ran = world.ok("copy a.db files:out");
    for says in [
        "a.db: left out: 1 × symbolic link: link",
        "1 × folder: dir",
        "1 × empty folder: none",
        "1 × row without a name: row 8",
    ] {
        assert!(ran.err.contains(says), "{says}: {}", ran.err);
    }
    assert!(ran.out.starts_with("out: 4 values, 3 B"), "{}", ran.out);
    let stat = world.ok("stat a.db").out;
    for says in ["Number of entries:         4", "Other entries:             4"] {
        assert!(stat.contains(says), "{says}: {stat}");
    }
    let verified = world.run("verify a.db out");
    assert_eq!(verified.code, Some(3));
    for says in [
        "missing in out: 3: symbolic link link, empty folder none, row without a name row 8",
        "same: 4 values",
        "looked at: a.db: 4 values, 3 B and 4 other entries; out: 4 values, 3 B",
    ] {
        assert!(verified.out.contains(says), "{says}: {}", verified.out);
    }
}

#[test]
fn verify_compares_modes_and_times() {
    let world = mine();
    world.ok("import mine mine.db");
    fs::set_permissions(world.path("mine/empty"), fs::Permissions::from_mode(0o600)).unwrap();
    let ran = world.run("verify mine mine.db");
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.out.contains("same bytes, other mode or time: 1: empty\nsame: 3 values"),
        "{}",
        ran.out
    );
}

#[test]
fn typed_values_stay_what_they_are_or_are_refused() {
    let rows = "INSERT INTO kv VALUES(1,x'61'), (2,NULL), (3,'text'), (4,7), (5,0.1)";
    let kv = "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB);";
    let world = database("q.db", &format!("{kv}{rows}"));
    world.ok("copy q.db sqlite:copy.db");
    world.ok("verify q.db copy.db");
    let types = "SELECT group_concat(typeof(v)) FROM kv; SELECT v=0.1 FROM kv WHERE k=5";
    assert_eq!(world.sqlite3(&["copy.db", types]), "blob,null,text,integer,real\n1\n");
    for to in ["pack:q.pack", "files:q", "lmdb:q.lmdb", "redb:q.redb", "fjall:q.fjall"] {
        let line = world.refused(&format!("copy q.db {to}"));
        assert!(line.contains("the value of 2 is NULL; only sqlite: keeps types"), "{line}");
    }
    let line = world.refused("run q.db pack: --rounds 1");
    assert!(line.starts_with("storemark: q.db: the value of key 2 is NULL"), "{line}");
}

#[test]
fn a_damaged_store_in_a_folder_is_no_folder_of_files() {
    let world = World::after(["init a.db --count 20 --size 1k"]);
    for (engine, file) in [("lmdb", "data.mdb"), ("fjall", "version")] {
        world.ok(&format!("copy a.db {engine}:{engine}"));
        fs::write(world.path(&format!("{engine}/{file}")), "damaged").unwrap();
        for line in ["copy STORE files:out", "import STORE out.db", "run STORE pack:"] {
            let said = world.refused(&line.replace("STORE", engine));
            assert!(said.contains(&format!("as a store of {engine} has")), "{said}");
        }
        // As with the engine's name before it.
        for target in [engine.to_owned(), format!("{engine}:{engine}")] {
            let ran = world.run(&format!("verify {target}"));
            assert_eq!((ran.code, &*ran.err), (Some(3), ""), "{target}");
            assert!(
                ran.out.starts_with("damaged: ") && ran.out.lines().count() == 1,
                "{}",
                ran.out
            );
        }
    }
}

/// A folder as `LevelDB` leaves it: it has no file `IDENTITY`.
#[cfg(not(feature = "rocksdb"))]
#[test]
fn a_folder_of_an_engine_of_other_builds_names_the_feature() {
    let world = World::after(["init a.db --count 20 --size 1k"]);
    fs::create_dir(world.path("level")).unwrap();
    for (file, text) in [
        ("CURRENT", "MANIFEST-000002\n"),
        ("MANIFEST-000002", "x"),
        ("000003.log", "x"),
        ("000005.ldb", "x"),
        ("LOCK", ""),
        ("LOG", "x"),
    ] {
        fs::write(world.path(&format!("level/{file}")), text).unwrap();
    }
    for line in [
        "run level pack:",
        "run --data level",
        "verify level",
        "stat level",
        "copy level files:out",
    ] {
        let said = world.refused(line);
        for part in [
            "level: has MANIFEST-000002, as a store of rocksdb or LevelDB has",
            "a program built with `--features rocksdb` does",
        ] {
            assert!(said.contains(part), "{line}: {said}");
        }
        assert!(!said.contains("whole"), "{line}: {said}");
    }
    world.ok("copy files:level pack:copied");
}

#[test]
fn what_cannot_be_held_is_found_before_anything_is_written() {
    let long = "n".repeat(256);
    let rows = format!("INSERT INTO sqlar VALUES('{long}',33188,0,0,x'')");
    let world = database("long.db", &format!("{SQLAR}{rows}"));
    let rows = "INSERT INTO sqlar VALUES('a',33188,0,0,x''), ('a/b',33188,0,0,x'')";
    world.sqlite3(&["both.db", &format!("{SQLAR}{rows}")]);
    let wide = format!("INSERT INTO sqlar VALUES('{}',33188,0,0,x'')", "n".repeat(512));
    world.sqlite3(&["wide.db", &format!("{SQLAR}{wide}")]);
    for (from, to, says) in [
        ("long.db", "files:out", "longer than file systems take"),
        ("both.db", "files:out", "a would be a file, and a folder for a/b"),
        ("wide.db", "lmdb:out", "has 512 bytes; accepted: 1 to 511"),
    ] {
        let line = world.refused(&format!("copy {from} {to}"));
        assert!(line.contains(says) && line.contains("out was not created"), "{line}");
        assert!(!line.contains("--resume"), "{line}");
    }
    world.ok("copy both.db pack:both.pack");
}

#[test]
fn one_store_is_checked_for_damage() {
    let world = World::after(["init a.db --count 50 --size 2k --seed 1"]);
    for (engine, says) in [
        ("pack", "a checksum for each value: no damage found"),
        ("redb", "a checksum for each page: no damage found"),
        ("lmdb", "lmdb has no checksums: all of it can be read, no more"),
        ("files", "files has no checksums"),
    ] {
        world.ok(&format!("copy a.db {engine}:a.{engine}"));
        let ran = world.ok(&format!("verify a.{engine}"));
        assert!(ran.out.contains("50 values, 100 kB; ") && ran.out.contains(says), "{}", ran.out);
    }
    for (name, says) in [("a.pack", "its checksum differs"), ("a.redb", "")] {
        let mut bytes = fs::read(world.path(name)).unwrap();
        let value = world.sqlite3(&["a.db", "SELECT hex(substr(v,1000,8)) FROM kv WHERE k=25"]);
        let value: Vec<_> =
            (0..8).map(|i| u8::from_str_radix(&value[2 * i..2 * i + 2], 16).unwrap()).collect();
        let at = bytes.windows(8).position(|window| window == value).unwrap();
        bytes[at] ^= 1;
        fs::write(world.path(name), bytes).unwrap();
        let ran = world.run(&format!("verify {name}"));
        assert_eq!(ran.code, Some(3), "{name}: {}{}", ran.out, ran.err);
        let named = ran.out.strip_prefix(&format!("damaged: {name}: ")).unwrap_or_default();
        assert!(named.contains(says) && !named.contains(name), "{}", ran.out);
    }
    let ran = world.ok("verify a.db");
    assert!(ran.out.contains("PRAGMA integrity_check"), "{}", ran.out);
    let mut bytes = fs::read(world.path("a.db")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0xa5);
    fs::write(world.path("a.db"), bytes).unwrap();
    let ran = world.run("verify a.db");
    assert_eq!(ran.code, Some(3));
    assert!(ran.out.lines().all(|line| line.starts_with("damaged: a.db: ")), "{}", ran.out);
}

#[test]
fn a_store_of_rows_and_files_shows_its_limit_and_what_was_removed() {
    let world = World::new();
    world.ok("init a.db --count 4 --size 3000");
    world.ok("copy a.db hybrid:a.hybrid?inline=2k");
    let shown = world.ok("stat a.hybrid").words();
    assert!(shown.contains("Largest in database: 2000"), "{shown}");
    assert!(!world.ok("stat a.db").out.contains("Largest in database"));
    world.write("a.hybrid/hybrid.files/00/00/77", "left");
    world.write("a.hybrid/hybrid.files/00/00/78", "over");
    let said = world.ok("verify a.hybrid --in-place").out;
    assert!(said.starts_with("a.hybrid: removed files that no row names: 2, 8 B\n"), "{said}");
    assert!(!world.ok("verify a.hybrid --in-place").out.contains("removed"));
}

#[test]
fn a_name_cannot_forge_a_line_or_turn_it_round() {
    let world = World::new();
    world.write("a/x\nsame: 2 values", "1");
    world.write("a/\u{202e}gpj", "2");
    world.write("b/y", "3");
    let ran = world.run("verify a b");
    assert_eq!(ran.code, Some(3));
    assert_eq!(ran.out.lines().filter(|line| line.starts_with("same: ")).count(), 1, "{}", ran.out);
    assert!(ran.out.contains(r#""x\nsame: 2 values", "\u{202e}gpj""#), "{}", ran.out);
    let ran = world.run("verify a \u{202e}gpj");
    assert!(ran.code == Some(1) && !ran.err.contains('\u{202e}'), "{}", ran.err);
}

#[test]
fn a_path_need_not_be_utf_8() {
    use std::os::unix::ffi::OsStrExt;

    let world = World::after(["init a.db --count 20 --size 1k"]);
    let named = |bytes: &[u8]| std::ffi::OsStr::from_bytes(bytes).to_owned();
    for engine in ["sqlite", "files", "pack", "lmdb", "redb", "fjall"] {
        let path = named(&[b"gr\xfc\xdfe.", engine.as_bytes()].concat());
        let target = named(&[engine.as_bytes(), b":", path.as_bytes()].concat());
        let ran = |words: [&std::ffi::OsStr; 3]| {
            let output = world.command("").args(words).output().unwrap();
            assert!(output.status.success(), "{words:?}: {output:?}");
        };
        ran(["copy".as_ref(), "a.db".as_ref(), &target]);
        ran(["verify".as_ref(), "a.db".as_ref(), &target]);
        ran(["verify".as_ref(), "a.db".as_ref(), &path]);
        assert!(world.path("").join(&path).exists(), "{path:?}");
    }
    let plan = named(b"gr\xfc\xdfe.toml");
    let run = world
        .command("run pack: --read --keys 5 --rounds 1 --dry-run --save-plan")
        .arg(&plan)
        .output();
    assert!(run.unwrap().status.success() && world.path("").join(&plan).exists());
}

#[test]
fn settings_are_separated_by_one_sign() {
    let world = World::after(["init q.db --count 5 --size 100"]);
    for line in ["verify sqlite:q.db?api=sql?sync=off q.db", "copy q.db sqlite:x.db?a=1?b=2"] {
        assert!(world.refused(line).contains("has two \"?\"; \"&\" separates settings"));
    }
}

#[test]
fn a_private_store_stays_private() {
    let world = World::after(["init a.db --count 5 --size 100"]);
    fs::set_permissions(world.path("a.db"), fs::Permissions::from_mode(0o600)).unwrap();
    for (to, wanted) in [("pack:p", 0o600), ("files:p2", 0o700), ("lmdb:p3", 0o700)] {
        world.ok(&format!("copy a.db {to}"));
        let path = world.path(to.split_once(':').unwrap().1);
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, wanted, "{to}");
    }
}

/// A folder with something of each kind that only file systems keep. `None`: this one has no access lists.
fn with_properties() -> Option<World> {
    let world = World::new();
    for name in ["plain", "twice", "setuid", "tagged", "listed"] {
        world.write(&format!("in/{name}"), name);
    }
    fs::hard_link(world.path("in/twice"), world.path("in/two")).unwrap();
    world.write("in/.storemark-1-2-3.tmp", "mine");
    world.write("in/deep/.storemark-4-5-6.tmp", "mine too");
    let hole = fs::File::create(world.path("in/hole")).unwrap();
    hole.set_len(1 << 20).unwrap();
    fs::set_permissions(world.path("in/setuid"), fs::Permissions::from_mode(0o6755)).unwrap();
    fs::set_permissions(world.path("in/listed"), fs::Permissions::from_mode(0o600)).unwrap();
    let set = |file: &str, name: &str, value: &[u8]| {
        let flags = rustix::fs::XattrFlags::empty();
        rustix::fs::setxattr(world.path(file), name, value, flags).is_ok()
    };
    // user::rw- user:65534:rw- group::--- mask::rw- other::---
    let entries =
        [(1, 6, u32::MAX), (2, 6, 65534), (4, 0, u32::MAX), (16, 6, u32::MAX), (32, 0, u32::MAX)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, permitted, id) in entries {
        list.extend([tag, 0, permitted, 0]);
        list.extend(u32::to_le_bytes(id));
    }
    let all =
        set("in/tagged", "user.tag", b"1") && set("in/listed", "system.posix_acl_access", &list);
    all.then_some(world)
}

#[test]
fn what_a_copy_does_not_keep_is_counted_and_named() {
    let Some(world) = with_properties() else {
        panic!("the folder for temporary files has no extended attributes or access lists")
    };
    let mode = |path: &str| fs::metadata(world.path(path)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode("in/listed"), 0o660, "the mask of the list");
    for engine in ["files", "sqlite", "pack", "lmdb", "redb", "fjall", "hybrid"] {
        let said = world.ok(&format!("copy in {engine}:out.{engine}")).err;
        for says in [
            "in: left out: 2 × temporary file of storemark: .storemark-1-2-3.tmp, deep/.storemark-4-5-6.tmp",
            "in: not kept: 2 × hard link: twice, two",
            "in: not kept: 1 × access list (ACL): listed",
            "in: not kept: 1 × extended attribute: tagged",
            "in: not kept: 1 × file with holes: hole",
        ] {
            assert!(said.contains(says), "{engine}: {says}\n{said}");
        }
        let special = "not kept: 1 × setuid, setgid or sticky bit: setuid";
        assert_eq!(said.contains(special), engine == "files", "{engine}: {said}");
        let said = world.ok(&format!("copy {engine}:out.{engine} files:back")).err;
        assert_eq!(said.contains(special), engine != "files", "{engine}: {said}");
        assert_eq!((mode("back/listed"), mode("back/setuid")), (0o600, 0o755), "{engine}");
        assert_eq!(
            mode(&format!("out.{engine}")) & 0o077,
            if engine == "files" { 0o055 } else { 0 }
        );
        fs::remove_dir_all(world.path("back")).unwrap();
        // Only the files that were left out differ.
        let verified = world.run(&format!("verify in {engine}:out.{engine}")).out;
        assert!(verified.contains("missing in"), "{verified}");
    }
}

#[test]
fn an_access_list_of_the_folder_above_gives_nobody_the_copy() {
    let world = World::after(["init a.db --count 3 --size 100"]);
    fs::set_permissions(world.path("a.db"), fs::Permissions::from_mode(0o640)).unwrap();
    // default:user::rwx default:user:65534:rwx default:group::--- default:mask::rwx default:other::---
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, permitted, id) in
        [(1, 7, u32::MAX), (2, 7, 65534), (4, 0, u32::MAX), (16, 7, u32::MAX), (32, 0, u32::MAX)]
    {
        list.extend([tag, 0, permitted, 0]);
        list.extend(u32::to_le_bytes(id));
    }
    fs::create_dir(world.path("shared")).unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    let name = "system.posix_acl_default";
    rustix::fs::setxattr(world.path("shared"), name, &list, flags).unwrap();
    for (to, file) in
        [("pack:shared/p", "p"), ("files:shared/f", "f/000001"), ("sqlite:shared/d", "d")]
    {
        world.ok(&format!("copy a.db {to}"));
        let path = world.path("shared").join(file);
        let length = rustix::fs::getxattr(path, "system.posix_acl_access", &mut [0_u8; 64][..]);
        assert!(length.is_err(), "{to} has an access list");
    }
}

#[test]
fn a_time_that_a_file_system_does_not_hold_is_refused() {
    // Ext4 holds times from 1901 to 2446, others fewer; tmpfs and btrfs all.
    let rows = "INSERT INTO sqlar VALUES('early',33188,-9000000000,1,x'61'), ('late',33188,90000000000,1,x'62')";
    let world = database("a.db", &format!("{SQLAR}{rows}"));
    let ran = world.run("copy a.db files:out");
    if ran.code == Some(0) {
        world.ok("verify a.db out");
        return;
    }
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(
        ran.err.contains("its modification time is outside what this file system holds"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("out was not created") && !world.path("out.storemark-partial").exists()
    );
    world.ok("copy a.db lmdb:out.lmdb");
    world.ok("verify a.db out.lmdb");
}

#[test]
fn reading_a_database_with_a_log_leaves_nothing_next_to_it() {
    let world = World::new();
    let killed = "PRAGMA journal_mode=wal; CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB); \
                  INSERT INTO kv VALUES(1, x'61');";
    world.sqlite3(&["w.db", killed, ".shell cp w.db x.db; cp w.db-wal x.db-wal"]);
    let before = world.tree();
    for (line, says) in [
        ("verify x.db", "x.db: 1 values, 1 B; "),
        ("verify x.db x.db", "same: 1 values, 1 B"),
        ("stat x.db", "Number of entries:         1"),
        ("run x.db pack: --rounds 1 --read", ""),
    ] {
        let ran = world.ok(line);
        assert!(ran.out.contains(says), "{line}: {}", ran.out);
        assert_eq!(world.tree(), before, "{line}");
    }
    world.ok("copy x.db pack:p");
    assert!(!world.path("x.db-shm").exists());
}

#[test]
fn hard_links_are_not_measured_in_silence() {
    let world = World::new();
    world.write("in/a", [7; 5000]);
    for name in ["in/b", "in/c"] {
        fs::hard_link(world.path("in/a"), world.path(name)).unwrap();
    }
    for line in ["run in pack: --read --rounds 1", "run pack: --data in --read --rounds 1"] {
        let said = world.ok(line).err;
        assert!(
            said.contains("in: at least 2 of its names are hard links to files"),
            "{line}: {said}"
        );
    }
}

#[test]
fn the_values_of_every_kind_of_store_are_counted() {
    let world = World::after(["init a.db --count 3 --size 100"]);
    let kinds = ["files", "fjall", "lmdb", "redb", "tar", "zip"];
    let stores = kinds.map(|kind| format!("{kind}:a.{kind}"));
    for store in &stores {
        world.ok(&format!("copy a.db {store}"));
    }
    let before = world.tree();
    for store in &stores {
        let lines = world.ok(&format!("stat {store}")).words();
        let counted =
            "Number of entries: 3 Average value size: 100 Minimum value size: 100 Maximum";
        assert!(lines.starts_with(counted), "{store}: {lines}");
    }
    assert_eq!(world.tree(), before);
}

/// Its store has its name already, so that nothing is left to resume.
#[test]
fn what_a_copy_leaves_that_was_killed_at_its_end_is_removed_by_the_next() {
    let world = World::after(["init a.db --count 3 --size 100", "copy a.db pack:p"]);
    world.write("p.storemark-partial/lock", "");
    let ran = world.run("copy a.db pack:p");
    assert!(ran.code == Some(1) && ran.err.contains("--force replaces it"), "{}", ran.err);
    assert_eq!(world.names("."), ["a.db", "p"]);
    // What another has put there stays.
    world.write("p.storemark-partial/lock", "");
    world.write("p.storemark-partial/other", "");
    world.refused("copy a.db pack:p");
    assert!(world.path("p.storemark-partial/other").exists());
}

#[test]
fn a_store_of_another_kind_is_named() {
    let world = World::after(["init a.db --count 3 --size 100", "copy a.db redb:a.redb"]);
    world.ok("copy a.db fjall:a.fjall");
    world.ok("init photos.db --count 3 --size 100");
    world.refuses([
        ("stat a.redb --vacuum", "a.redb: --vacuum rewrites a database file; this is none"),
        ("copy a.db nosuchdir/x.db", "nosuchdir: no such folder"),
        ("copy a.db x.db", "as in sqlite:x.db"),
        ("copy a.db x.other", "as in ENGINE:x.other"),
        ("verify photso.db", "photso.db: no such file or folder: did you mean photos.db?"),
    ]);
    let said = world.refused("run thums.db");
    assert!(said.ends_with("thums.db: no such file or folder\n"), "{said}");
}

#[test]
fn generated_values_are_made_again_by_the_seed_that_is_printed() {
    let world = World::new();
    let out = world.ok("init a.db --count 3 --size 100").out;
    let seed = out.lines().last().unwrap().strip_suffix(" makes the same bytes again").unwrap();
    let again = world.ok(&format!("init b.db --count 3 --size 100 {seed}")).out;
    assert!(!again.contains("--seed"), "{again}");
    world.ok("verify a.db b.db");
}
