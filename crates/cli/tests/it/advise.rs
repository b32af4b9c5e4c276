//! One answer for a folder, a store or no data at all; what it leaves out, and what it refuses.

use std::{
    fs,
    process::{Child, Stdio},
};

use crate::{
    running::{signal, within},
    world::{Ran, World},
};

/// How the answer starts if a busy machine had no time for one.
const OPEN: &str = "No answer yet: ";
/// How it starts if there was not even time for a comparison.
const NOTHING: &str = "No answer yet: fewer than two candidates have two rounds";

/// What to do about an answer that there is not yet: give more time, or a quieter machine.
fn says_what_helps(words: &str) -> bool {
    words.contains("Try --time ") || words.contains("it takes a quieter machine")
}

/// A folder of small and large values.
fn furnished() -> World {
    let world = World::new();
    for number in 0_u8..40 {
        let length = if number % 4 == 0 { 100_000 } else { 2_000 };
        world.write(&format!("thumbs/{}/{number}.jpg", number % 3), vec![number; length]);
    }
    world
}

#[test]
fn a_folder_gets_an_answer_that_can_be_followed() {
    let world = furnished();
    let before = world.tree();
    let ran = world.ok("advise thumbs --time 60s --explain --json last.json --seed 1");
    let words = ran.words();
    // On a busy machine a minute may be too little for rounds enough.
    let is_open = words.starts_with(OPEN);
    if is_open {
        assert!(says_what_helps(&words), "{words}");
    } else {
        for part in ["what is there now (plain files)", "95 % reads and 5 % updates", "Next: "] {
            assert!(words.contains(part), "{part}: {words}");
        }
    }
    if words.starts_with(NOTHING) {
        return;
    }
    for part in ["How sure: the last ", "Left out: ", "Not covered: "] {
        assert!(words.contains(part), "{part}: {words}");
    }
    // Each candidate with its target string, and the run that measures all.
    for target in ["sqlite:?api=blob&mmap=1GiB", "lmdb:", "files:"] {
        assert!(words.contains(target), "{target}: {words}");
    }
    assert!(words.contains("--data thumbs --read --update --durability consistent"), "{words}");
    let record = world.record("last.json");
    let labels: Vec<_> = record.header.plan.targets.iter().map(|of| of.label.as_str()).collect();
    assert!(labels.contains(&"files now") && labels.len() >= 2, "{labels:?}");
    assert!(record.header.plan.targets.iter().all(|target| !target.reference));
    world.ok("report last.json");
    assert_eq!(world.names("."), ["last.json", "thumbs"]);
    for (path, held) in before {
        assert_eq!(world.tree().get(&path), Some(&held), "{}", path.display());
    }
    if is_open {
        return;
    }
    follow(&world, &ran.out);
    #[cfg(target_os = "linux")]
    cut_power(&world, &words);
}

/// Runs the command that cuts the power of the recommended store, with few states.
#[cfg(target_os = "linux")]
fn cut_power(world: &World, words: &str) {
    let (_, command) = words.split_once("Cut its power, by simulation: storemark ").expect(words);
    let command: Vec<_> = command.split(' ').take(4).collect();
    let ["crash", target, "--durability", "consistent"] = command[..] else { panic!("{words}") };
    let target = target.trim_matches('\'');
    let few = "--states 3 --commits 5 --stores established -q";
    let ran = world.ok(&format!("crash {target} --durability consistent {few}"));
    assert!(ran.out.contains(target), "{target}\n{}", ran.out);
}

/// Runs the commands that the answer names.
fn follow(world: &World, answer: &str) {
    let text = answer.replace('\n', " ");
    for step in ["Move: storemark ", "Check: storemark "] {
        let Some((_, rest)) = text.split_once(step) else {
            assert!(text.starts_with("Keep "), "{answer}");
            return;
        };
        let words: Vec<_> = rest.split_whitespace().take(3).collect();
        world.ok(&words.join(" ").replace('\'', ""));
    }
}

#[test]
fn a_store_gets_one_too_and_reads_alone_can_be_asked_for() {
    let world = furnished();
    world.ok("import thumbs thumbs.db");
    let before = world.names(".");
    let words = world.ok("advise thumbs.db --reads 100 --time 20s").words();
    if words.starts_with(OPEN) {
        assert!(says_what_helps(&words), "{words}");
    } else {
        let parts = ["what is there now (SQLite)", "Weighed by 100 % reads"];
        assert!(parts.iter().all(|part| words.contains(part)), "{words}");
    }
    assert_eq!(world.names("."), before);
}

#[test]
fn readers_and_writers_are_compared_at_the_same_time_with_the_settings_that_decide_it() {
    let world = furnished();
    let before = world.names(".");
    let options = "--readers 2 --writers 2 --time 60s --explain --json last.json --seed 1";
    let ran = world.ok(&format!("advise thumbs {options}"));
    let words = ran.words();
    if words.starts_with(NOTHING) {
        return;
    }
    for part in
        ["2 readers (read), 2 writers (update) at the same time", "readers=2,writers=2:batch=1"]
    {
        assert!(words.contains(part), "{part}: {words}");
    }
    let record = world.record("last.json");
    assert_eq!(record.header.plan.experiment.roles().map(|data| data.roles.len()), Some(2));
    // How much was measured depends on the machine.
    if words.contains("What each setting of") {
        assert!(words.contains("one connection writes"), "{words}");
    }
    world.ok("report last.json");
    fs::remove_file(world.path("last.json")).unwrap();
    assert_eq!(world.names("."), before);
}

#[test]
fn one_value_and_empty_values_are_enough() {
    for (count, bytes) in [(1, "a picture"), (30, "")] {
        let world = World::new();
        for number in 0..count {
            world.write(&format!("thumbs/{number}"), bytes);
        }
        let words = world.ok("advise --data thumbs --time 20s").words();
        assert_eq!(world.names("."), ["thumbs"]);
        if words.starts_with(NOTHING) {
            assert!(words.contains("Try --time "), "{words}");
            continue;
        }
        assert!(words.contains("How sure: "), "{words}");
        let is_empty = words.contains("values (0 B)") && words.contains("that are not empty");
        assert_eq!(is_empty, bytes.is_empty(), "{words}");
        assert_eq!(world.names("."), ["thumbs"]);
    }
}

#[test]
#[cfg(feature = "lmdb")]
fn a_candidate_that_cannot_have_the_data_is_left_out_by_name() {
    let world = World::new();
    // The keys of LMDB have 511 bytes at most.
    let folder = ["a", "b", "c"].map(|letter| letter.repeat(200)).join("/");
    for number in 0_u8..20 {
        world.write(&format!("thumbs/{folder}/{number}.jpg"), vec![number; 2_000]);
    }
    let words = world.ok("advise thumbs --reads 100 --time 30s").words();
    let left_out = words.split("Left out: ").nth(1).expect("something is left out");
    assert!(
        left_out.contains("lmdb: (") && left_out.contains("608 bytes; accepted: 1 to 511"),
        "{words}"
    );
}

#[test]
fn what_cannot_be_answered_is_refused_in_a_line() {
    let world = furnished();
    fs::create_dir(world.path("empty")).unwrap();
    for (line, says) in [
        ("advise empty", "empty: holds no values"),
        ("advise absent", "absent: no such file or folder"),
        ("advise --data absent", "absent: no such file or folder"),
        ("advise sqlite:", "names no store on disk"),
        ("advise thumbs --data thumbs", "cannot be used with"),
        ("advise thumbs --size 10k", "cannot be used with"),
        ("advise thumbs --reads 101", "0 to 100"),
        ("advise thumbs --durability sure", "consistent"),
        ("advise thumbs --scratch absent", "no such folder"),
        ("advise thumbs --json thumbs/last.json", "is inside"),
        ("advise thumbs --readers 4", "--writers <N>"),
        ("advise thumbs --readers 0 --writers 1", "1 to 1024"),
        ("advise thumbs --readers 1 --writers 1 --threads 2", "cannot be used with"),
        ("advise thumbs --readers 1 --writers 1 --cold", "cannot be used with"),
        ("advise thumbs --readers 1 --writers 1 --batch all", "accepted is a number"),
    ] {
        let said = world.refused(line);
        assert!(said.contains(says), "{line}\n{said}");
    }
}

#[test]
fn too_little_time_is_said_and_nothing_is_left() {
    let world = furnished();
    let ran = world.run("advise thumbs --time 50ms");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
    assert!(ran.err.contains("use more --time"), "{}", ran.err);
    assert_eq!(world.names("."), ["thumbs"]);
}

fn started(world: &World) -> Child {
    let mut command = world.command("advise thumbs --time 10m");
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn an_interrupted_one_leaves_nothing() {
    let world = furnished();
    let child = started(&world);
    assert!(within(60, || world.names(".").len() > 1), "no scratch folder in a minute");
    signal(child.id(), "INT");
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (Some(130), ""), "{}", ran.err);
    assert_eq!(ran.err, "storemark: interrupted\n");
    assert_eq!(world.names("."), ["thumbs"]);
}
