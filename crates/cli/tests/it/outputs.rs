//! Files that options name: whole or not at all, never inside what is measured, never over what
//! somebody else wrote, whatever interrupts.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    process::{Command, Stdio},
    thread::sleep,
    time::Duration,
};

use crate::{
    running::signal,
    world::{Ran, World, records},
};

fn made() -> World {
    World::after(["init a.db --count 20 --size 100", "export a.db a.dir"])
}

#[test]
fn nothing_is_written_into_what_is_measured() {
    let world = made();
    symlink("a.dir", world.path("link")).unwrap();
    for option in ["--json", "--html", "--save-plan", "--export-hdr"] {
        for place in ["a.dir/x", "a.dir/./x", "link/x", "./a.dir/../a.dir/x"] {
            let said = world.refused(&format!("run a.dir a.db --rounds 1 {option} {place}"));
            let why = format!("{option} {place}: is inside ");
            assert!(said.contains(&why) && said.contains("a.dir, which is measured"), "{said}");
        }
        for place in ["a.db-wal", "a.db-journal"] {
            let said = world.refused(&format!("run a.db --rounds 1 {option} {place}"));
            assert!(said.contains("is measured; name another"), "{said}");
        }
        let said = world.refused(&format!("run files: --data a.dir --rounds 1 {option} a.dir/x"));
        assert!(said.contains("is inside "), "{said}");
    }
    for nothing in ["x/", "."] {
        world.refused(&format!("run a.db --rounds 1 --json {nothing}"));
    }
    world.refused("calibrate a.dir --runs 1 --json a.dir/x");
    world.ok("run a.dir --read --rounds 1 --json run.json");
    for option in ["--html", "--export-hdr"] {
        let said = world.refused(&format!("report run.json {option} a.dir/x"));
        assert!(said.contains("is inside "), "{said}");
    }
}

#[test]
fn what_somebody_else_wrote_is_left_as_it_is() {
    let world = made();
    for (option, name) in [("--json", "x"), ("--html", "x"), ("--save-plan", "x")] {
        for foreign in [name.to_owned(), format!("{name}.unfinished")] {
            world.write(&foreign, "a thesis");
            let said = world.refused(&format!("run a.db --rounds 1 {option} {name}"));
            assert!(said.contains("it is left as it is"), "{said}");
            fs::remove_file(world.path(&foreign)).unwrap();
            symlink("nowhere", world.path(&foreign)).unwrap();
            let said = world.refused(&format!("run a.db --rounds 1 {option} {name}"));
            assert!(said.contains("it is left as it is"), "{said}");
            fs::remove_file(world.path(&foreign)).unwrap();
        }
    }
    world.write("pages/storemark.1", "a thesis");
    assert!(world.refused("man pages").contains("is not a page of storemark's manual"));
    symlink("nowhere", world.path("link")).unwrap();
    assert!(world.refused("man link").contains("is a link that leads nowhere"));
    let said = world.refused("run a.db --rounds 1 --export-hdr link");
    assert!(said.contains("is a link that leads nowhere"), "{said}");
    world.ok("man manual");
    world.ok("man manual");
}

#[test]
fn a_file_that_is_replaced_keeps_its_permissions_and_its_link() {
    let world = made();
    let private = fs::Permissions::from_mode(0o600);
    world.ok("run a.db --rounds 1 --json run.json");
    fs::set_permissions(world.path("run.json"), private.clone()).unwrap();
    symlink("run.json", world.path("link.json")).unwrap();
    let before = fs::read(world.path("run.json")).unwrap();
    world.ok("run a.db --rounds 1 --json link.json");
    assert!(world.path("link.json").is_symlink());
    assert_ne!(fs::read(world.path("run.json")).unwrap(), before);
    let mode = fs::metadata(world.path("run.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, private.mode());
}

/// Either as it was before, or whole.
fn check(world: &World, before: &[(&str, String)]) {
    for (name, before) in before {
        let text = fs::read_to_string(world.path(name)).unwrap();
        let whole = match *name {
            "run.json" => records(&text).iter().all(|record| record.end.is_some()),
            "run.html" => text.trim_end().ends_with("</html>"),
            _ => text.contains("seed = "),
        };
        assert!(text == *before || (!text.is_empty() && whole), "{name}: {text}");
    }
}

const LINE: &str =
    "run a.db --read --rounds 2 --json run.json --html run.html --save-plan run.toml";

#[test]
fn a_killed_run_leaves_each_file_as_it_was_or_whole() {
    let world = made();
    world.ok(LINE);
    let read = |name| (name, fs::read_to_string(world.path(name)).unwrap());
    for milliseconds in (0..24).map(|step| step * 40) {
        let before = ["run.json", "run.html", "run.toml"].map(read);
        let mut command = world.command(LINE);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(milliseconds));
        signal(child.id(), "KILL");
        child.wait().unwrap();
        check(&world, &before);
    }
    // What they left is in nobody's way.
    world.ok(LINE);
    assert!(!world.path("run.json.unfinished").exists());
}

#[test]
fn a_file_that_another_process_writes_is_refused_before_anything_is_measured() {
    let world = made();
    world.write("run.json.unfinished", "");
    let path = world.path("run.json.unfinished");
    let file = fs::File::options().write(true).open(path).unwrap();
    file.lock().unwrap();
    let said = world.refused("run a.db --rounds 1 --json run.json");
    assert!(said.contains("another process writes to it"), "{said}");
    // A process that another test has just started may still have it open.
    file.unlock().unwrap();
    world.ok("run a.db --rounds 1 --json run.json");
}

#[test]
fn a_limit_on_files_ends_a_command_with_a_line_and_keeps_what_was_there() {
    let world = made();
    world.ok(LINE);
    let read = |name| (name, fs::read_to_string(world.path(name)).unwrap());
    let before = ["run.json", "run.html", "run.toml"].map(read);
    for line in [
        LINE,
        "report run.json --html run.html",
        "man pages",
        "init b.db --count 2000 --size 1k",
        "copy a.db files:b.dir",
        "copy a.db pack:b.pack",
        "rows sqlite: csv: --rows 5000 --rounds 1",
        "queue files: sqlite: --tasks 2 --workers 4 --rounds 1",
        "run files: sqlite: pack: --keys 50 --size 20k --rounds 1",
    ] {
        let program = env!("CARGO_BIN_EXE_storemark");
        let mut shell = Command::new("sh");
        let shell = shell.args(["-c", &format!("ulimit -f 1; exec {program} {line}")]);
        let ran = Ran::from(shell.current_dir(world.path("")).output().unwrap());
        assert!(matches!(ran.code, Some(0..=2)), "{line}: {:?} {}", ran.code, ran.err);
        let lines = || ran.err.lines();
        assert!(lines().all(|said| said.starts_with("storemark: ")), "{line}: {}", ran.err);
        if ran.code != Some(0) {
            // As the system says it, and SQLite.
            let said = ["File too large", "disk I/O error"];
            let all = format!("{}{}", ran.out, ran.err);
            assert!(said.iter().any(|said| all.contains(said)), "{line}: {all}");
        }
        check(&world, &before);
    }
    for gone in ["b.db", "b.dir", "b.pack"] {
        assert!(gone == "b.dir" || !world.path(gone).exists(), "{gone}");
    }
}
