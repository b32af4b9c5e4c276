//! Readers that go away, disks that are full, terminals.

use std::{
    fs::File,
    io::Read,
    process::{Command, Stdio},
};

#[cfg(unix)]
use crate::running::within;
use crate::world::{Ran, World};

/// What prints, with a store to look at.
const PRINTING: [&str; 12] = [
    "--help",
    "run -h",
    "-V",
    "--version",
    "help targets",
    "engines",
    "completions zsh",
    "stat a.db",
    "report run.json",
    "verify a.db a.db",
    "run a.db --dry-run",
    "study",
];

fn world() -> World {
    let world = World::after(["init a.db --count 20 --size 100"]);
    world.ok("run a.db --rounds 1 --json run.json");
    world
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let world = world();
    for line in PRINTING {
        let mut child = world.command(line);
        let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{line}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told_in_one_line() {
    let world = world();
    for line in PRINTING {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ran = Ran::from(world.command(line).stdout(full).output().unwrap());
        assert_eq!(ran.code, Some(2), "{line}");
        assert!(ran.err.starts_with("storemark: standard output: No space left"), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{line}: {}", ran.err);
    }
}

#[test]
#[cfg(unix)]
fn the_answer_comes_before_scratch_stores_are_removed() {
    use std::io::Write;

    use rustix::fs::{OFlags, fcntl_setfl};

    let world = World::new();
    std::fs::create_dir(world.path("scratch")).unwrap();
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    // It is full, so that the run waits with its page.
    fcntl_setfl(&writer, OFlags::NONBLOCK).unwrap();
    while writer.write(&[b'x'; 4096]).is_ok() {}
    fcntl_setfl(&writer, OFlags::empty()).unwrap();
    let line = "run files: --keys 20 --rounds 1 --scratch scratch --json run.json";
    let mut child = world.command(line).stdout(writer).spawn().unwrap();
    assert!(within(60, || world.path("run.json").exists()));
    assert_ne!(world.names("scratch"), [""; 0]);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success() && text.contains("read, warm"), "{text}");
    assert_eq!(world.names("scratch"), [""; 0]);
}

#[test]
fn without_a_terminal_there_is_no_progress() {
    let world = world();
    for line in ["init b.db --count 5000", "run a.db --rounds 2", "verify a.db a.db"] {
        assert_eq!(world.ok(line).err, "", "{line}");
    }
}

#[test]
fn who_wants_to_know_is_told_each_step_and_the_settings_in_effect() {
    let world = world();
    let said = world.ok("run a.db sqlite:?page_size=8192 --rounds 1 -v").err;
    for part in ["storemark: reading the data\n", "filling sqlite", "checking sqlite"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(said.contains("a.db, in effect: api=sql"), "{said}");
    assert!(said.contains("page_size=8192"), "{said}");
    let said = world.ok("copy a.db files:a.dir --verbose").err;
    assert!(said.contains("a.db (sqlite) to a.dir (files): 20 values, 2.00 kB"), "{said}");
    assert!(said.contains("storemark: copying\n"), "{said}");
    assert_eq!(world.ok("verify a.db a.db --verbose --quiet").err, "");
}

/// What a terminal of 80 columns is sent when `line` is run on it.
#[cfg(target_os = "linux")]
fn on_a_terminal(world: &World, line: &str) -> String {
    let command = format!("stty cols 80; {} {line}", env!("CARGO_BIN_EXE_storemark"));
    let mut script = Command::new("script");
    let script = script.args(["-qec", &command, "/dev/null"]).current_dir(world.path(""));
    let script = script.env("TERM", "xterm").env("NO_COLOR", "1").stdin(Stdio::null());
    let mut child =
        script.stdout(Stdio::piped()).spawn().expect("script is part of every Debian (bsdutils)");
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success(), "{text}");
    text
}

#[test]
#[cfg(target_os = "linux")]
fn on_a_terminal_progress_is_drawn_without_colour_and_cleared() {
    let world = World::new();
    let drawn = on_a_terminal(&world, "init a.db --count 500k --size 10");
    assert!(drawn.contains("] about 00:00:"), "{drawn:?}");
    assert!(drawn.contains("left  copying"), "{drawn:?}");
    assert!(!drawn.contains("\u{1b}[3"), "{drawn:?}");
    let (_, last) = drawn.rsplit_once("\u{1b}[2K").unwrap();
    assert!(last.starts_with("a.db: 500,000 values"), "{last:?}");
    let drawn = on_a_terminal(&world, "run null: --rounds 60");
    assert!(drawn.contains("left  round "), "{drawn:?}");
    let drawn = on_a_terminal(&world, "init b.db --count 20k --size 100 --quiet");
    assert!(!drawn.contains('\u{1b}') && drawn.starts_with("b.db: 20,000 values"), "{drawn:?}");
}
