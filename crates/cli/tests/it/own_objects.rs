//! Objects of the user's own in a bucket, which are read, copied and compared as they are. rclone serves
//! the bucket.
#![cfg(target_os = "linux")]

use std::{
    fs,
    process::Stdio,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::Duration,
};

use crate::{
    help::examples,
    object_stores::{Bucket, SECRET, at, command, refused, run},
    proxy::{self, Fate},
    running::{signal, within},
    servers::world,
    world::Ran,
};

/// Objects of another program are measured as they are, and read by requests that change nothing.
#[test]
fn objects_of_the_user_are_only_read() {
    let world = world();
    for number in 0..30 {
        world.write(&format!("served/photos/mine/sub/{number:02}.jpg"), vec![7; 1000 + number]);
    }
    world.write("served/photos/mine/100%25 grüße.txt", "as it is");
    world.write("served/photos/other/theirs.txt", "next to it");
    let bucket = Bucket::start(&world);
    let changes = |line: &str| !line.starts_with("GET ") && !line.starts_with("HEAD ");
    let (port, changes) = proxy::count(bucket.port, changes);
    let own = at(port, "photos/mine");
    let before = bucket.objects();
    let line = format!("run {own}&existing=yes memory: --read --rounds 1 --json run.json");
    let ran = run(&world, &line);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let record = world.record("run.json");
    let summary = record.header.plan.experiment.summary().unwrap();
    assert_eq!((summary.count, summary.largest), (31, 1029));
    assert_eq!(record.header.plan.targets[0].settings.get("existing"), Some("yes"));
    for line in [
        format!("run files: --data {own} --read --rounds 1"),
        format!("verify {own}"),
        format!("copy {own} files:out"),
        format!("import {own} mine.db"),
        format!("verify {own} out"),
        format!("verify mine.db {own}"),
    ] {
        let ran = run(&world, &line);
        assert_eq!(ran.code, Some(0), "{line}: {}{}", ran.out, ran.err);
        assert!(
            ran.err.contains(" requests") && !ran.err.contains("theirs"),
            "{line}: {}",
            ran.err
        );
    }
    assert_eq!(fs::read(world.path("out/100%25 grüße.txt")).unwrap(), b"as it is");
    assert_eq!(fs::read_dir(world.path("out/sub")).unwrap().count(), 30);
    let stat = run(&world, &format!("stat {own}")).out;
    assert!(stat.contains("Number of entries:        31"), "{stat}");
    assert_eq!((changes.load(Relaxed), bucket.objects()), (0, before));
}

/// Updates are made to copies, in a part of storemark's own that is gone afterwards.
#[test]
fn objects_of_the_user_are_updated_in_copies() {
    let world = world();
    (0..9).for_each(|number| world.write(&format!("served/photos/mine/{number}"), "theirs"));
    let bucket = Bucket::start(&world);
    let (own, before) = (bucket.address("photos/mine") + "&existing=yes", bucket.objects());
    let ran = run(&world, &format!("run {own} --read --update --rounds 1"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(bucket.objects(), before);
    let theirs = before.iter().map(|file| fs::read(file).unwrap());
    assert!(theirs.into_iter().all(|bytes| bytes == b"theirs"));
    let said = refused(command(&world, &format!("run {own} --update --in-place")));
    assert!(said.contains("--in-place: values of your own on a server are only read"), "{said}");
}

/// A copy keeps names, modes and times, and puts nothing over what is there.
#[test]
fn a_folder_goes_into_a_bucket_and_back() {
    let world = world();
    world.write("in/a/first", "1");
    world.write("in/a%b", "");
    world.write("in/large", vec![7; 6_000_000]);
    let bucket = Bucket::start(&world);
    let to = bucket.address("photos/in") + "&part=5MiB";
    let ok = |line: &str| {
        let ran = run(&world, line);
        assert_eq!(ran.code, Some(0), "{line}: {}{}", ran.out, ran.err);
        ran.out
    };
    ok(&format!("copy in {to}"));
    assert!(ok(&format!("verify in {to}")).contains("same: 3"));
    let said = refused(command(&world, &format!("copy in {to}")));
    assert!(said.contains("--resume adds what is missing, --force also replaces"), "{said}");
    assert!(ok(&format!("copy in {to} --resume")).contains("3 of them were there"));
    ok(&format!("copy {to} files:out"));
    assert!(ok("verify in out").contains("same: 3"), "modes and times came back");
    world.write("in/a%b", "changed");
    // The second time another value is put before.
    for code in [1, 2] {
        let ran = run(&world, &format!("copy in {to} --resume"));
        assert_eq!(ran.code, Some(code), "{}", ran.err);
        let says = "a%b: another value is there; --force replaces it";
        assert!(ran.err.contains(says), "{}", ran.err);
        assert_eq!(world.path("served/photos/in/new").exists(), code == 2);
        world.write("in/new", "2");
    }
    ok(&format!("copy in {to} --force"));
    assert!(ok(&format!("verify in {to}")).contains("same: 4"));
    let said = refused(command(&world, &format!("copy {to} {}", bucket.address("photos/in"))));
    assert!(said.contains("is copied to itself"), "{said}");
    world.ok("init numbers.db --count 5 --size 10");
    let numbers = bucket.address("photos/numbers");
    ok(&format!("copy numbers.db {numbers}"));
    assert!(ok(&format!("verify numbers.db {numbers}&keys=integers")).contains("same: 5"));
}

/// What was put before a damaged value stays, which the exit code says.
#[cfg(feature = "archives")]
#[test]
fn a_copy_that_meets_damage_has_failed_part_way() {
    let world = world();
    world.write("in/first", vec![7; 2_000_000]);
    world.write("in/second", "the damaged value");
    let bucket = Bucket::start(&world);
    world.ok("copy in zip:d.zip");
    world.flip("d.zip", b"the damaged value");
    let ran = run(&world, &format!("copy d.zip {}", bucket.address("photos/in")));
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("is not complete; --resume continues"), "{}", ran.err);
    assert_eq!(bucket.objects(), [world.path("served/photos/in/first")]);
}

/// Copies out of a bucket and into one go on after an interrupt, and leave no half of a value.
#[test]
fn a_copy_of_objects_goes_on_after_an_interrupt() {
    let world = world();
    for number in 0..60 {
        world.write(&format!("served/photos/mine/{number:02}"), vec![number; 60_000]);
    }
    let bucket = Bucket::start(&world);
    for (from, to, method) in
        [("photos/mine", "files:out", "GET "), ("files:out", "photos/new", "PUT ")]
    {
        let asked = std::sync::Arc::new(AtomicU32::new(0));
        let seen = asked.clone();
        let port = proxy::listen(bucket.port, move |line| {
            let is_value = line.starts_with(method) && !line.contains("list-type");
            let late = is_value && seen.fetch_add(1, Relaxed) > 40;
            if late { Fate::Silence } else { Fate::Pass }
        });
        let place = |port: u16, text: &str| match text.strip_prefix("photos/") {
            Some(_) => at(port, text),
            None => text.to_owned(),
        };
        let line = format!("copy {} {}", place(port, from), place(port, to));
        let child = command(&world, &line).stderr(Stdio::piped()).spawn().unwrap();
        assert!(within(60, || asked.load(Relaxed) > 41), "{line}");
        std::thread::sleep(Duration::from_millis(300));
        signal(child.id(), "INT");
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(130), "{}", ran.err);
        assert!(ran.err.contains("is not complete; --resume continues"), "{}", ran.err);
        // An object that is gone meanwhile is not in the copy.
        if from == "photos/mine" {
            bucket.delete("photos/mine/00");
        }
        let line = format!("copy {} {} --resume", place(bucket.port, from), place(bucket.port, to));
        let ran = run(&world, &line);
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.err);
        assert!(ran.out.contains(" of them were there"), "{}", ran.out);
        let line = format!("verify {} {}", place(bucket.port, from), place(bucket.port, to));
        let verified = run(&world, &line);
        assert_eq!(verified.code, Some(0), "{line}: {}", verified.out);
        assert!(verified.out.contains("same: 59"), "{line}");
    }
}

#[test]
fn what_a_bucket_cannot_give_or_take_is_one_line() {
    let world = world();
    world.write("served/photos/mine/a", "1");
    world.write("in/a", "1");
    let bucket = Bucket::start(&world);
    let mine = bucket.address("photos/mine");
    for (line, says) in [
        (format!("copy {} files:out", bucket.address("photos/gone")), "no object has a key with"),
        (format!("verify {}", bucket.address("nowhere/x")), "404 NoSuchBucket"),
        (format!("run {mine}&existing=perhaps"), "accepted: no, yes"),
        (format!("copy in {mine}&existing=no"), "a copy stays"),
        (format!("stat {mine} --vacuum"), "--vacuum rewrites a database file"),
        (format!("life files: --data {mine}"), "copy them into a folder first"),
        ("copy in redis://127.0.0.1:1/0".to_owned(), "no copy can be made there"),
    ] {
        let said = refused(command(&world, &line));
        assert!(said.contains(says), "{line}\n{said}");
    }
    let mut wrong = command(&world, &format!("copy {mine} files:out"));
    wrong.env(SECRET.0, "ANOTHER");
    assert!(refused(wrong).contains("the service refuses (403"));
    assert!(!world.path("out").exists());
}

#[test]
fn the_examples_of_help_work_as_they_stand() {
    let world = world();
    world.write("served/photos/2026/a.jpg", "one");
    world.write("thumbs/b.jpg", "two");
    let bucket = Bucket::start(&world);
    let pages = ["copy", "stat"].map(|command| world.ok(&format!("{command} --help")).out);
    let lines: Vec<_> = pages.iter().flat_map(|page| examples(page)).collect();
    let lines: Vec<_> = lines.iter().filter(|line| line.contains("s3://")).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    for line in lines {
        let words = line.split(' ').skip(1).map(|word| {
            word.strip_prefix("s3://").map_or_else(|| word.to_owned(), |path| at(bucket.port, path))
        });
        let line = words.collect::<Vec<_>>().join(" ");
        let ran = run(&world, &line);
        assert_eq!(ran.code, Some(0), "{line}: {}{}", ran.out, ran.err);
    }
}
