//! As `servers`, of PostgreSQL.
#![cfg(target_os = "linux")]

use std::{
    fs::{self, Permissions},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};

use crate::{
    servers::{
        dies, interrupted, is_refused_while_another_has_it, killed, nothing_is_left, port, signal,
        within, without, world,
    },
    world::{Ran, World},
};

#[test]
fn a_killed_run_leaves_no_server_and_no_folder() {
    if !without("postgres") {
        killed("postgres");
    }
}

#[test]
fn an_interrupted_run_ends_its_server_and_keeps_its_record() {
    if !without("postgres") {
        interrupted("postgres");
    }
}

#[test]
fn a_server_that_dies_fails_its_trial_and_the_rest_goes_on() {
    if !without("postgres") {
        dies("postgres");
    }
}

#[test]
fn what_a_private_server_cannot_be_is_one_line() {
    if without("postgres") {
        return;
    }
    let world = world();
    for (line, says) in [
        ("run postgres:?set.work_mme=1MB", "did you mean work_mem?"),
        ("run postgres:?set.work_mem=lots", "invalid value for parameter \"work_mem\""),
        ("run postgres:?set.no.such=1", "has no effect: the server has no such variable"),
        ("run postgres:?set.port=1", "has no effect: the server has 5432"),
        ("run postgres:?set.data_directory=x", "names a place or code"),
        ("run postgres:?cache=1k", "accepted: 131072 to"),
        ("run postgres:?sync=always", "off, async, on"),
        ("run postgres:absent", "absent"),
    ] {
        let said = world.refused(&format!("{line} --keys 10"));
        assert!(said.contains(says), "{line}\n{said}");
    }
    let said = world.refused("rows postgres:?set.archive_command=true --rows 10");
    assert!(said.contains("names a place or code"), "{said}");
    nothing_is_left(&world);
}

#[test]
fn a_folder_goes_into_a_server_and_back() {
    if without("postgres") {
        return;
    }
    let world = world();
    world.write("in/a/first", "1");
    world.write("in/grüße", vec![7; 100_000]);
    world.write("in/empty", "");
    world.ok("copy in postgres:store");
    assert!(world.ok("verify in store").out.contains("same: 3"));
    is_refused_while_another_has_it(&world);
    let before = world.tree();
    world.ok("run store --rounds 1");
    world.ok("verify in store");
    assert!(world.refused("copy in postgres:store").contains("--force replaces it"));
    assert!(world.tree() == before, "reading the store changed it");
    world.ok("copy store files:out");
    world.ok("verify in out");
    let time = |name: &str| fs::metadata(world.path(name)).unwrap().modified().unwrap();
    assert_eq!(time("in/a/first"), time("out/a/first"));
    let long = format!("in/{}/{}", "d".repeat(200), format!("{}/", "e".repeat(200)).repeat(13));
    world.write(&format!("{long}f"), "too long a name");
    let ran = world.run("copy in postgres:other");
    assert!(ran.err.contains("takes at most 2692"), "{}", ran.err);
    nothing_is_left(&world);
}

#[test]
fn a_folder_of_another_version_is_refused() {
    if without("postgres") {
        return;
    }
    let world = world();
    world.write("in/1", "1");
    world.ok("copy in postgres:store");
    fs::write(world.path("store/data/PG_VERSION"), "9.6\n").unwrap();
    let said = world.refused("run postgres:store");
    assert!(said.contains("was made by PostgreSQL 9.6"), "{said}");
}

/// A PostgreSQL server that is there, which takes connections with passwords.
struct There {
    folder: PathBuf,
    server: Child,
}

impl There {
    fn start(world: &World, port: u16) -> Self {
        let folder = world.path("there");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        fs::write(folder.join("password"), "right\n").unwrap();
        let made = as_postgres("initdb")
            .args(["--no-sync", "--auth=scram-sha-256", "--username=admin", "--pwfile"])
            .arg(folder.join("password"))
            .arg(folder.join("data"))
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        let server = as_postgres("postgres")
            .arg("-D")
            .arg(folder.join("data"))
            .args(["-c", "listen_addresses=127.0.0.1", "-c", &format!("port={port}")])
            .args(["-c", "unix_socket_directories=.."])
            .stderr(fs::File::create(folder.join("log")).unwrap())
            .spawn()
            .unwrap();
        let there = Self { folder, server };
        assert!(within(30, || there.sql(port, "SELECT 1").is_some()));
        for sql in [
            "CREATE DATABASE shop",
            "CREATE ROLE me LOGIN PASSWORD 'right'",
            "GRANT ALL ON DATABASE shop TO me",
        ] {
            there.sql(port, sql).unwrap();
        }
        there
    }

    fn sql(&self, port: u16, sql: &str) -> Option<String> {
        let database = if sql.contains("DATABASE") { "postgres" } else { "shop" };
        let database = if sql == "SELECT 1" { "postgres" } else { database };
        let ran = Command::new("psql")
            .args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-U", "admin", "-p", &port.to_string()])
            .args(["-d", database, "-c", sql, "-h"])
            .arg(&self.folder)
            .env("PGPASSWORD", "right")
            .output()
            .unwrap();
        ran.status.success().then(|| String::from_utf8(ran.stdout).unwrap())
    }

    fn tables(&self, port: u16) -> String {
        self.sql(port, "SELECT tablename FROM pg_tables WHERE schemaname='public'").unwrap()
    }
}

impl Drop for There {
    fn drop(&mut self) {
        // At once, its own processes too.
        signal(self.server.id(), "QUIT");
        let _ = self.server.wait();
    }
}

/// A program of the server's, as a user as whom it runs.
fn as_postgres(name: &str) -> Command {
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = installed.map(|entry| entry.path()).max_by_key(|path| version(path));
    let program = newest.map_or_else(|| name.into(), |folder| folder.join("bin").join(name));
    let mut command = if fs::metadata("/proc/self").unwrap().uid() == 0 {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.current_dir("/").stdout(Stdio::null());
    command
}

#[test]
fn a_server_that_is_there_is_measured_and_left_as_it_was() {
    if without("postgres") {
        return;
    }
    let world = world();
    let port = port();
    let there = There::start(&world, port);
    there.sql(port, "GRANT CREATE ON SCHEMA public TO me").unwrap();
    let at = format!("postgres://me:right@127.0.0.1:{port}/shop");
    let ran = world.ok(&format!("run {at} memory: --read --keys 50 --rounds 1 --json run.json"));
    assert!(ran.out.contains(&format!("postgres://me@127.0.0.1:{port}/shop")), "{}", ran.out);
    assert!(!ran.out.contains("right@"), "{}", ran.out);
    assert!(!fs::read_to_string(world.path("run.json")).unwrap().contains("right@"));
    let at = format!("postgresql://me@127.0.0.1:{port}/shop?set.work_mem=8MB");
    for class in ["durable", "consistent"] {
        let line = format!("run {at} --update --durability {class} --keys 50 --rounds 1");
        let ran = world.command(&line).env("PGPASSWORD", "right").output().unwrap();
        let ran = Ran::from(ran);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.out.contains(class) && ran.out.contains("set.work_mem=8MB"), "{}", ran.out);
    }
    assert_eq!(there.tables(port), "");
}

#[test]
fn what_a_server_that_is_there_refuses_is_one_line() {
    if without("postgres") {
        return;
    }
    let world = world();
    let port = port();
    let there = There::start(&world, port);
    let free = self::port();
    let refused = |address: &str, rest: &str| {
        let ran = world.run(&format!("run postgres://{address}{rest} --keys 50 --rounds 1 --read"));
        assert_eq!((ran.code, &*ran.out), (Some(1), ""), "{address}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{address}: {}", ran.err);
        assert!(!ran.err.contains("right") && !ran.err.contains("SECRET"), "{}", ran.err);
        ran.err
    };
    let me = format!("me:right@127.0.0.1:{port}/shop");
    let said = refused(&me, "");
    assert!(said.contains("GRANT CREATE ON SCHEMA public TO me"), "{said}");
    there.sql(port, "GRANT CREATE ON SCHEMA public TO me").unwrap();
    there.sql(port, "CREATE TABLE storemark_0_read(mine int)").unwrap();
    for (address, rest, says) in [
        (format!("me:SECRET@127.0.0.1:{port}/shop"), "", "password authentication failed"),
        (format!("me:right@127.0.0.1:{port}/nowhere"), "", "\"nowhere\" does not exist"),
        (format!("me:right@127.0.0.1:{free}/shop"), "", "onnection refused"),
        (format!("me:right@127.0.0.1:{port}"), "", "names no database"),
        (me.clone(), "", "DROP TABLE storemark_0_read"),
        (me.clone(), "?set.shared_buffers=1GB", "cannot be changed without restarting"),
        (me.clone(), "?set.no_such_thing=1", "unrecognized configuration parameter"),
        (me.clone(), "?set.no.such=1", "no such variable"),
    ] {
        let said = refused(&address, rest);
        assert!(said.contains(says), "{address}{rest}\n{said}");
    }
    assert_eq!(there.tables(port), "storemark_0_read\n");
    there.sql(port, "DROP TABLE storemark_0_read").unwrap();
    let said = refused(&me, "?sync=off");
    assert!(said.contains("gives durability consistent, not none"), "{said}");
    assert_eq!(there.tables(port), "");
}

#[test]
fn an_interrupted_run_drops_its_table() {
    if without("postgres") {
        return;
    }
    let world = world();
    let port = port();
    let there = There::start(&world, port);
    there.sql(port, "GRANT CREATE ON SCHEMA public TO me").unwrap();
    let at = format!("postgres://me:right@127.0.0.1:{port}/shop --durability durable");
    let line = format!("run {at} --update --keys 200 --rounds 100000 --json run.json");
    let mut child = world.command(&line).stdout(Stdio::null()).spawn().unwrap();
    assert!(within(60, || there.tables(port) == "storemark_0_update\n"));
    sleep(Duration::from_millis(500));
    signal(child.id(), "INT");
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert_eq!(there.tables(port), "");
}
