//! Object stores: a private server, and an existing bucket, which keeps nothing of a run. rclone serves
//! both.
#![cfg(target_os = "linux")]

use std::{
    env, fs,
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::Duration,
};

use crate::{
    proxy::{self, Fate},
    running::{SAMPLE, signal, within},
    servers::{processes, world},
    world::{Ran, World},
};

/// A bucket `photos` in the folder `served`, which another program serves.
pub(crate) struct Bucket<'w> {
    world: &'w World,
    pub(crate) port: u16,
    server: Child,
}

const KEY: (&str, &str) = ("AWS_ACCESS_KEY_ID", "MYKEY");
pub(crate) const SECRET: (&str, &str) = ("AWS_SECRET_ACCESS_KEY", "MYSECRET");

fn rclone() -> PathBuf {
    let [named, path] =
        ["STOREMARK_PROGRAMS", "PATH"].map(|name| env::var_os(name).unwrap_or_default());
    let mut folders = env::split_paths(&named).chain(env::split_paths(&path));
    let found =
        folders.find_map(|folder| Some(folder.join("rclone")).filter(|file| file.is_file()));
    found.expect("rclone is installed by `make test`")
}

impl<'w> Bucket<'w> {
    pub(crate) fn start(world: &'w World) -> Self {
        fs::create_dir_all(world.path("served/photos")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Command::new(rclone())
            .args(["serve", "s3", "--config=", "--log-level=ERROR"])
            .arg(format!("--addr=127.0.0.1:{port}"))
            .arg(world.path("served"))
            .env("RCLONE_AUTH_KEY", format!("\"{},{}\"", KEY.1, SECRET.1))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        assert!(within(60, || TcpStream::connect(("127.0.0.1", port)).is_ok()));
        Self { world, port, server }
    }

    pub(crate) fn address(&self, path: &str) -> String {
        at(self.port, path)
    }

    /// Deletes an object as another program does: the server may not see at once what its folder lacks.
    pub(crate) fn delete(&self, path: &str) {
        let deleted = Command::new(rclone())
            .args(["deletefile", "--config=", &format!(":s3:{path}")])
            .env("RCLONE_S3_PROVIDER", "Other")
            .env("RCLONE_S3_ENDPOINT", format!("http://127.0.0.1:{}", self.port))
            .envs([("RCLONE_S3_ACCESS_KEY_ID", KEY.1), ("RCLONE_S3_SECRET_ACCESS_KEY", SECRET.1)])
            .status();
        assert!(deleted.unwrap().success(), "{path}");
    }

    /// Files in the bucket.
    pub(crate) fn objects(&self) -> Vec<PathBuf> {
        let served = self.world.path("served");
        let below = |path: &PathBuf| path.starts_with(&served) && path.is_file();
        self.world.tree().into_keys().filter(below).collect()
    }
}

/// What is at `path` for the service that listens on this port.
pub(crate) fn at(port: u16, path: &str) -> String {
    format!("s3://{path}?endpoint=http://127.0.0.1:{port}")
}

impl Drop for Bucket<'_> {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The binary with credentials in its environment and none in the home of its user.
pub(crate) fn command(world: &World, line: &str) -> Command {
    let mut command = world.command(line);
    command.envs([KEY, SECRET]).env("HOME", world.path("home"));
    command
}

pub(crate) fn run(world: &World, line: &str) -> Ran {
    Ran::from(command(world, line).output().unwrap())
}

/// What a refused command says.
pub(crate) fn refused(mut command: Command) -> String {
    let ran = Ran::from(command.output().unwrap());
    assert_eq!((ran.code, &*ran.out), (Some(1), ""), "{}", ran.err);
    // The forecast of a run that seemed possible comes first.
    let said = ran.err.lines().filter(|line| !line.contains("requests to object stores"));
    assert_eq!(said.count(), 1, "{}", ran.err);
    assert!(!ran.err.contains(SECRET.1) && !ran.err.contains("Signature="), "{}", ran.err);
    ran.err
}

fn nothing_is_left(world: &World) {
    let folder = world.path(".").canonicalize().unwrap();
    let scratch = folder.join("storemark-scratch");
    let gone = within(60, || processes(&scratch).is_empty() && !scratch.exists());
    assert!(gone, "left: {:?}, {:?}", processes(&scratch), world.tree().keys());
}

#[test]
fn a_folder_goes_into_objects_and_back() {
    let world = world();
    world.write("in/a/first", "1");
    world.write("in/grüße", vec![7; 100_000]);
    world.write("in/empty", "");
    world.ok("import in s3:store");
    assert!(world.ok("verify in store").out.contains("same: 3"));
    let before = world.tree();
    world.ok("run store --rounds 1");
    assert!(world.refused("copy in s3:store").contains("--force replaces it"));
    assert!(world.tree() == before, "reading the store changed it");
    world.ok("export store out");
    for name in ["a/first", "grüße", "empty"] {
        let [before, after] = ["in", "out"].map(|dir| fs::read(world.path(dir).join(name)));
        assert_eq!(before.unwrap(), after.unwrap(), "{name}");
    }
}

#[test]
fn a_large_value_moves_in_parts() {
    let world = world();
    let load = "--size 12MB --keys 2 --read --rounds 1 --json run.json";
    world.ok(&format!("run s3:?part=5MiB&concurrency=3&prices=5,0.4,20,90 memory: {load}"));
    let record = world.record("run.json");
    let sample = record.samples.iter().find(|sample| sample.target == 0).unwrap();
    let count = |name: &str| sample.counters[name];
    let gets = i64::try_from(sample.operations).unwrap();
    assert_eq!(count(model::GETS), 3 * gets, "5, 5 and 2 MB a value");
    assert_eq!(count("bytes received"), 12_000_000 * gets);
    // 90 a GB, and 0.4 for 1,000 requests, in millionths.
    assert_eq!(count("cost of requests, millionths"), (1_080_000 + 1_200) * gets);
    nothing_is_left(&world);
}

#[test]
fn a_killed_run_leaves_no_server_and_no_folder() {
    let world = world();
    let line = "run s3: memory: --update --keys 50 --rounds 100000 --json run.json";
    let mut child = world.under_way(line, "run.json", SAMPLE, 3);
    signal(child.id(), "KILL");
    child.wait().unwrap();
    nothing_is_left(&world);
}

#[test]
fn an_existing_bucket_is_measured_and_left_as_it_was() {
    let world = world();
    world.write("served/photos/trial/mine.jpg", "mine");
    let bucket = Bucket::start(&world);
    let at = bucket.address("photos/trial");
    let line = format!("run {at} memory: --read --update --keys 20 --rounds 1 --json run.json -v");
    let ran = run(&world, &line);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let record = fs::read_to_string(world.path("run.json")).unwrap();
    for text in [&ran.out, &ran.err, &record] {
        assert!(!text.contains(SECRET.1) && !text.contains(KEY.1), "{text}");
    }
    assert!(ran.out.contains(&at) && record.contains("\"bytes received\""), "{}", ran.out);
    assert_eq!(bucket.objects(), [world.path("served/photos/trial/mine.jpg")]);
}

#[test]
fn credentials_are_those_of_a_profile() {
    let world = world();
    let bucket = Bucket::start(&world);
    let text =
        format!("[mine]\naws_access_key_id = {}\naws_secret_access_key = {}\n", KEY.1, SECRET.1);
    world.write("home/.aws/credentials", text);
    let at = bucket.address("photos/trial");
    let without = |line: &str| {
        let mut command = command(&world, line);
        command.env_remove(KEY.0).env_remove(SECRET.0);
        command
    };
    let line = format!("run {at} --keys 5 --rounds 1");
    let said = refused(without(&line));
    assert!(said.contains("no credentials: ") && said.contains("\"default\""), "{said}");
    let ran = Ran::from(without(&line).env("AWS_PROFILE", "mine").output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let ran =
        Ran::from(without(&format!("run {at}&profile=mine --keys 5 --rounds 1")).output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

#[test]
fn what_a_service_refuses_is_one_line() {
    let world = world();
    let bucket = Bucket::start(&world);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let line = |at: &str| command(&world, &format!("run {at} --keys 5 --rounds 1 --read"));
    for (at, says) in [
        (bucket.address("nowhere/trial"), "NoSuchBucket"),
        (bucket.address("photos//trial"), "a prefix has no empty part"),
        (bucket.address("Photos"), "a bucket's name has"),
        (format!("s3://photos/x?endpoint=http://127.0.0.1:{free}"), "nothing answers at"),
        ("s3://photos/x?endpoint=127.0.0.1".to_owned(), "endpoint=127.0.0.1: "),
        (bucket.address("photos") + "&prices=1,2", "accepted: four prices"),
        (bucket.address("photos") + "&part=1MB", "part=1MB"),
        (bucket.address("photos") + " --durability durable", "?acknowledged=durable states"),
        ("bucket:photos".to_owned(), "names no server, as s3://bucket/prefix does"),
    ] {
        let said = refused(line(&at));
        assert!(said.contains(says), "{at}\n{said}");
    }
    let mut wrong = line(&bucket.address("photos"));
    let said = refused({
        wrong.env(SECRET.0, "ANOTHER");
        wrong
    });
    assert!(said.contains("the service refuses (403") && !said.contains("ANOTHER"), "{said}");
    assert_eq!(bucket.objects(), [] as [PathBuf; 0]);
}

#[test]
fn what_a_killed_run_left_in_a_bucket_is_removed() {
    let world = world();
    let bucket = Bucket::start(&world);
    let at = bucket.address("photos/trial");
    let clean = |says: &str| {
        let ran = run(&world, &format!("clean {at}"));
        assert!(ran.out.contains(says), "{says}: {}{}", ran.out, ran.err);
    };
    let line = format!("run {at} --update --keys 20 --rounds 100000 --json run.json");
    let mut child = command(&world, &line).stdout(Stdio::null()).spawn().unwrap();
    assert!(within(60, || world.count("run.json", SAMPLE) > 2));
    clean(" uses storemark_");
    signal(child.id(), "KILL");
    child.wait().unwrap();
    assert!(!bucket.objects().is_empty());
    clean(&format!(" of process {} on ", child.id()));
    assert_eq!(bucket.objects(), [] as [PathBuf; 0]);
    clean("nothing was left");
}

/// Every third answer to a GET breaks off, of values and of lists, whole and in parts.
#[test]
fn an_answer_that_breaks_off_is_asked_for_again() {
    let world = world();
    let bucket = Bucket::start(&world);
    let asked = AtomicU32::new(0);
    let port = proxy::listen(bucket.port, move |line| {
        let breaks = line.starts_with("GET ") && asked.fetch_add(1, Relaxed) % 3 == 2;
        if breaks { Fate::Break } else { Fate::Pass }
    });
    for options in ["--keys 30 --read", "--keys 2 --size 12MB --read"] {
        let target = at(port, "photos/trial") + "&part=5MiB";
        let line = format!("run {target} {options} --rounds 1 --json run.json");
        let ran = run(&world, &line);
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.err);
        let samples = world.record("run.json").samples;
        assert!(samples.iter().all(|sample| sample.counters[model::BUSY_RETRIES] > 0), "{options}");
        fs::remove_file(world.path("run.json")).unwrap();
    }
    assert_eq!(bucket.objects(), [] as [PathBuf; 0]);
}

/// An answer that always breaks off is an error that names the object.
#[test]
fn what_never_comes_whole_is_named() {
    let world = world();
    let bucket = Bucket::start(&world);
    let port = proxy::listen(bucket.port, |line| {
        let is_value = line.starts_with("GET ") && line.contains("/storemark_");
        if is_value && !line.contains("list-type") { Fate::Break } else { Fate::Pass }
    });
    let ran = run(&world, &format!("run {} --read --keys 3 --rounds 1", at(port, "photos")));
    assert_ne!(ran.code, Some(0));
    let said = format!("{}{}", ran.out, ran.err);
    assert!(said.contains("the object storemark_") && said.contains("breaks off"), "{said}");
}

/// A service that falls silent is an error after its time, and the first interrupt does not wait for it.
#[test]
fn a_service_that_is_silent_is_not_waited_for() {
    for (limit, interrupted) in [("2s", false), ("1h", true)] {
        let world = world();
        let bucket = Bucket::start(&world);
        let (asked, silent) = (AtomicU32::new(0), std::sync::Arc::new(AtomicU32::new(0)));
        let seen = silent.clone();
        let port = proxy::listen(bucket.port, move |line| {
            if line.starts_with("GET ") && asked.fetch_add(1, Relaxed) > 400 {
                seen.fetch_add(1, Relaxed);
                return Fate::Silence;
            }
            Fate::Pass
        });
        let line = format!(
            "run {}&timeout={limit} --read --update --keys 20 --rounds 100000 --json run.json",
            at(port, "photos/trial")
        );
        let mut child =
            command(&world, &line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        assert!(within(120, || silent.load(Relaxed) > 0 || child.try_wait().unwrap().is_some()));
        if interrupted {
            std::thread::sleep(Duration::from_millis(300));
            signal(child.id(), "INT");
        }
        let ended = within(60, || child.try_wait().unwrap().is_some());
        child.kill().unwrap();
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert!(ended, "{limit}");
        assert_eq!(ran.code, Some(if interrupted { 130 } else { 2 }), "{}{}", ran.out, ran.err);
        if !interrupted {
            let page = world.ok("report run.json --verbose").words();
            assert!(page.contains("has not answered for 2.0 s"), "{page}");
        }
        nothing_is_left(&world);
    }
}

/// The run is killed when it puts the second part of a value.
#[test]
fn unfinished_uploads_of_a_killed_run_are_given_up() {
    let world = world();
    let bucket = Bucket::start(&world);
    let (parts, completed) = (AtomicU32::new(0), std::sync::Arc::new(AtomicU32::new(0)));
    let reached = completed.clone();
    let port = proxy::listen(bucket.port, move |line| {
        // The key that the run is killed at is the third.
        if line.contains("partNumber=2") && parts.fetch_add(1, Relaxed) == 2 {
            reached.store(1, Relaxed);
            return Fate::Silence;
        }
        Fate::Pass
    });
    let address = at(port, "photos/trial");
    let line = format!("run {address}&part=5MiB&concurrency=1 --update --size 12MB --keys 4");
    let mut child = command(&world, &line).stdout(Stdio::null()).spawn().unwrap();
    assert!(within(120, || completed.load(Relaxed) == 1));
    signal(child.id(), "KILL");
    child.wait().unwrap();
    let uploads = || {
        let gives_up = |line: &str| line.starts_with("DELETE ") && line.contains("uploadId=");
        let (port, seen) = proxy::count(bucket.port, gives_up);
        let ran = run(&world, &format!("clean {}", at(port, "photos/trial")));
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
        (seen.load(Relaxed), ran.out)
    };
    let (given_up, said) = uploads();
    assert!(given_up == 1 && said.contains("removed storemark_"), "{given_up} {said}");
    assert_eq!(bucket.objects(), [] as [PathBuf; 0]);
    let (given_up, said) = uploads();
    assert!(given_up == 0 && said.contains("nothing was left"), "{given_up} {said}");
}

/// An upload whose run no object names, because another program removed that.
#[test]
fn uploads_without_an_owner_are_given_up() {
    let world = world();
    let bucket = Bucket::start(&world);
    let reached = std::sync::Arc::new(AtomicU32::new(0));
    let seen = reached.clone();
    let port = proxy::listen(bucket.port, move |line| {
        if line.contains("partNumber=2") {
            seen.store(1, Relaxed);
            return Fate::Silence;
        }
        Fate::Pass
    });
    let line = format!("run {}&part=5MiB --update --size 12MB --keys 4", at(port, "photos/trial"));
    let mut child = command(&world, &line).stdout(Stdio::null()).spawn().unwrap();
    assert!(within(120, || reached.load(Relaxed) == 1));
    signal(child.id(), "KILL");
    child.wait().unwrap();
    let port = proxy::listen(bucket.port, |_| Fate::HideOwners);
    let ran = run(&world, &format!("clean {}", at(port, "photos/trial")));
    let says = "removed the unfinished upload of trial/storemark_";
    assert!(ran.out.contains(says), "{}{}", ran.out, ran.err);
}

/// The hosts have an environment of their own.
#[test]
fn keys_reach_workers_on_other_hosts() {
    let world = world();
    let bucket = Bucket::start(&world);
    let program = env!("CARGO_BIN_EXE_storemark");
    world.program("on-a", &format!("#!/bin/sh\nexec env -i {program} worker\n"));
    let at = bucket.address("photos/trial");
    let line = format!("run {at} --read --keys 10 --rounds 1 --hosts a --launch ./on-{{host}}");
    let ran = run(&world, &line);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(bucket.objects(), [] as [PathBuf; 0]);
}

/// What a refusal without a reason, or without a body, is shown as.
#[test]
fn a_refusal_without_a_reason_is_one_sentence() {
    let world = world();
    for (answer, says) in [
        ("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "the service refuses (403);"),
        ("HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nno", "the service refuses (400)\n"),
        ("SSH-2.0-OpenSSH_9.2\r\n", "127.0.0.1:"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for mut client in listener.incoming().flatten() {
                use std::io::{Read, Write};
                let _ = client.read(&mut [0; 8192]);
                let _ = client.write_all(answer.as_bytes());
            }
        });
        let said = refused(command(&world, &format!("run {} --keys 3 --read", at(port, "photos"))));
        assert!(said.contains(says) && !said.contains("): ;"), "{answer}: {said}");
        assert!(!said.contains("nothing answers"), "{said}");
    }
}

/// Every form shows the requests, those of the whole run are those that the service has seen, and the
/// forecast is no less.
#[test]
fn requests_and_their_cost_are_in_every_form_and_below_the_forecast() {
    let world = world();
    let bucket = Bucket::start(&world);
    let (port, seen) = proxy::count(bucket.port, |_| true);
    let at = at(port, "photos/trial") + "&prices=5,0.4,20,90";
    let line =
        format!("run {at} --read --update --keys 50 --rounds 1 --json run.json -v --html p.html");
    let dry = run(&world, &format!("{line} --dry-run").replace("--json run.json", ""));
    assert_eq!((dry.code, seen.load(Relaxed)), (Some(0), 0), "{}", dry.err);
    let ran = run(&world, &line);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let most = forecast_of(&dry.out);
    assert!(dry.out.contains(", which cost ") && forecast_of(&ran.err) == most, "{}", ran.err);
    let all = world.record("run.json").end.unwrap().requests.unwrap();
    // Objects are removed after the end of the record.
    let removing = u64::from(seen.load(Relaxed)) - all.count();
    assert!((1..30).contains(&removing), "{all:?}, {removing} more");
    assert!(u64::from(seen.load(Relaxed)) <= most && most < 2 * all.count(), "{most}: {all:?}");
    let priced =
        all.puts as f64 * 5e-3 + all.gets as f64 * 0.4e-3 + all.received_bytes as f64 * 90e-9;
    assert!((all.cost.unwrap() - priced).abs() < 1e-6, "{all:?}, {priced}");
    let page = fs::read_to_string(world.path("p.html")).unwrap();
    let markdown = world.ok("report run.json --markdown -v").out;
    for (form, text) in [("terminal", &ran.out), ("page", &page), ("Markdown", &markdown)] {
        let text = text.to_lowercase();
        assert!(text.contains("requests to object stores") && text.contains("whole run"), "{form}");
    }
    let json = world.ok("report run.json --json -").out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rows = json["runs"][0]["requests"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[2]["requests"], all.count());
    let csv = world.ok("report run.json --csv").out;
    let cell = |line: usize, name: &str| {
        let column =
            csv.lines().next().unwrap().split(',').position(|of| of == format!("\"{name}\""));
        // No cell before it has a comma.
        csv.lines()
            .nth(line)
            .unwrap()
            .rsplit(',')
            .nth(
                csv.lines().next().unwrap().split(',').count()
                    - 1
                    - column.expect("the column exists"),
            )
            .unwrap()
            .to_owned()
    };
    assert_eq!(cell(1, "gets"), rows[0]["gets"].to_string());
    assert!(cell(1, "requests_cost").parse::<f64>().unwrap() > 0.0);
}

/// Stores that take turns make an epoch of many thousand operations; a bucket next to them makes its own.
#[test]
fn a_fast_store_costs_a_bucket_no_requests() {
    let world = world();
    let bucket = Bucket::start(&world);
    let (port, seen) = proxy::count(bucket.port, |_| true);
    let at = at(port, "photos/trial");
    for (load, most) in [("--read --update", 600), ("--mix read=90,insert=5,delete=5", 600)] {
        seen.store(0, Relaxed);
        let line = format!("run files: memory: {at} {load} --keys 50 --rounds 1");
        let ran = run(&world, &line);
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.err);
        let forecast = forecast_of(&ran.err);
        let seen = u64::from(seen.load(Relaxed));
        assert!(seen <= forecast && seen < most, "{line}: {seen} of {forecast}");
    }
}

/// The most requests that a forecast has.
fn forecast_of(said: &str) -> u64 {
    let after = said.split_once("at most about ").expect("a forecast").1;
    after.split(' ').next().unwrap().replace(',', "").parse().unwrap()
}

/// A ceiling refuses what cannot be kept, and else ends the run with what was measured.
#[test]
fn a_ceiling_of_requests_or_cost_is_kept() {
    let world = world();
    let bucket = Bucket::start(&world);
    let (port, seen) = proxy::count(bucket.port, |_| true);
    let at = at(port, "photos/trial");
    let load = "--update --keys 20 --rounds 1000";
    for (target, ceiling, says) in [
        (at.clone(), "--max-requests 100", "--max-requests 100: the run takes "),
        (at.clone() + "&prices=5,0.4,20,90", "--max-cost 0.01", "--max-cost 0.010: the run takes "),
        (at.clone(), "--max-cost 1", "--max-cost: no target has prices"),
        ("files:".to_owned(), "--max-requests 9", "no target is an object store"),
        (at.clone(), "--max-cost -1", "--max-cost"),
    ] {
        let said = refused(command(&world, &format!("run {target} {load} {ceiling}")));
        assert!(said.contains(says), "{said}");
    }
    assert_eq!(seen.load(Relaxed), 0, "nothing is asked of a service before");
    // Enough to measure; and enough to fill, but not to measure.
    let (by_time, once) = ("--time 10m", "--rounds 1");
    for (most, load, measured) in
        [(900, by_time, true), (900, "--time 10m --processes 1", true), (70, once, false)]
    {
        seen.store(0, Relaxed);
        let line =
            format!("run {at} --update --keys 20 {load} --max-requests {most} --json run.json");
        let ran = run(&world, &line);
        let said = format!("{}{}", ran.out, ran.err);
        assert_eq!(ran.code, Some(if measured { 0 } else { 2 }), "{line}: {said}");
        assert!(said.contains("--max-requests"), "{said}");
        let sent = seen.load(Relaxed);
        // A pass of a worker process counts when it is over.
        let more = if load.contains("--processes") { 600 } else { 30 };
        assert!((most..most + more).contains(&sent), "{line}: {sent}");
        assert_eq!(bucket.objects(), [] as [PathBuf; 0]);
        if measured {
            assert!(!world.record("run.json").samples.is_empty());
        }
        let _ = fs::remove_file(world.path("run.json"));
    }
}
