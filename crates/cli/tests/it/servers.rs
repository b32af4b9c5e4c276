//! Servers that storemark starts are gone with it, however it ends; servers that are there keep
//! nothing of it.
#![cfg(target_os = "linux")]

use std::{
    env,
    fs::{self, Permissions},
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};

pub(crate) use crate::running::{signal, within};
use crate::world::{Ran, World};

/// Whether the engine `name` is left out since its server is not installed, which is told past
/// the harness.
pub(crate) fn without(name: &str) -> bool {
    let named = env::var("STOREMARK_WITHOUT").unwrap_or_default();
    let out = named.split(',').any(|word| word.trim() == name);
    if out {
        let _ = writeln!(std::io::stderr(), "STOREMARK_WITHOUT: 1 test unchecked: {name}");
    }
    out
}

/// A folder that the server's user can enter.
pub(crate) fn world() -> World {
    let world = World::new();
    fs::set_permissions(world.path("."), Permissions::from_mode(0o711)).unwrap();
    world
}

/// Processes with `text` in their command lines.
pub(crate) fn processes(text: &Path) -> Vec<(u32, String)> {
    let text = text.to_str().unwrap();
    let numbers = fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter_map(|pid: u32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            line.contains(text).then_some((pid, line))
        })
        .collect()
}

fn scratch(world: &World) -> bool {
    let entries = fs::read_dir(world.path(".")).unwrap().flatten();
    entries.map(|entry| entry.file_name()).any(|name| name.to_str().unwrap().contains("scratch"))
}

/// An update of `targets`, some trials of which are in its record.
fn under_way(world: &World, targets: &str, rounds: u32) -> Child {
    let line = format!("run {targets} --update --keys 200 --rounds {rounds} --json run.json");
    let mut command = world.command(&line);
    let mut child = command
        .env("MYSQL_PWD", "right")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let measured = within(60, || {
        let record = fs::read_to_string(world.path("run.json")).unwrap_or_default();
        record.matches(r#"{"line":"sample""#).count() >= 3
    });
    if measured {
        return child;
    }
    child.kill().unwrap();
    panic!("no trial finished: {:?}", child.wait_with_output());
}

pub(crate) fn nothing_is_left(world: &World) {
    let folder = world.path(".").canonicalize().unwrap();
    let gone = within(10, || processes(&folder).is_empty() && !scratch(world));
    assert!(gone, "left: {:?}, {:?}", processes(&folder), world.tree().keys());
}

/// More rounds than a test waits for.
const MANY: u32 = 100_000;

/// The private server that works in the scratch folder.
fn server(world: &World) -> Option<u32> {
    let folder = world.path(".").canonicalize().unwrap();
    let program =
        |line: &str| line.split(' ').next().unwrap().rsplit('/').next().map(str::to_owned);
    let is_server = |line: &str| {
        program(line).is_some_and(|name| ["mariadbd", "mysqld", "postgres"].contains(&&*name))
    };
    let all = processes(&folder.join("storemark-scratch"));
    all.into_iter().find(|(_, line)| is_server(line)).map(|(pid, _)| pid)
}

pub(crate) fn killed(engine: &str) {
    let world = world();
    let mut child = under_way(&world, &format!("{engine}: memory:"), MANY);
    assert!(within(30, || server(&world).is_some()));
    signal(child.id(), "KILL");
    child.wait().unwrap();
    nothing_is_left(&world);
    assert!(world.ok("report run.json").out.contains(engine));
}

pub(crate) fn interrupted(engine: &str) {
    let world = world();
    let child = under_way(&world, &format!("{engine}: memory:"), MANY);
    signal(child.id(), "INT");
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    nothing_is_left(&world);
    assert!(world.ok("report run.json").out.contains("interrupted"));
}

/// The server of `engine` dies in a trial: that fails, and the other target goes on.
pub(crate) fn dies(engine: &str) {
    const ROUNDS: u32 = 12;
    let world = world();
    let mut child = under_way(&world, &format!("{engine}: memory:"), ROUNDS);
    // One that is ending anyway is not missed: the next one is killed as well.
    let ended = within(60, || {
        if let Some(pid) = server(&world) {
            // Longer than it takes to start; a trial without it is let pass.
            sleep(Duration::from_millis(700));
            let _ = Command::new("kill").args(["-s", "KILL", &pid.to_string()]).output();
        }
        child.try_wait().unwrap().is_some()
    });
    assert!(ended);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    let says = format!("{engine} failed; what was measured is shown");
    assert!(ran.err.contains(&says), "{}", ran.err);
    nothing_is_left(&world);
    let record = fs::read_to_string(world.path("run.json")).unwrap();
    let samples = |target: u32| {
        let of = format!(r#""target":{target},"workload""#);
        record
            .lines()
            .filter(|line| line.contains(r#""line":"sample""#) && line.contains(&of))
            .count()
    };
    assert!(samples(0) < ROUNDS as usize, "the server's trial did not fail");
    assert_eq!(samples(1), ROUNDS as usize);
    let page = world.ok("report run.json --verbose").out;
    assert!(page.contains("a trial failed") && page.contains("it said: "), "{page}");
}

#[test]
fn a_killed_run_leaves_no_server_and_no_folder() {
    if !without("mariadb") {
        killed("mariadb");
    }
}

#[test]
fn an_interrupted_run_ends_its_server_and_keeps_its_record() {
    if !without("mariadb") {
        interrupted("mariadb");
    }
}

#[test]
fn a_server_that_dies_fails_its_trial_and_the_rest_goes_on() {
    if !without("mariadb") {
        dies("mariadb");
    }
}

#[test]
fn what_a_private_server_cannot_be_is_one_line() {
    if without("mariadb") {
        return;
    }
    let world = world();
    for (line, says) in [
        ("run mariadb:?engine=inodb", "did you mean innodb?"),
        ("run mariadb:?engine=memory", "no BLOB columns"),
        ("run mariadb:?engine=csv", "no keys"),
        ("run mariadb:?engine=aria --update --durability durable", "aria promises nothing"),
        (
            "run mariadb:?engine=myisam&sync=commit --durability consistent",
            "myisam promises nothing",
        ),
        ("run mariadb:?set.innodb_data_home_dir=x", "names a place or code"),
        ("run mariadb:?set.log_bin=/tmp/x", "names a place or code"),
        ("run mariadb:?set.no_such_thing=1", "has no such variable"),
        ("run mariadb:?set.innodb_page_size=4000", "the server has \"4096\""),
        ("run mariadb:?set.innodb_data_file_path=nonsense", "[ERROR]"),
        ("run mariadb:?set.skip_networking=0", "set.skip_networking=0 did not take effect"),
        ("run mariadb:?set.a-b=1", "no name of a variable"),
        ("run mariadb:absent", "absent"),
        ("run mariadb:?sync=always", "none, second, commit"),
    ] {
        let said = world.refused(&format!("{line} --keys 10"));
        assert!(said.contains(says), "{line}\n{said}");
    }
    let said = world.refused("rows mariadb:?set.general_log_file=x --rows 10");
    assert!(said.contains("names a place or code"), "{said}");
    nothing_is_left(&world);
}

/// The store in the folder `store` is refused while another process has it.
pub(crate) fn is_refused_while_another_has_it(world: &World) {
    let other = fs::File::open(world.path("store")).unwrap();
    other.lock().unwrap();
    for line in ["run store", "run store --update --in-place", "copy store files:elsewhere"] {
        let said = world.refused(line);
        assert!(said.contains("another process has it open"), "{line}: {said}");
    }
}

#[test]
fn a_server_that_says_nothing_is_told_soon() {
    let mute = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = mute.local_addr().unwrap().port();
    for scheme in ["mysql", "postgres"] {
        let said = world().refused(&format!("run {scheme}://me@127.0.0.1:{port}/db --keys 10"));
        assert!(said.contains("nothing that speaks as "), "{said}");
        assert_eq!(said.matches("127.0.0.1").count(), 1, "{said}");
    }
}

#[test]
fn a_server_is_found_whatever_the_path() {
    if without("mariadb") {
        return;
    }
    let world = world();
    let line = "run mariadb: --keys 10 --rounds 1";
    let ran = Ran::from(world.command(line).env("PATH", "/nonexistent").output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

#[test]
fn a_folder_goes_into_a_server_and_back() {
    if without("mariadb") {
        return;
    }
    let world = world();
    world.write("in/a/first", "1");
    world.write("in/grüße", vec![7; 100_000]);
    world.write("in/empty", "");
    world.ok("copy in mariadb:store");
    assert!(world.ok("verify in store").out.contains("same: 3"));
    is_refused_while_another_has_it(&world);
    let before = world.tree();
    world.ok("run mariadb:store --rounds 1");
    world.ok("verify in store");
    assert!(world.refused("copy in mariadb:store").contains("--force replaces it"));
    assert!(world.tree() == before, "reading the store changed it");
    world.ok("copy store files:out");
    world.ok("verify in out");
    let time = |name: &str| fs::metadata(world.path(name)).unwrap().modified().unwrap();
    assert_eq!(time("in/a/first"), time("out/a/first"));
    nothing_is_left(&world);
}

/// A MariaDB server that is there, with an empty database `shop`.
struct There {
    folder: PathBuf,
    server: Child,
}

impl There {
    fn start(world: &World, port: u16) -> Self {
        let folder = world.path("there");
        fs::create_dir(&folder).unwrap();
        let root = fs::metadata("/proc/self")
            .is_ok_and(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0);
        let user: &[&str] = if root { &["--user=mysql"] } else { &[] };
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        let data = format!("--datadir={}", folder.join("data").display());
        let installed = Command::new("mariadb-install-db")
            .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
            .args(["--debug-no-sync", &data])
            .args(user)
            .output()
            .unwrap();
        assert!(installed.status.success(), "{installed:?}");
        let server = Command::new("/usr/sbin/mariadbd")
            .args(["--no-defaults", "--bind-address=127.0.0.1", "--max-allowed-packet=1M", &data])
            .arg(format!("--socket={}", folder.join("socket").display()))
            .arg(format!("--pid-file={}", folder.join("pid").display()))
            .arg(format!("--port={port}"))
            .args(user)
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.join("log")).unwrap())
            .spawn()
            .unwrap();
        let there = Self { folder, server };
        assert!(within(30, || there.sql("SELECT 1").is_some()));
        for statement in [
            "CREATE DATABASE shop",
            "CREATE USER me@'%' IDENTIFIED BY 'right'",
            "GRANT ALL ON shop.* TO me@'%'",
            "CREATE USER poor@'%' IDENTIFIED BY 'right'",
            "GRANT SELECT ON shop.* TO poor@'%'",
        ] {
            there.sql(statement).unwrap();
        }
        there
    }

    fn sql(&self, statement: &str) -> Option<String> {
        let ran = Command::new("mariadb")
            .args(["--no-defaults", "-N", "-uroot", "-e", statement])
            .arg(format!("--socket={}", self.folder.join("socket").display()))
            .output()
            .unwrap();
        ran.status.success().then(|| String::from_utf8(ran.stdout).unwrap())
    }

    fn tables(&self) -> String {
        self.sql("SHOW TABLES IN shop").unwrap()
    }
}

impl Drop for There {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A port that was free a moment ago.
pub(crate) fn port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_server_that_is_there_is_measured_and_left_as_it_was() {
    if without("mariadb") {
        return;
    }
    let world = world();
    let port = port();
    let there = There::start(&world, port);
    let at = format!("mysql://me:right@127.0.0.1:{port}/shop");
    let ran = world.ok(&format!("run {at} memory: --read --keys 50 --rounds 1 --json run.json"));
    assert!(ran.out.contains(&format!("mysql://me@127.0.0.1:{port}/shop")), "{}", ran.out);
    assert!(!ran.out.contains("right@"), "{}", ran.out);
    assert!(!fs::read_to_string(world.path("run.json")).unwrap().contains("right@"));
    let socket = there.folder.join("socket").display().to_string().replace('/', "%2F");
    world.ok(&format!(
        "run mariadb://root@{socket}/shop --update --durability durable --keys 50 --rounds 1"
    ));
    assert_eq!(there.tables(), "");
}

#[test]
fn what_a_server_that_is_there_refuses_is_one_line() {
    if without("mariadb") {
        return;
    }
    let world = world();
    let port = port();
    let there = There::start(&world, port);
    let free = self::port();
    there.sql("CREATE TABLE shop.storemark_0_read (mine INT)").unwrap();
    let refused = |address: &str, rest: &str| {
        let ran = world.run(&format!("run mysql://{address}{rest} --keys 50 --rounds 1 --read"));
        assert_eq!((ran.code, &*ran.out), (Some(1), ""), "{address}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{address}: {}", ran.err);
        assert!(!ran.err.contains("right") && !ran.err.contains("SECRET"), "{}", ran.err);
        ran.err
    };
    let me = format!("me:right@127.0.0.1:{port}/shop");
    for (address, rest, says) in [
        (format!("me:SECRET@127.0.0.1:{port}/shop"), "", "Access denied for user 'me'"),
        (format!("root@127.0.0.1:{port}/nowhere"), "", "Unknown database 'nowhere'"),
        (format!("poor:right@127.0.0.1:{port}/shop"), "", "CREATE command denied"),
        (format!("me:right@127.0.0.1:{free}/shop"), "", "nothing answers there"),
        (format!("me:right@127.0.0.1:{port}"), "", "names no database"),
        (me.clone(), "", "DROP TABLE `shop`.`storemark_0_read`"),
        (me.clone(), "?set.innodb_buffer_pool_size=1000000000", "GLOBAL variable"),
        (me.clone(), "?set.innodb_page_size=4096", "read only"),
        (me.clone(), "?set.no_such_thing=1", "Unknown system variable"),
    ] {
        let said = refused(&address, rest);
        assert!(said.contains(says), "{address}\n{said}");
    }
    assert_eq!(there.tables(), "storemark_0_read\n");
    there.sql("DROP TABLE shop.storemark_0_read").unwrap();
    let said = refused(&me, "?sync=none");
    assert!(said.contains("the server has sync=commit"), "{said}");
    let said = refused(&me, " --size 2M --variance 0");
    assert!(said.contains("max_allowed_packet, which is 1048576 bytes"), "{said}");
    assert_eq!(there.tables(), "");
}

#[test]
fn an_interrupted_run_drops_its_table() {
    if without("mariadb") {
        return;
    }
    let world = world();
    let port = port();
    let there = There::start(&world, port);
    let at = format!("mysql://me@127.0.0.1:{port}/shop --durability durable");
    let mut child = under_way(&world, &at, MANY);
    assert_eq!(there.tables(), "storemark_0_update\n");
    signal(child.id(), "INT");
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert_eq!(there.tables(), "");
}
