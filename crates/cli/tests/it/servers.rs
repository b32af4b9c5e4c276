//! Servers that storemark starts end with it, however it ends; existing servers keep nothing of
//! it. Every test runs with every kind of server.
#![cfg(target_os = "linux")]

mod kinds;
mod own_tables;

use std::{
    fs::{self, Permissions},
    net::TcpListener,
    os::unix::{
        fs::{FileTypeExt, PermissionsExt},
        net::UnixStream,
    },
    path::Path,
    process::{Child, Command},
    thread,
    time::Duration,
};

use crate::{
    running::{self, SAMPLE, signal, within},
    world::{Ran, World, is_root},
};
use kinds::{Existing, Kind, MARIADB, POSTGRES, VALKEY};

/// A folder is recognised by its files. Which of two servers is installed is known only once it has
/// run, and nobody asked for one.
#[test]
fn no_server_starts_that_nobody_asks_for() {
    let world = World::new();
    world.write("values/000001", "one");
    world.write("values/000002", "two");
    for program in ["valkey-server", "redis-server"] {
        let text = "#!/bin/sh\ntouch \"$(dirname \"$0\")/started\"\n";
        world.program(&format!("bin/{program}"), text);
    }
    let run = |line: &str| {
        let mut command = world.command(line);
        command.env("STOREMARK_PROGRAMS", world.path("bin")).output().unwrap()
    };
    let output = run("run values files: --rounds 1 --keys 2");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let output = run("run values --rounds 1");
    assert!(output.status.success(), "{output:?}");
    assert!(!world.path("bin/started").exists());
    assert!(!run("run valkey: --rounds 1 --keys 2").status.success());
    assert!(world.path("bin/started").exists(), "the test would see a start");
}

/// Whether the engine `name` is left out because its server is not installed. A line to standard
/// error says so, which the harness does not capture.
pub(crate) fn without(name: &str) -> bool {
    let out = host::does_without(name);
    if out {
        host::unchecked(name, "its server is not installed");
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
    running::processes()
        .filter_map(|pid| {
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

/// Starts an update of `targets` and waits until some trials are in its record.
fn under_way(world: &World, targets: &str, rounds: u32) -> Child {
    let line = format!("run {targets} --update --keys 200 --rounds {rounds} --json run.json");
    world.under_way(&line, "run.json", SAMPLE, 3)
}

fn nothing_is_left(world: &World) {
    let folder = world.path(".").canonicalize().unwrap();
    let gone = within(60, || processes(&folder).is_empty() && !scratch(world));
    assert!(gone, "left: {:?}, {:?}", processes(&folder), world.tree().keys());
}

/// More rounds than a test waits for.
const MANY: u32 = 100_000;

/// The process id of the private server in the scratch folder.
fn server(world: &World) -> Option<u32> {
    let folder = world.path(".").canonicalize().unwrap();
    let program =
        |line: &str| line.split(' ').next().unwrap().rsplit('/').next().map(str::to_owned);
    let is_server = |line: &str| {
        let servers = ["mariadbd", "mysqld", "postgres", "valkey-server", "redis-server"];
        program(line).is_some_and(|name| servers.contains(&&*name))
    };
    let all = processes(&folder.join("storemark-scratch"));
    all.into_iter().find(|(_, line)| is_server(line)).map(|(pid, _)| pid)
}

/// Whether a server accepts connections in `folder`.
fn answers(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| (entry.file_type(), entry.path())).any(|(kind, path)| match kind {
        Ok(kind) if kind.is_socket() => UnixStream::connect(path).is_ok(),
        Ok(kind) => kind.is_dir() && answers(&path),
        Err(_) => false,
    })
}

/// Makes a test of each function for each kind of server.
macro_rules! for_each_kind {
    ($($test:ident,)*) => {
        mod mariadb {
            $(#[test]
            fn $test() {
                super::run(&super::MARIADB, super::$test);
            })*
        }

        mod postgres {
            $(#[test]
            fn $test() {
                super::run(&super::POSTGRES, super::$test);
            })*
        }

        mod valkey {
            $(#[test]
            fn $test() {
                super::run(&super::VALKEY, super::$test);
            })*
        }
    };
}

/// Makes a test of each function for each kind of server with tables.
macro_rules! for_each_sql_server {
    ($($test:ident,)*) => {
        mod tables_of_mariadb {
            $(#[test]
            fn $test() {
                super::run(&super::MARIADB, super::own_tables::$test);
            })*
        }

        mod tables_of_postgres {
            $(#[test]
            fn $test() {
                super::run(&super::POSTGRES, super::own_tables::$test);
            })*
        }
    };
}

for_each_sql_server! {
    the_only_table_with_bytes_is_measured_and_named,
    each_kind_of_table_is_read_and_updated_as_a_copy,
    what_is_read_is_what_the_server_has,
    values_go_into_a_table_as_a_whole_or_not_at_all,
    what_is_no_table_of_values_is_one_line,
    triggers_and_foreign_keys_that_a_copy_lacks_are_named,
}

fn run(kind: &Kind, test: fn(&Kind, &World)) {
    if !without(kind.engine) {
        test(kind, &world());
    }
}

for_each_kind! {
    a_killed_run_leaves_no_server_and_no_folder,
    an_interrupted_run_ends_its_server_and_keeps_its_record,
    a_server_that_dies_fails_its_trial_and_the_rest_goes_on,
    what_a_private_server_cannot_be_is_one_line,
    a_server_is_found_whatever_the_path,
    a_folder_goes_into_a_server_and_back,
    an_existing_server_is_measured_and_left_as_it_was,
    what_an_existing_server_refuses_is_one_line,
    what_is_no_server_is_named_as_such,
    an_interrupted_run_drops_its_table,
    a_server_that_hangs_fails_its_trial_and_the_rest_goes_on,
    one_interrupt_ends_the_wait_for_a_server_that_hangs,
    a_password_reaches_workers_on_other_hosts_and_no_command_line,
    what_a_killed_run_left_is_removed,
    a_table_is_removed_when_its_server_comes_back,
    the_class_of_an_existing_server_is_adopted,
    a_connection_is_encrypted_and_the_certificate_checked,
    a_folder_that_is_deep_or_closed_is_no_obstacle,
}

fn a_killed_run_leaves_no_server_and_no_folder(kind: &Kind, world: &World) {
    let mut child = under_way(world, &format!("{}: memory:", kind.engine), MANY);
    assert!(within(60, || server(world).is_some()));
    signal(child.id(), "KILL");
    child.wait().unwrap();
    nothing_is_left(world);
    assert!(world.ok("report run.json.unfinished").out.contains(kind.engine));
}

fn an_interrupted_run_ends_its_server_and_keeps_its_record(kind: &Kind, world: &World) {
    let child = under_way(world, &format!("{}: memory:", kind.engine), MANY);
    signal(child.id(), "INT");
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130), "{}", ran.err);
    nothing_is_left(world);
    assert!(world.ok("report run.json").out.contains("interrupted"));
}

/// The server dies in a trial: that fails, and the other target goes on.
fn a_server_that_dies_fails_its_trial_and_the_rest_goes_on(kind: &Kind, world: &World) {
    const ROUNDS: u32 = 12;
    let mut child = under_way(world, &format!("{}: memory:", kind.engine), ROUNDS);
    // If one is ending anyway, nobody misses it: the next one is killed as well.
    let ended = within(300, || {
        if answers(&world.path("."))
            && let Some(pid) = server(world)
        {
            let _ = Command::new("kill").args(["-s", "KILL", &pid.to_string()]).output();
        }
        child.try_wait().unwrap().is_some()
    });
    assert!(ended);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    let says = format!("{} not measured to the end; what was measured is shown", kind.engine);
    assert!(ran.err.contains(&says), "{}", ran.err);
    nothing_is_left(world);
    let record = fs::read_to_string(world.path("run.json")).unwrap();
    let samples = |target: u32| {
        let of = format!(r#""target":{target},"workload""#);
        record.lines().filter(|line| line.starts_with(SAMPLE) && line.contains(&of)).count()
    };
    assert!(samples(0) < ROUNDS as usize, "the server's trial did not fail");
    assert_eq!(samples(1), ROUNDS as usize);
    let page = world.ok("report run.json --verbose").words();
    // What it said, if it came to say anything before it was killed, is tested where it is read.
    let why = ["ended by itself", "did not start"].iter().any(|why| page.contains(why));
    assert!(page.contains("a trial failed") && why, "{page}");
}

fn what_a_private_server_cannot_be_is_one_line(kind: &Kind, world: &World) {
    let engine = kind.engine;
    for (settings, says) in kind.refused_settings {
        let said = world.refused(&format!("run {engine}:{settings} --keys 10"));
        assert!(said.contains(says), "{settings}\n{said}");
    }
    let verbs = if kind.has_rows { &["rows", "run"][..] } else { &["run"] };
    for verb in verbs {
        let said = world.refused(&format!("{verb} {engine}:?{}", kind.outside));
        assert!(said.contains("names a place or code"), "{said}");
    }
    nothing_is_left(world);
}

fn a_server_is_found_whatever_the_path(kind: &Kind, world: &World) {
    let line = format!("run {}: --keys 10 --rounds 1", kind.engine);
    let ran = Ran::from(world.command(&line).env("PATH", "/nonexistent").output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

fn a_folder_goes_into_a_server_and_back(kind: &Kind, world: &World) {
    let store = format!("{}:store", kind.engine);
    world.write("in/a/first", "1");
    world.write("in/grüße", vec![7; 100_000]);
    world.write("in/empty", "");
    world.ok(&format!("copy in {store}"));
    assert!(world.ok("verify in store").out.contains("same: 3"));
    is_refused_while_another_has_it(world);
    let before = world.tree();
    world.ok(&format!("run {store} --rounds 1"));
    world.ok("verify in store");
    assert!(world.refused(&format!("copy in {store}")).contains("--force replaces it"));
    assert!(world.tree() == before, "reading the store changed it");
    world.ok("copy store files:out");
    world.ok("verify in out");
    let time = |name: &str| fs::metadata(world.path(name)).unwrap().modified().unwrap();
    assert_eq!(time("in/a/first"), time("out/a/first"));
    nothing_is_left(world);
}

/// The store in the folder `store` is refused while another process has it.
fn is_refused_while_another_has_it(world: &World) {
    let other = fs::File::open(world.path("store")).unwrap();
    other.lock().unwrap();
    for line in ["run store", "run store --update --in-place", "copy store files:elsewhere"] {
        let said = world.refused(line);
        assert!(said.contains("another process has it open"), "{line}: {said}");
    }
}

fn an_existing_server_is_measured_and_left_as_it_was(kind: &Kind, world: &World) {
    let server = Existing::start(kind, world);
    let (scheme, place) = (kind.scheme, server.place());
    let shop = kind.shop;
    let at = format!("{scheme}://me:right@{place}/{shop}");
    let ran = world.ok(&format!("run {at} memory: --read --keys 50 --rounds 1 --json run.json"));
    assert!(ran.out.contains(&format!("{scheme}://me@{place}/{shop}")), "{}", ran.out);
    assert!(!ran.out.contains("right@"), "{}", ran.out);
    assert!(!fs::read_to_string(world.path("run.json")).unwrap().contains("right@"));
    let other = format!("{}://{}", kind.other_scheme, server.by_socket());
    for at in [format!("{scheme}://me@{place}/{shop}?{}", kind.session), other] {
        let line = format!("run {at} --update --durability durable --keys 50 --rounds 1 -v");
        let mut command = world.command(&line);
        let ran = Ran::from(command.env(kind.password, "right").output().unwrap());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let set = !at.contains('?') || ran.out.contains(kind.session);
        assert!(ran.out.contains("durable") && set, "{}", ran.out);
    }
    assert_eq!(server.tables(), "");
}

/// What a refused command says, while a server in this folder changes its files.
fn one_line(world: &World, line: &str) -> String {
    let ran = world.run(line);
    assert_eq!((ran.code, &*ran.out), (Some(1), ""), "{line}: {}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{line}: {}", ran.err);
    ran.err
}

fn what_an_existing_server_refuses_is_one_line(kind: &Kind, world: &World) {
    let server = Existing::start(kind, world);
    let free = kinds::free_port();
    let refused = |address: &str, rest: &str| {
        let scheme = kind.scheme;
        let said =
            one_line(world, &format!("run {scheme}://{address}{rest} --keys 50 --rounds 1 --read"));
        assert!(!said.contains("right") && !said.contains("SECRET"), "{said}");
        said
    };
    let place = server.place();
    let shop = kind.shop;
    let me = format!("me:right@{place}/{shop}");
    for (address, says) in [
        (format!("me:SECRET@{place}/{shop}"), kind.says.wrong_password),
        (format!("{}@{place}/nowhere", kind.admin), kind.says.no_database),
        (format!("poor:right@{place}/{shop}"), kind.says.no_privilege),
        (format!("me:right@127.0.0.1:{free}/{shop}"), kind.says.nobody),
        (format!("me:right@{place}"), "names no database"),
    ] {
        let said = refused(&address, "");
        assert!(said.contains(says), "{address}\n{said}");
    }
    for (rest, says) in kind.refused_session {
        let said = refused(&me, rest);
        assert!(said.contains(says), "{rest}\n{said}");
    }
    assert_eq!(server.tables(), "");
}

/// What answers at an address need not be such a server; that is not "nothing".
fn what_is_no_server_is_named_as_such(kind: &Kind, world: &World) {
    let address = format!("me:right@PLACE/{}", kind.shop);
    thread::scope(|scope| {
        scope.spawn(|| check_no_servers(kind, world, &address));
        if kind.engine == "valkey" {
            // The driver sends nothing when it connects.
            scope.spawn(|| check_no_servers(kind, world, "PLACE/0"));
        }
    });
}

/// All at once, because some are waited for.
fn check_no_servers(kind: &Kind, world: &World, address: &str) {
    let cases = [
        ("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", false, "", "only encrypted"),
        ("SSH-2.0-OpenSSH_9.2\r\n", true, "", "only encrypted"),
        ("SSH-2.0-OpenSSH_9.2\r\n", true, "?tls=on", "only without encryption"),
        ("\u{15}\u{3}\u{3}\0\u{2}\u{2}F", false, "", "only encrypted"),
        ("", true, "", "only encrypted"),
        ("", false, "", "waited 10 s"),
    ];
    thread::scope(|scope| {
        for (answers, first, tls, says) in cases {
            scope.spawn(move || {
                let port = serve_nothing(answers, first);
                let address = address.replace("PLACE", &format!("127.0.0.1:{port}"));
                let at = format!("{}://{address}{tls}", kind.scheme);
                let said = one_line(world, &format!("run {at} --keys 5 --rounds 1 --read"));
                let waits = said.contains("waited 10 s") && says == "only encrypted" && !first;
                // A server of MariaDB speaks first, and is waited for.
                assert!(said.contains(says) || waits, "{answers:?}{tls}: {said}");
                assert!(!said.contains("nothing answers there"), "{answers:?}{tls}: {said}");
            });
        }
    });
}

/// Answers everybody, at `first` or when asked; with no answer, says nothing. Returns the port.
fn serve_nothing(answers: &'static str, first: bool) -> u16 {
    use std::io::{Read, Write};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut silent = Vec::new();
        for mut client in listener.incoming().flatten() {
            if answers.is_empty() && !first {
                silent.push(client);
                continue;
            }
            if !first {
                let _ = client.read(&mut [0; 8192]);
            }
            let _ = client.write_all(answers.as_bytes());
        }
    });
    port
}

/// The one table of a run that updates, `storemark_RUN_0_update`.
fn own_table(server: &Existing<'_>) -> String {
    let tables = server.tables();
    // Of a server without tables the keys, which have a colon.
    let mut tables = tables.lines().filter(|table| !table.contains(':'));
    let table = tables.next().unwrap_or_default();
    let run = table.strip_prefix("storemark_").and_then(|rest| rest.strip_suffix("_0_update"));
    assert!(run.is_some_and(|run| u64::from_str_radix(run, 16).is_ok()), "{table}");
    assert_eq!(tables.next(), None);
    table.to_owned()
}

fn an_interrupted_run_drops_its_table(kind: &Kind, world: &World) {
    let server = Existing::start(kind, world);
    let at = format!("{} --durability durable", server.address());
    let mut child = under_way(world, &at, MANY);
    own_table(&server);
    signal(child.id(), "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(server.tables(), "");
}

/// The server is stopped in the middle, so that it holds its connections and does not answer.
fn a_server_that_hangs_fails_its_trial_and_the_rest_goes_on(kind: &Kind, world: &World) {
    const ROUNDS: u32 = 12;
    let server = Existing::start(kind, world);
    let at = format!("{}?timeout=2s", server.address());
    let mut child = under_way(world, &format!("{at} memory:"), ROUNDS);
    server.signal("STOP");
    let ended = within(300, || child.try_wait().unwrap().is_some());
    server.signal("CONT");
    child.kill().unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert!(ended && ran.code == Some(2), "{ended} {:?} {}", ran.code, ran.err);
    assert!(!scratch(world));
    let page = world.ok("report run.json --verbose").words();
    let says = ["not answered for 2.0 s (?timeout= is the limit)", "not accepted a connection for"];
    assert!(says.iter().any(|says| page.contains(says)), "{page}");
    let samples = world.record("run.json").samples;
    let of = |target| samples.iter().filter(|sample| sample.target == target).count();
    assert!(of(0) < ROUNDS as usize && of(1) == ROUNDS as usize, "{} {}", of(0), of(1));
}

/// The hosts have an environment of their own. The password is in the address, then in a variable.
fn a_password_reaches_workers_on_other_hosts_and_no_command_line(kind: &Kind, world: &World) {
    let server = Existing::start(kind, world);
    let program = env!("CARGO_BIN_EXE_storemark");
    let hosts = "--hosts a,b --launch ./on{host} --rounds 100000 --keys 50 --json run.json";
    let (scheme, place, shop) = (kind.scheme, server.place(), kind.shop);
    for host in ["a", "b"] {
        world.program(&format!("on{host}"), &format!("#!/bin/sh\nexec env -i {program} worker\n"));
    }
    for login in ["me:right@", "me@"] {
        let line = format!("run {scheme}://{login}{place}/{shop} --read {hosts}");
        let mut command = world.command(&line);
        if login == "me@" {
            command.env(kind.password, "right");
        }
        let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
        let mut ended = false;
        assert!(within(120, || {
            ended = child.try_wait().unwrap().is_some();
            ended || world.count("run.json", SAMPLE) > 0
        }));
        let shown = processes(Path::new(&format!(":right@{place}")));
        let own = processes(Path::new(&place));
        signal(child.id(), "INT");
        let within_time = within(60, || child.try_wait().unwrap().is_some());
        child.kill().unwrap();
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert!(
            !ended && within_time && ran.code == Some(130),
            "{login}: {:?} {}",
            ran.code,
            ran.err
        );
        assert!(own.iter().any(|(_, line)| line.contains(&format!("//me@{place}"))), "{own:?}");
        assert_eq!(shown, []);
        fs::remove_file(world.path("run.json")).unwrap();
    }
    assert_eq!(server.tables(), "");
}

/// The limit is far away, and the first interrupt does not wait for it: an existing server, then a private
/// one.
fn one_interrupt_ends_the_wait_for_a_server_that_hangs(kind: &Kind, world: &World) {
    let existing = Existing::start(kind, world);
    let stop = |target: &str, stop: &dyn Fn()| {
        let mut child = under_way(world, &format!("{target}?timeout=1h memory:"), MANY);
        stop();
        // So that an operation is under way.
        thread::sleep(Duration::from_millis(500));
        signal(child.id(), "INT");
        let ended = within(60, || child.try_wait().unwrap().is_some());
        child.kill().unwrap();
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert!(ended && ran.code == Some(130), "{ended} {:?} {}", ran.code, ran.err);
        assert!(ran.out.contains("update, warm"), "{}", ran.out);
        assert!(!world.record("run.json").samples.is_empty());
        assert!(within(60, || !scratch(world)));
        fs::remove_file(world.path("run.json")).unwrap();
    };
    stop(&existing.address(), &|| existing.signal("STOP"));
    existing.signal("CONT");
    drop(existing);
    stop(&format!("{}:", kind.engine), &|| {
        let mut found = None;
        assert!(within(60, || {
            found = server(world).filter(|_| answers(&world.path(".")));
            found.is_some()
        }));
        signal(found.unwrap(), "STOP");
    });
    nothing_is_left(world);
}

fn what_a_killed_run_left_is_removed(kind: &Kind, world: &World) {
    let server = Existing::start(kind, world);
    let at = server.address();
    let leave = || {
        let mut child = under_way(world, &at, MANY);
        assert!(world.ok(&format!("clean {at}")).out.contains(" uses storemark_"));
        signal(child.id(), "KILL");
        child.wait().unwrap();
        fs::remove_file(world.path("run.json.unfinished")).unwrap();
        // The server notices the end of the connection a moment later.
        (child.id(), own_table(&server))
    };
    let (killed, table) = leave();
    let mut said = String::new();
    assert!(within(60, || {
        said = world.ok(&format!("clean {at}")).out;
        said.contains("removed")
    }));
    assert!(said.contains(&format!("removed {table} of process {killed} on ")), "{said}");
    assert!(!said.contains("right@"), "{said}");
    assert!(world.ok(&format!("clean {at}")).out.contains("nothing was left"));
    assert_ne!(leave().1, table, "a run has names of its own");
    let again = format!("run {at} --update --keys 50 --rounds 1");
    assert!(within(60, || world.run(&again).code == Some(0)));
    assert_eq!(server.tables(), "");
    server.sql(kind.shop, kind.mine).unwrap();
    assert!(world.ok(&format!("clean {at}")).out.contains("nothing was left"));
    assert_eq!(server.tables(), "mine\n");
    assert!(one_line(world, "clean files:x").contains("names no server"));
    let away = format!("{}://u@127.0.0.1:1/db", kind.scheme);
    let said = one_line(world, &format!("clean {away}"));
    assert_eq!(said.matches(&away).count(), 1, "{said}");
}

fn a_table_is_removed_when_its_server_comes_back(kind: &Kind, world: &World) {
    let mut server = Existing::start(kind, world);
    let at = server.address();
    let child = under_way(world, &at, MANY);
    server.restart(Duration::from_secs(1));
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert_eq!(server.tables(), "");
}

fn the_class_of_an_existing_server_is_adopted(kind: &Kind, world: &World) {
    let server = Existing::start(kind, world);
    let at = server.address();
    let ran = world.ok(&format!("run {at} files: memory: --update --keys 50 --rounds 1 -v"));
    let says = format!("all targets have the durability class of {}", at.replace(":right", ""));
    assert!(ran.out.replace("\n  ", " ").contains(&says), "{}", ran.out);
    for (target, class) in [("files ", "durable"), ("memory ", "none")] {
        let is = |line: &str| line.starts_with(target) && line.ends_with(class);
        assert!(ran.out.lines().any(is), "{target}{class}\n{}", ran.out);
    }
    let line = format!("run {at} --update --durability none --keys 50 --rounds 1");
    let said = one_line(world, &line);
    assert!(said.contains("storemark does not change the server"), "{said}");
}

fn a_connection_is_encrypted_and_the_certificate_checked(kind: &Kind, world: &World) {
    let mut server = Existing::encrypted(kind, world);
    let at = server.address();
    let run = |tls: &str| format!("run {at}?tls={tls} --read --keys 50 --rounds 1");
    let authority = server.authority().display().to_string();
    let shown = |tls: &str| world.ok(&(run(tls) + " -v"));
    let ran = shown(&authority);
    assert!(ran.out.contains(kind.says.encrypted), "{}", ran.out);
    world.ok(&format!("clean {at}?tls={authority}"));
    if let Some(plain) = kind.says.plain {
        assert!(shown("off").out.contains(plain));
    }
    let said = one_line(world, &run("on"));
    assert!(said.contains(": invalid peer certificate: UnknownIssuer; ?tls=FILE"), "{said}");
    let by_name = run(&authority).replace("127.0.0.1", "localhost");
    let said = one_line(world, &by_name);
    assert!(said.contains("certificate"), "{said}");
    assert!(one_line(world, &run("absent.pem")).contains("tls=absent.pem"));
    assert_eq!(server.tables(), "");
    server.present_authority();
    let said = one_line(world, &run(&authority));
    assert!(
        said.contains("certificate is an authority's own") && said.contains("accepted: "),
        "{said}"
    );
    assert!(!said.contains("nothing answers"), "{said}");
}

fn a_folder_that_is_deep_or_closed_is_no_obstacle(kind: &Kind, world: &World) {
    let engine = kind.engine;
    let deep = format!("{}/{}", "d".repeat(100), "e".repeat(100));
    fs::create_dir_all(world.path(&deep)).unwrap();
    world.write("in/a", "1");
    world.ok(&format!("copy in {engine}:{deep}/store"));
    world.ok(&format!("verify in {deep}/store"));
    let line =
        |folder: &str| format!("run {engine}: --scratch {folder} --read --keys 50 --rounds 1 -v");
    let ran = world.ok(&line(&deep));
    assert!(!ran.out.contains("stores are in"), "{}", ran.out);
    fs::create_dir(world.path("closed")).unwrap();
    fs::set_permissions(world.path("closed"), Permissions::from_mode(0o700)).unwrap();
    let ran = world.ok(&line("closed"));
    assert_eq!(ran.out.contains("stores are in"), is_root(), "{}", ran.out);
}

#[test]
fn rows_go_over_tcp() {
    for kind in [&MARIADB, &POSTGRES] {
        run(kind, rows_of_a_kind_go_over_tcp);
    }
}

fn rows_of_a_kind_go_over_tcp(kind: &Kind, world: &World) {
    let engine = kind.engine;
    let line = format!("rows {engine}:?via=tcp {engine}: --rows 500 --rounds 1 --json r.jsonl -v");
    let ran = world.ok(&line);
    assert!(ran.out.contains("via=tcp text") && ran.out.contains("via=socket"), "{}", ran.out);
    let record = fs::read_to_string(world.path("r.jsonl")).unwrap();
    assert!(record.contains(r#""via":"tcp""#) && !record.contains("password"), "{record}");
    nothing_is_left(world);
}

#[test]
fn a_server_that_says_nothing_is_given_up_soon() {
    let mute = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = mute.local_addr().unwrap().port();
    thread::scope(|scope| {
        for scheme in [MARIADB.scheme, POSTGRES.scheme] {
            scope.spawn(move || {
                let line = format!("run {scheme}://me@127.0.0.1:{port}/db --keys 10");
                let said = world().refused(&line);
                assert!(said.contains("nothing that speaks as "), "{said}");
                assert_eq!(said.matches("127.0.0.1").count(), 1, "{said}");
            });
        }
    });
}

#[test]
fn what_only_postgres_refuses_is_one_line() {
    if without("postgres") {
        return;
    }
    let world = world();
    let long = format!("in/{}/{}", "d".repeat(200), format!("{}/", "e".repeat(200)).repeat(13));
    world.write(&format!("{long}f"), "too long a name");
    assert!(world.run("copy in postgres:other").err.contains("takes at most 2692"));
    world.write("short/1", "1");
    world.ok("copy short postgres:store");
    fs::write(world.path("store/data/PG_VERSION"), "9.6\n").unwrap();
    let said = world.refused("run postgres:store");
    assert!(said.contains("was made by PostgreSQL 9.6"), "{said}");
    nothing_is_left(&world);
}
