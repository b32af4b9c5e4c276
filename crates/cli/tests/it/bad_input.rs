//! Bad input gets one clear line and exit code 1, and nothing changes.

use crate::world::World;

fn world() -> World {
    World::after(["init good.db --count 20 --size 100"])
}

#[test]
fn slips_are_answered_with_the_nearest_match() {
    let world = world();
    world.refuses([
        ("run good.db --updat", "did you mean --update?"),
        ("rum good.db", "did you mean run?"),
        ("run good.db?apy=blob", "did you mean api?"),
        ("run good.db?api=blub", "did you mean blob?"),
        ("run sqlite:?journal", "a setting needs a value"),
        ("run sqlite:good.db?journal", "a setting needs a value"),
        ("run sqlite:?", "a setting needs a value"),
        ("run sqlite:?journal=wal&journal=off", "journal is set twice"),
        ("rows sqlite:?sync=off&sync=off", "sync is set twice"),
        ("run good.db?page_size=1000", "a power of two from 512 to 65536"),
        ("run sqlight:good.db", "did you mean sqlite?"),
        ("run good.db --jmode wall", "did you mean wal?"),
        ("run good.db --durability strong", "none, consistent, durable"),
        ("run good.db --count 0", "--count 0"),
        ("run files: --keys -1", "--keys <N>': \"-1\" is negative"),
        ("run files: --memory -1", "--memory <SIZE>': \"-1\" is negative"),
        ("run files: --rounds -1", "--rounds <N>': accepted is a whole number, 1 or more"),
        ("rows --rounds 3,5", "--rounds 3,5: rows takes one value; only run compares several"),
        ("queue --seed 1 --seed 2", "--seed 1,2: queue takes one value"),
        ("queue --on ext4 --image-size 1GiB,2GiB", "--image-size 1GiB,2GiB: queue takes one value"),
        ("run files: --processes 1,,2", "--processes <N>': accepted is a whole number, 1 to 1024"),
        ("run files: --threads 1.5", "accepted is a whole number, 1 to 1024"),
        ("run files: sqlite: --memory 0", "need 18.9 MB at least"),
        ("run files: --keys 99999999999999", "scratch stores take about"),
        ("run memory: --keys 99999999999999", "keys and stores in memory take"),
        ("run null: --keys 99999999999999", "are available: a smaller --keys"),
        ("run good.db --count 1z", "which is no unit"),
        ("run good.db --count 99999999999g", "does not fit in 64 bits"),
        ("run good.db --max-id 0", "no key is that small"),
        ("run files sqlite:", "files: no such file or folder; the engine is files:"),
        ("run good.db --asc --desc", "cannot be used with"),
        ("run good.db --baseline other", "no such target"),
        ("study page-cache --step x", "--step <N>': accepted is a whole number, 1 or more"),
        ("study page-cache --records good.db", "--records good.db: is not a folder"),
        ("run sqlite: files: --baseline lmdb:", "--baseline lmdb:: no such target"),
        ("run good.db --time soon", "is not a duration"),
        ("run good.db --time 0s", "\"0s\" is no time"),
        ("run sqlite: --roles readers=1 --pass 0", "\"0\" is no time"),
        ("advise --time 0s", "\"0s\" is no time"),
        ("run good.db?cache=1MiB&cache_pages=10", "exclude each other"),
        (
            "run sqlite:?cache=10",
            "sqlite:?cache=10: cache=10: accepted: a multiple of 1024 from 0 to",
        ),
        ("run sqlite:?cache=2MB", "; the nearest is 1999872"),
        ("rows sqlite:?cache=10", "the nearest is 0"),
        ("run lmdb:?map=3000000", "; the nearest is 3014656"),
        ("run good.db --keys 5", "good.db has its own"),
        ("run pack: files: --update --durability durable", "pack: cannot give durability durable"),
        ("run good.db --in-place", "--update"),
        ("run good.db?sync=off --durability durable", "sync=off gives none; leave it out, or use"),
        ("run good.db?sync=normal --update --durability durable", "sync=normal gives consistent"),
        ("queue files:?sync=none --durability consistent", "sync=none gives none"),
        ("run pack: sqlite: --update --durability durable", "pack: cannot give durability durable"),
        (
            "run sqlite:?journal=memory --update --durability consistent",
            "journal=memory is gone with the process (none)",
        ),
        ("rows sqlite:?journal=off --durability consistent", "journal=off gives none"),
        ("age files:?sync=none", "files sync=none: cannot give durability consistent"),
        (
            "run sqlite:?journal=delete --keys 9 --update --durability durable",
            "journal=delete gives consistent",
        ),
        ("run ?api=blob", "neither an engine nor a path"),
        ("init good.db", "exists"),
        ("init new.db --count 0", "at least one"),
        ("init new.db --size 10 --variance 20", "larger than the size"),
        ("init new.db --size 9000000000", "at most 4 GiB"),
        ("init new.db --pagesize 1000", "a power of two"),
        ("init no/such/folder/new.db", "no/such/folder"),
    ]);
}

/// What is known before anything is made is refused by both, in the same line.
#[test]
fn a_dry_run_refuses_what_a_run_refuses() {
    let world = world();
    world.write("text", "no folder");
    world.write("folder/name", "a value");
    for line in [
        "memory: --update --durability durable",
        "sqlite:?sync=off --update --durability durable",
        "memory: null: --cache data-cold",
        "files: --max-id 0",
        "good.db --max-id 0",
        "folder --max-id 5",
        "good.db files: --sample 3",
        "files: --memory 1k",
        "files: --scratch absent",
        "files: --scratch text",
        "files: --keys 99999999999999",
        "memory: --keys 99999999999999",
        "files: --hosts a,b --cache cold",
        "good.db?sync=off --update --durability durable",
        "sqlite:?sync=off --roles writers=1 --durability durable",
        "sqlite: --roles writers=1 --scratch absent",
        "mariadb://me@host:port/db files:",
        "postgres://host files:",
        "s3://A files:",
        #[cfg(feature = "lmdb")]
        "lmdb: sqlite:?journal=off --processes 2 --durability consistent --update",
        #[cfg(feature = "redb")]
        "redb: --read --processes 2",
        #[cfg(feature = "fjall")]
        "fjall: --read --processes 2",
    ] {
        let run = world.refused(&format!("run {line}"));
        let dry = world.refused(&format!("run {line} --dry-run"));
        // What is free changes from moment to moment.
        let is_about_room = [" free: ", " are available"].iter().any(|room| run.contains(room));
        let end = if is_about_room { ", " } else { "\n" };
        let line_of = |said: &str| said.split_once(end).map(|(said, _)| said.to_owned());
        assert_eq!(line_of(&dry), line_of(&run), "{line}");
        assert!(line_of(&run).is_some(), "{line}: {run}");
    }
}

#[test]
fn what_is_not_there_is_named_and_not_made() {
    let world = world();
    for line in [
        "run absent",
        "run sqlite:absent.db",
        "run files:absent",
        "run good.db absent.dir",
        "run --data absent",
        "stat absent.db",
        "export absent.db out",
        "copy absent sqlite:out.db",
        "verify good.db absent",
        "report absent.json",
    ] {
        let said = world.refused(line);
        assert!(said.contains("absent"), "{line}\n{said}");
    }
}

#[test]
fn what_is_no_store_is_told_by_its_first_oddity() {
    let world = world();
    world.write("odd.dir/000001", "one");
    world.write("odd.dir/README", "two");
    world.write("text", "not a database");
    world.write("torn.db", &std::fs::read(world.path("good.db")).unwrap()[..5000]);
    world.write("noise.db", [b"SQLite format 3\0".as_slice(), &[7; 5000]].concat());
    world.sqlite3(&["other.db", "CREATE TABLE pictures(id, bytes)"]);
    world.sqlite3(&["bare.db", "CREATE TABLE kv(k INTEGER, value BLOB)"]);
    std::os::unix::fs::symlink("nowhere", world.path("dangling")).unwrap();
    world.refuses([
        ("run odd.dir", "README"),
        ("run text", "no store of a kind that storemark knows"),
        ("run files:text", "text: Not a directory"),
        ("run good.db --export-hdr text", "text: is not a folder"),
        ("run dangling", "dangling: is a link to nowhere, which leads nowhere"),
        ("run sqlite:text", "file is not a database"),
        ("run torn.db", "torn.db"),
        ("run noise.db", "noise.db"),
        ("run other.db", "pictures"),
        ("run bare.db", "kv has neither a primary key nor one unique index: key=COLUMN"),
        ("run pack:good.db", "good.db"),
        ("stat text", "file is not a database"),
        ("export other.db out", "pictures"),
    ]);
    world.ok("run odd.dir?layout=names --rounds 1");
}

#[test]
fn a_pipe_is_no_store_and_nobody_waits_for_it() {
    let world = world();
    assert!(
        std::process::Command::new("mkfifo").arg(world.path("pipe")).status().unwrap().success()
    );
    for line in ["run pipe", "run pack:pipe", "run sqlite:pipe", "run good.db --json pipe"] {
        world.refused(line);
    }
}

#[test]
fn stores_with_other_keys_are_not_compared() {
    let world = world();
    world.ok("export good.db same.dir");
    world.ok("export good.db less.dir");
    std::fs::remove_file(world.path("less.dir/000007")).unwrap();
    world.ok("export good.db short.dir");
    world.write("short.dir/000007", "short");
    world.ok("run good.db same.dir --rounds 1");
    assert!(world.refused("run good.db less.dir").contains("key 7 is missing here"));
    assert!(world.refused("run less.dir good.db").contains("key 7 is only here"));
    assert!(world.refused("run good.db short.dir").contains("key 7 has 5 bytes here"));
}

#[test]
fn other_bytes_of_the_same_length_are_a_finding() {
    let world = world();
    world.ok("export good.db other.dir");
    world.write("other.dir/000007", [0; 100]);
    let out = world.ok("run good.db other.dir --rounds 1 --verbose").out;
    assert!(out.contains("first at key 7"), "{out}");
}

#[test]
fn odd_keys_and_sizes_are_measured() {
    let world = World::new();
    world.sqlite3(&[
        "odd.db",
        "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB);
         INSERT INTO kv VALUES(0,x''),(-5,x'00'),(17,zeroblob(100000)),(1000000,x'01'),
         (9223372036854775807,x'02'),(-9223372036854775808,x'03');",
    ]);
    world.ok("export odd.db odd.dir");
    world.ok("export odd.db odd.tree --tree");
    for options in ["", "--blob-api", "--update", "--update --blob-api", "--asc", "--threads 3"] {
        world.ok(&format!("run odd.db odd.dir odd.tree {options} --rounds 1"));
    }
    world.ok("verify odd.dir odd.tree");
    world.ok("verify odd.db odd.tree");
}

#[test]
#[cfg(unix)]
fn a_record_without_an_end_is_not_read_for_ever() {
    let line = World::new().refused("report /dev/zero");
    assert!(line.contains("no record of storemark"), "{line}");
}

#[test]
fn an_address_is_answered_without_its_password() {
    let world = world();
    for (line, says) in [
        ("run mysqll://me:SECRET@host/db", "did you mean mysql?"),
        ("run sqlite://me:SECRET@host/db", "no server sqlite://"),
        ("copy good.db mysql://me:SECRET@host/db", ""),
        ("verify good.db mysql://me:SECRET@host/db", ""),
    ] {
        let said = world.refused(line);
        assert!(said.contains(says) && !said.contains("SECRET"), "{line}\n{said}");
    }
}
