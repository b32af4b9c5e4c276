//! Builds of SQLite that are loaded: `lib=` and `storemark sqlite`.

use std::{fs, os::unix::fs::symlink, process::Command};

use crate::world::{Ran, World, systems_sqlite};

/// A command whose builds are in the folder `cache` of the world.
fn with_cache(world: &World, line: &str) -> Command {
    let mut command = world.command(line);
    command.env("XDG_CACHE_HOME", world.path("cache")).env_remove("CC");
    command
}

fn run(world: &World, line: &str) -> Ran {
    with_cache(world, line).output().unwrap().into()
}

/// The line by which it is refused.
fn refused(world: &World, line: &str) -> String {
    let ran = run(world, line);
    assert_eq!(
        (ran.code, &*ran.out, ran.err.lines().count()),
        (Some(1), "", 1),
        "{line}{}",
        ran.err
    );
    ran.err
}

#[test]
fn a_loaded_library_is_measured_next_to_the_bundled_one_and_says_what_it_is() {
    let (world, library) = (World::new(), systems_sqlite());
    let targets = format!("sqlite: sqlite:?lib={library}");
    let work = "--read --update --keys 100 --size 1000 --rounds 2 -v --json r.json --html r.html";
    let ran = world.ok(&format!("run {targets} {work}"));
    let shell = world.sqlite3(&["--version"]);
    let (version, source) = shell.trim().split_once(' ').unwrap();
    let record = world.record("r.json");
    let libraries = &record.header.environment.libraries;
    assert_eq!(libraries.len(), 3, "{libraries:?}");
    let loaded = libraries.iter().find(|one| one.loaded.is_some()).unwrap();
    assert_eq!((&*loaded.version, loaded.loaded.as_deref()), (version, Some(&*library)));
    assert_eq!(loaded.source.as_deref(), Some(source));
    assert!(loaded.options.iter().any(|option| option == "THREADSAFE=1"), "{loaded:?}");
    let in_effect = &record.stores.iter().find(|store| store.target == 1).unwrap().in_effect;
    assert_eq!((in_effect.get("version"), in_effect.get("lib")), (Some(version), Some(&*library)));
    assert!(record.stores[0].in_effect.get("version").is_none());
    let page = fs::read_to_string(world.path("r.html")).unwrap();
    for text in [&ran.words(), &page] {
        assert!(text.contains(source) && text.contains("THREADSAFE=1"), "{text}");
    }
}

/// What a build differs by from itself is in the table of each case, and is never the answer.
#[test]
fn a_build_that_is_compared_is_loaded_again_from_a_copy() {
    let (world, library) = (World::new(), systems_sqlite());
    let work = "--read --update --keys 100 --size 1000 --rounds 2 --json r.json";
    let ran = world.ok(&format!("run sqlite: sqlite:?lib={library} {work}"));
    let record = world.record("r.json");
    let plan = &record.header.plan;
    let labels: Vec<_> = plan.targets.iter().map(|target| &*target.label).collect();
    assert_eq!(labels[2..], ["the same build again"]);
    assert_eq!((plan.same_build(2), plan.is_reference(2)), (Some(1), true));
    let versions =
        record.header.environment.libraries.iter().map(|one| (&one.loaded, &one.version));
    let loaded: Vec<_> = versions.filter(|(loaded, _)| loaded.is_some()).collect();
    assert_eq!((loaded.len(), loaded[0].1), (2, loaded[1].1));
    assert_ne!(loaded[0].0, loaded[1].0);
    for case in plan.cases() {
        assert_eq!(record.samples_of(case, 2).count(), 2);
    }
    let said = format!("a copy of the library of sqlite lib={library} takes ");
    assert_eq!(ran.words().matches(&said).count(), 2, "{}", ran.out);
    // No copy of a copy.
    world.ok("run r.json --json again.json -q");
    assert_eq!(world.record("again.json").header.plan.targets.len(), 3);
    let work = "--read --keys 20 --rounds 1 --json h.json";
    world.ok(&format!("run hybrid: hybrid:?lib={library} {work}"));
    let plan = &world.record("h.json").header.plan;
    assert_eq!((plan.same_build(2), plan.is_reference(2)), (Some(1), true));
}

/// A copy cannot be made, or one target differs in more than the build.
#[test]
fn builds_that_are_not_compared_are_not_loaded_again() {
    let (world, library) = (World::new(), systems_sqlite());
    for targets in [
        format!("sqlite:?lib={library}"),
        format!("files: sqlite:?lib={library}"),
        format!("sqlite:?mmap=1MiB sqlite:?lib={library}"),
        format!("sqlite: sqlite:?lib=copy:{library}"),
    ] {
        let ran = world.ok(&format!("run {targets} --read --keys 20 --rounds 1"));
        assert!(!ran.out.contains("the same build again"), "{}", ran.out);
    }
    let mut command = with_cache(
        &world,
        &format!("run sqlite: sqlite:?lib={library} --read --keys 20 --rounds 1"),
    );
    let ran = Ran::from(command.env("TMPDIR", world.path("absent")).output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("the same build again is not measured: "), "{}", ran.err);
}

/// Two builds in one process must not share the index of a WAL.
#[test]
fn two_builds_measure_databases_in_wal_mode_rows_tasks_and_old_age() {
    let (world, library) = (World::new(), systems_sqlite());
    let lib = format!("lib={library}");
    for line in [
        format!("run sqlite:?journal=wal sqlite:?journal=wal&{lib} --read --keys 50 --rounds 1"),
        format!("rows sqlite: sqlite:?{lib} --rows 200 --rounds 1"),
        format!("queue sqlite:?sync=off sqlite:?sync=off&{lib} --workers 2 --tasks 5 --rounds 1"),
        format!("age sqlite: sqlite:?{lib} --volume 200k --size 10k --ages 0,1 --rounds 1"),
    ] {
        let record = "--json r.json";
        world.ok(&format!("{line} {record}"));
        let libraries = world.record("r.json").header.environment.libraries;
        // `run` loads it again, from a copy.
        let loaded = 1 + usize::from(line.starts_with("run"));
        assert_eq!(libraries.iter().filter(|one| one.loaded.is_some()).count(), loaded, "{line}");
        fs::remove_file(world.path("r.json")).unwrap();
    }
}

#[test]
fn the_users_database_is_read_by_both_and_not_changed() {
    let (world, library) = (World::new(), systems_sqlite());
    world.ok("init a.db --count 60 --size 500");
    let before = world.tree();
    world.ok(&format!("run a.db a.db?lib={library} --read --rounds 1"));
    world.ok(&format!("verify a.db sqlite:a.db?lib={library}"));
    assert_eq!(world.tree(), before);
    world.ok(&format!("copy a.db sqlite:b.db?lib={library}"));
    world.ok("verify a.db b.db");
}

#[test]
fn what_is_no_other_sqlite_is_refused_with_a_line() {
    let (world, library) = (World::new(), systems_sqlite());
    world.write("text.so", "no library");
    world.write("empty.so", "");
    world.write("old.c", "int sqlite3_libversion_number(void) { return 3006000; }\n");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "old.c", "-o", "old.so"]).current_dir(world.path(""));
    assert!(compiler.status().unwrap().success());
    symlink(&library, world.path("link.so")).unwrap();
    let libc = library.replace("libsqlite3.so.0", "libc.so.6");
    for (lib, says) in [
        ("./absent.so", "lib=./absent.so: it cannot be read: No such file"),
        ("./", "is no library: it is no file"),
        ("./text.so", "cannot be loaded as a library: "),
        ("./empty.so", "cannot be loaded as a library: "),
        (&*libc, "is no SQLite library: it has no sqlite3_libversion_number()"),
        ("./old.so", "lacks sqlite3_libversion(): storemark needs SQLite 3.7.4 or newer"),
        ("text.so", "no build has this name; the file is lib=./text.so"),
        ("absent", "no build \"absent\": there are none here"),
    ] {
        for line in [format!("run sqlite:?lib={lib}"), format!("rows sqlite:?lib={lib}")] {
            let said = refused(&world, &line);
            assert!(said.contains(says), "{line}: {said}");
        }
    }
    let said = refused(&world, &format!("run sqlite:?lib={library} sqlite:?lib=./link.so --read"));
    assert!(said.contains(&format!("lib=./link.so: is the same file as {library}")), "{said}");
}

/// With the compiler of this machine: the smallest work for it.
#[test]
fn sqlite_is_compiled_listed_and_measured() {
    let world = World::new();
    assert!(run(&world, "sqlite list").out.contains("no builds yet"));
    let made = run(&world, "sqlite build --name alone -- -O0 -DSQLITE_THREADSAFE=0");
    assert_eq!(made.code, Some(0), "{}", made.err);
    let bundled = engines::registry::linked().find(|one| one.name == "SQLite").unwrap();
    assert!(made.out.starts_with(&format!("alone  {}", bundled.version)), "{}", made.out);
    assert!(made.out.trim_end().ends_with("-O0 -DSQLITE_THREADSAFE=0"), "{}", made.out);
    assert_eq!(run(&world, "sqlite list").out, made.out);

    let measure = "run sqlite: sqlite:?lib=alone --read --keys 200 --rounds 2";
    let ran = run(&world, measure);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let ran = run(&world, &format!("{measure} --threads 2"));
    let text = ran.out + &ran.err;
    assert!(text.contains("compiled with THREADSAFE=0: it serves one thread only"), "{text}");
    let said = refused(&world, "run sqlite:?lib=alnoe");
    assert!(said.contains("did you mean alone?"), "{said}");
    let said = refused(&world, "sqlite build --name alone");
    assert!(said.contains("is there already"), "{said}");
}

#[test]
fn what_cannot_be_compiled_is_refused_with_a_line() {
    let world = World::new();
    world.write("other/sqlite3.c", "int main(void) { return 0; }\n");
    world.write("broken.c", "#define SQLITE_VERSION \"9.9.9\"\nint f( {\n");
    world.write("empty.c", "#define SQLITE_VERSION \"9.9.9\"\n");
    for (line, says) in [
        ("sqlite build --source absent.c", "absent.c: No such file"),
        ("sqlite build --source other", "other: is no amalgamation of SQLite"),
        ("sqlite build --source broken.c", "cc failed: sqlite3.c:2:"),
        ("sqlite build --source empty.c", "has no sqlite3_libversion_number()"),
        ("sqlite build --name ../up", "--name ../up: starts with a letter or digit"),
        ("sqlite build -- -o elsewhere", "\"elsewhere\" is no flag of a C compiler"),
        ("sqlite build -O3", "unexpected argument '-O'"),
    ] {
        let said = refused(&world, line);
        assert!(said.contains(says), "{line}: {said}");
    }
    let mut without = with_cache(&world, "sqlite build");
    let ran = Ran::from(without.env("CC", "no-such-compiler -m64").output().unwrap());
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("no-such-compiler: the C compiler cannot be run"), "{}", ran.err);
    assert!(run(&world, "sqlite list").out.contains("no builds yet"));
}

/// A study measures the builds that are here; those that are not are named.
#[test]
fn a_study_leaves_out_builds_that_are_missing() {
    let world = World::new();
    let ran = run(&world, "study sqlite-versions --quick --step 1 --rounds 1");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for version in ["3.7.8", "3.45.0"] {
        assert!(
            ran.words().contains(&format!("sqlite:?lib={version} is not measured: ")),
            "{}",
            ran.out
        );
    }
    assert!(ran.out.contains("read, warm"), "{}", ran.out);
}
