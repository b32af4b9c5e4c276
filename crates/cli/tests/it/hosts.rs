//! Clients on several hosts: each does its part and has its row, starts at an instant of its own
//! clock, and ends with the run. The hosts are pipes to workers on this machine, and an sshd.
#![cfg(target_os = "linux")]

use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
};

use model::{FindingKind, record::Record};

use crate::{
    running::{SAMPLE, processes, send, signal, within},
    world::{World, is_root},
};

const STOREMARK: &str = env!("CARGO_BIN_EXE_storemark");

/// Small enough for a build without optimisation, in passes of a length that calibration chooses.
const DATA: &str = "--keys 200 --size 1k --rounds 2 --hosts a,b,c --launch ./on-{host}";

/// A folder with a script for each of the hosts a, b and c, which `run` their worker.
fn world_with(run: impl Fn(&str) -> String) -> World {
    let world = World::new();
    for host in ["a", "b", "c"] {
        script(&world, &format!("on-{host}"), &run(host));
    }
    world
}

fn script(world: &World, name: &str, text: &str) {
    world.program(name, &format!("#!/bin/sh\n{text}\n"));
}

/// A worker of this machine that the test recognises.
fn here(host: &str) -> String {
    format!("exec env STOREMARK_TEST_HOST=$PWD:{host} {STOREMARK} worker")
}

/// The workers of `host` that run for this folder; of all hosts, if it is empty.
fn workers(world: &World, host: &str) -> Vec<u32> {
    let mark = format!("STOREMARK_TEST_HOST={}:{host}", world.path("").display());
    let mark = mark.replace("/:", ":");
    let own = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&mark)
    };
    processes().filter(own).collect()
}

fn none_is_left(world: &World) {
    assert!(within(60, || workers(world, "").is_empty()), "a worker outlived its run");
}

/// Every sample has the part of each of `hosts`, and figures of the time in which all worked.
fn shared_out(record: &Record, hosts: &[&str]) {
    assert!(!record.samples.is_empty());
    assert_eq!(record.header.plan.hosts, hosts);
    for sample in &record.samples {
        let of: Vec<_> = sample.hosts.iter().map(|part| &part.host).collect();
        assert_eq!(of, hosts);
        let all: u64 = sample.workers.iter().map(|worker| worker.operations).sum();
        assert!(sample.operations > 0 && sample.operations <= all, "{sample:?}");
        if sample.common_ns == Some(0) {
            let named = |kind: &FindingKind| *kind == FindingKind::NoCommonTime;
            assert!(record.findings.iter().any(|finding| named(&finding.kind)), "{sample:?}");
        }
        assert!(sample.hosts.iter().all(|part| part.clock.uncertainty_ns > 0), "{sample:?}");
        assert!(sample.hosts.iter().all(|part| !part.histogram.is_empty()), "{sample:?}");
    }
}

#[test]
fn every_host_does_its_part_and_has_its_row() {
    let world = world_with(here);
    let ran = world.ok(&format!("run files: sqlite: {DATA} --json r.json --html r.html"));
    assert!(ran.out.contains(", 3 processes on 3 hosts\n"), "{}", ran.out);
    let page = fs::read_to_string(world.path("r.html")).unwrap();
    for text in [ran.out, world.ok("report r.json").out] {
        let (_, table) = text.split_once("by host").unwrap();
        for host in ["a", "b", "c", "all"] {
            let rows = table.lines().filter(|line| {
                let words: Vec<_> = line.split_whitespace().take(2).collect();
                words == ["files", host] || words == ["sqlite", host]
            });
            assert_eq!(rows.count(), 4, "{host}: {table}");
        }
        assert!(!text.contains("±0 "), "{text}");
    }
    assert!(page.contains("<h2>Hosts</h2>"));
    shared_out(&world.record("r.json"), &["a", "b", "c"]);
    none_is_left(&world);
}

#[test]
fn a_record_and_a_plan_run_on_the_same_hosts_again() {
    let world = world_with(here);
    let run = format!("run sqlite: --update --batch 10 {DATA} --processes 2 --lost-host go-on");
    world.ok(&format!("{run} --save-plan p.toml --json r.json"));
    for again in ["p.toml", "r.json"] {
        world.ok(&format!("run {again} --json again.json"));
        let record = world.record("again.json");
        assert_eq!(record.header.plan.hosts, ["a", "b", "c"]);
        assert!(record.samples.iter().all(|sample| sample.workers.len() == 6));
        fs::remove_file(world.path("again.json")).unwrap();
    }
}

#[test]
fn ssh_is_what_starts_workers_unless_something_else_is_named() {
    let world = World::new();
    let programs = Path::new(STOREMARK).parent().unwrap().display();
    // What precedes the host are options with a value each.
    let ssh = format!(
        "while [ $1 = -o ]; do shift 2; done; echo $1 >> hosts; shift; PATH={programs}:$PATH; exec $*"
    );
    script(&world, "bin/ssh", &ssh);
    let path = format!("{}:{}", world.path("bin").display(), std::env::var("PATH").unwrap());
    let run = "run sqlite: --keys 50 --rounds 1 --hosts me@x,y --json r.json";
    let output = world.command(run).env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    shared_out(&world.record("r.json"), &["me@x", "y"]);
    assert_eq!(fs::read_to_string(world.path("hosts")).unwrap().lines().count() % 2, 0);
}

#[test]
fn slurm_takes_the_hosts_of_its_allocation() {
    let world = World::new();
    script(&world, "bin/scontrol", "echo \"$1 $2 $3\" > asked; printf 'n1\\nn2\\n'");
    let programs = Path::new(STOREMARK).parent().unwrap().display();
    let srun = format!("while [ $1 != storemark ]; do shift; done; PATH={programs}:$PATH; exec $*");
    script(&world, "bin/srun", &srun);
    let path = format!("{}:{}", world.path("bin").display(), std::env::var("PATH").unwrap());
    let mut run = world.command("run sqlite: --keys 50 --rounds 1 --launch slurm --json r.json");
    let run = run.env("PATH", path).env("SLURM_JOB_NODELIST", "n[1-2]");
    let output = run.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    shared_out(&world.record("r.json"), &["n1", "n2"]);
    assert_eq!(fs::read_to_string(world.path("asked")).unwrap(), "show hostnames n[1-2]\n");
}

#[test]
fn what_cannot_be_done_on_hosts_is_refused_with_one_line() {
    let world = world_with(here);
    script(&world, "no-a", "exit 7");
    world.refuses([
        ("run sqlite: --hosts a --launch slrum", "did you mean slurm"),
        ("run sqlite: --launch ssh", "--launch needs --hosts"),
        ("run sqlite: --lost-host stop", "--lost-host needs --hosts"),
        ("run sqlite: --host-timeout 20s", "--host-timeout needs --hosts"),
        ("run sqlite: --hosts a --host-timeout 1s", "accepted is 6s or more"),
        ("run sqlite: --hosts a,a", "a is named twice"),
        ("run sqlite: --hosts a;b", "a host is named by letters"),
        ("run sqlite: --hosts a --memory 1GiB", "--hosts cannot be used with --memory"),
        ("run sqlite: --hosts a --cache cold", "only warm is accepted with --hosts"),
        ("run memory: --hosts a --launch ./on-{host}", "can be open in one process only"),
        ("run sqlite: --hosts a --launch ./no-{host}", "no worker starts there; try `./no-a <"),
    ]);
    let mut run = world.command("run sqlite: --launch slurm");
    let said = run.env_remove("SLURM_JOB_NODELIST").output().unwrap();
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("an allocation of Slurm (salloc, sbatch)"), "{said}");
}

#[test]
fn versions_must_agree() {
    let world = World::new();
    let greetings =
        [r#"{"hello":{"protocol":3}}"#, r#"{"hello":{"protocol":6,"version":"0.0.1"}}"#];
    for greeting in greetings {
        script(&world, "on-a", &format!("echo '{greeting}'; cat > /dev/null"));
        let line = world.refused("run sqlite: --keys 5 --hosts a --launch ./on-{host}");
        assert!(
            line.contains("host a: it is storemark ") && line.contains("same version"),
            "{line}"
        );
    }
}

/// One host has a file system of its own below the folder of the scratch stores.
#[test]
fn a_target_that_a_host_does_not_see_is_refused_before_anything_is_measured() {
    let hide = |host: &str| match host {
        "b" => {
            let root = "$(test $(id -u) = 0 || echo -r)";
            let hidden = "mount -t tmpfs none $PWD/shared";
            format!("exec unshare {root} -m sh -c '{hidden}; exec {STOREMARK} worker'")
        }
        _ => here(host),
    };
    let world = world_with(hide);
    fs::create_dir(world.path("shared")).unwrap();
    let line = world.refused(&format!("run sqlite: {DATA} --scratch shared"));
    assert!(line.contains("sqlite: host b: ") && line.contains("every host must reach"), "{line}");
    world.ok("init own.db --count 20 --size 100");
    fs::rename(world.path("own.db"), world.path("shared/own.db")).unwrap();
    let hosts = "--rounds 1 --hosts a,b --launch ./on-{host}";
    let line = world.refused(&format!("run shared/own.db {hosts}"));
    assert!(line.contains("does not exist there"), "{line}");
}

/// A long run on three hosts, under way.
fn under_way(world: &World, options: &str) -> Child {
    let line =
        format!("run sqlite: {DATA} --update --batch 1 --rounds 100000 --json r.json {options}");
    let line = line.replace("--rounds 2 ", "");
    let child = world.under_way(&line, "r.json", SAMPLE, 1);
    assert!(within(60, || workers(world, "").len() == 3));
    child
}

fn lose(world: &World, host: &str) {
    for worker in workers(world, host) {
        signal(worker, "KILL");
    }
}

#[test]
fn a_lost_host_ends_the_run_with_a_finding() {
    let world = world_with(here);
    let child = under_way(&world, "");
    lose(&world, "b");
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("host b: ended before its work was done"), "{err}");
    let page = world.ok("report r.json").words();
    assert!(page.contains("the run ended early: host b was lost (ended before"), "{page}");
    none_is_left(&world);
}

#[test]
fn a_run_goes_on_without_a_lost_host_if_that_is_asked_for() {
    let world = world_with(here);
    let child = under_way(&world, "--lost-host go-on");
    lose(&world, "b");
    let since = || {
        let text = world.text("r.json");
        text.split_once(r#""finding":"host-lost""#).map_or(0, |(_, on)| on.matches(SAMPLE).count())
    };
    let on = within(120, || since() >= 2);
    signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    assert!(on && output.status.code() == Some(130), "{output:?}");
    let record = world.record("r.json");
    let last = record.samples.last().unwrap();
    let hosts: Vec<_> = last.hosts.iter().map(|part| &part.host).collect();
    assert!(hosts == ["a", "c"] && last.workers.len() == 2, "{last:?}");
    let page = world.ok("report r.json -v").words();
    assert!(page.contains("they are those of 2 hosts: host b was lost"), "{page}");
    none_is_left(&world);
}

#[test]
fn no_worker_outlives_a_run_that_is_stopped_or_killed() {
    for name in ["INT", "KILL"] {
        let world = world_with(here);
        let mut child = under_way(&world, "");
        signal(child.id(), name);
        child.wait().unwrap();
        none_is_left(&world);
    }
}

/// A host is waited for as long as it may say nothing: when it starts, when it gets the keys, and when its
/// worker is stopped.
#[test]
fn a_host_that_says_nothing_is_named() {
    let hello = format!("{STOREMARK} worker < /dev/null; exec sleep 1000");
    thread::scope(|scope| {
        scope.spawn(|| is_silent_from_the_start("exec sleep 1000"));
        scope.spawn(|| is_silent_from_the_start(&hello));
        scope.spawn(is_stopped);
    });
}

fn is_silent_from_the_start(silent: &str) {
    let world = world_with(|host| if host == "b" { silent.to_owned() } else { here(host) });
    let line = "run sqlite: --keys 50000 --size 10 --rounds 1 --hosts a,b,c --launch ./on-{host} \
                --host-timeout 6s";
    let ran = world.run(line);
    let says = "host b: has said nothing for 6.0 s (--host-timeout is the limit)";
    assert!(matches!(ran.code, Some(1 | 2)) && ran.err.contains(says), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    none_is_left(&world);
}

fn is_stopped() {
    let world = world_with(here);
    let mut child = under_way(&world, "--host-timeout 6s");
    let stopped = workers(&world, "b");
    for worker in &stopped {
        signal(*worker, "STOP");
    }
    let ended = within(120, || child.try_wait().unwrap().is_some());
    child.kill().unwrap();
    let err = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    assert!(ended && err.contains("host b: has said nothing for 6.0 s"), "{err}");
    assert!(world.ok("report r.json").words().contains("host b was lost (has said nothing"));
    for worker in stopped {
        // Its host may have ended it already.
        send(worker, "CONT");
    }
    none_is_left(&world);
}

#[test]
fn one_interrupt_ends_the_wait_for_a_host_that_says_nothing() {
    let world = world_with(|host| {
        format!("touch {host}; test {host} != b || exec sleep 1000; {}", here(host))
    });
    let line = format!("run sqlite: {DATA} --host-timeout 1h");
    let mut command = world.command(&line);
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    assert!(within(60, || world.path("b").exists()));
    signal(child.id(), "INT");
    let ended = within(30, || child.try_wait().unwrap().is_some());
    child.kill().unwrap();
    assert!(ended && child.wait().unwrap().code() == Some(130));
    none_is_left(&world);
}

/// Packages that the Makefile unpacks.
fn debian(path: &str) -> PathBuf {
    let target = Path::new(STOREMARK).ancestors().nth(2).unwrap();
    let path = target.join("debian").join(path);
    assert!(path.exists(), "`make packages` unpacks {}", path.display());
    path
}

#[test]
fn a_clock_that_is_off_is_found_and_named() {
    let library = libraries().join("faketime/libfaketime.so.1");
    let off = |host: &str| match host {
        "b" => format!("export LD_PRELOAD={} FAKETIME=+0.05s; {}", library.display(), here(host)),
        _ => here(host),
    };
    let world = world_with(off);
    let out = world.ok(&format!("run sqlite: {DATA} --json r.json -v")).words();
    let record = world.record("r.json");
    for part in record.samples.iter().flat_map(|sample| &sample.hosts) {
        let ahead_ns = if part.host == "b" { 50_000_000 } else { 0 };
        let clock = part.clock;
        // Reading the two clocks takes a moment as well.
        let around_ns = 2 * clock.uncertainty_ns + 1_000_000;
        assert!(clock.time_of_day_ns.abs_diff(ahead_ns) < around_ns, "{part:?}");
    }
    let found = |finding: &model::Finding| match &finding.kind {
        FindingKind::ClockOff { host, .. } => Some(host.clone()),
        _ => None,
    };
    let found: Vec<_> = record.findings.iter().filter_map(found).collect();
    assert!(found.contains(&"b".to_owned()), "{found:?}");
    assert!(out.contains("the time of day on host b is "), "{out}");
}

fn libraries() -> PathBuf {
    debian(&format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH))
}

/// An sshd on loopback with keys of its own, which ends with the test.
struct Sshd {
    child: Child,
    port: u16,
}

impl Sshd {
    fn start(world: &World) -> Self {
        for name in ["host", "key"] {
            let path = world.path(name);
            let mut make = Command::new("ssh-keygen");
            make.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path);
            assert!(make.status().unwrap().success());
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let at = |name: &str| world.path(name).display().to_string();
        let (host, keys) = (at("host"), at("key.pub"));
        let options = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {host}\nAuthorizedKeysFile {keys}\n\
             PidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\n"
        );
        world.write("sshd.conf", options);
        let server = debian("usr/sbin/sshd").display().to_string();
        // As root sshd wants a user and a folder that only an installed one has.
        let as_root = "grep -q ^sshd: /etc/passwd || { cat /etc/passwd; \
            echo sshd:x:64999:65534::/run/sshd:/usr/sbin/nologin; } > passwd; \
            mount --bind passwd /etc/passwd; mkdir -p run/sshd; mount --bind run /run;";
        let own = format!("exec {server} -D -e -f {}", at("sshd.conf"));
        let mut command = if is_root() {
            let mut command = Command::new("unshare");
            command.args(["-m", "sh", "-c", &format!("{as_root} {own}")]);
            command
        } else {
            let mut command = Command::new("sh");
            command.args(["-c", &own]);
            command
        };
        let log = fs::File::create(world.path("sshd.log")).unwrap();
        command.env("LD_LIBRARY_PATH", libraries()).current_dir(world.path("")).stderr(log);
        let child = command.spawn().unwrap();
        let sshd = Self { child, port };
        let listens = within(60, || TcpStream::connect(("127.0.0.1", port)).is_ok());
        assert!(listens, "{}", fs::read_to_string(world.path("sshd.log")).unwrap());
        sshd
    }

    /// What starts a worker through it.
    fn worker(&self, world: &World, host: &str) -> String {
        let (port, key, folder) = (
            self.port,
            world.path("key").display().to_string(),
            world.path("").display().to_string(),
        );
        let folder = folder.trim_end_matches('/');
        format!(
            "exec ssh -F none -p {port} -i {key} -o BatchMode=yes -o LogLevel=ERROR \
             -o UserKnownHostsFile=known -o StrictHostKeyChecking=no 127.0.0.1 \
             env STOREMARK_TEST_HOST={folder}:{host} {STOREMARK} worker"
        )
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn hosts_are_reached_through_ssh_and_nothing_is_left_there() {
    let world = World::new();
    let sshd = Sshd::start(&world);
    for host in ["a", "b", "c"] {
        script(&world, &format!("on-{host}"), &sshd.worker(&world, host));
    }
    world.ok(&format!("run files: sqlite: {DATA} --json once.json"));
    shared_out(&world.record("once.json"), &["a", "b", "c"]);
    let mut child = under_way(&world, "");
    signal(child.id(), "KILL");
    child.wait().unwrap();
    none_is_left(&world);
}

#[test]
fn several_numbers_of_clients_show_how_stores_scale() {
    let world = World::new();
    let run = "run sqlite: files: --read --keys 200 --size 1k --rounds 2 --clients 1,2";
    let out = world.ok(&format!("{run} --json r.json --html r.html")).out;
    let (_, table) = out.split_once("scaling, read, warm").unwrap();
    for target in ["sqlite", "files", "null"] {
        for clients in ["1", "2"] {
            let is_row = |line: &&str| {
                let words: Vec<_> = line.split_whitespace().take(2).collect();
                words == [target, clients]
            };
            assert_eq!(table.lines().filter(is_row).count(), 1, "{target} {clients}: {table}");
        }
        let knee = format!("{target}: one more client adds up to ");
        let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&knee), "{table}");
    }
    let page = fs::read_to_string(world.path("r.html")).unwrap();
    assert!(page.contains("How many clients does each store serve?"));
    // A single number is no sweep, and has no client next to it that does nothing.
    world.ok("run sqlite: --read --keys 20 --rounds 1 --clients 2 --json one.json");
    assert_eq!(world.record("one.json").header.plan.targets.len(), 1);
}
