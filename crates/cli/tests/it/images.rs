//! Images of file systems that are only read: mounted for a command, and never left mounted.
#![cfg(target_os = "linux")]

use std::{fs, os::unix::fs::PermissionsExt, process::Command};

use crate::{
    running::{SAMPLE, signal, within},
    world::{World, is_root},
};

const KINDS: [(&str, &str); 2] = [("squashfs", "mksquashfs"), ("erofs", "mkfs.erofs")];

/// Makes an image `photos.KIND` of a folder, of each kind.
pub(crate) fn make(world: &World, folder: &str) {
    for (kind, program) in KINDS {
        let image = format!("photos.{kind}");
        let mut command = Command::new(program);
        let paths = if kind == "squashfs" { [folder, &image] } else { [&*image, folder] };
        let ran = command.args(paths).current_dir(world.path("")).output();
        let ran = ran.unwrap_or_else(|e| panic!("`make test` installs {program}: {e}"));
        assert!(ran.status.success(), "{program}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

/// A folder `in` of 40 files, and images of it.
fn made() -> World {
    let world = World::new();
    for number in 0..40_usize {
        world.write(&format!("in/sub/{number}.jpg"), vec![b'x'; number * 301]);
    }
    make(&world, "in");
    fs::create_dir(world.path("tmp")).unwrap();
    world
}

/// A command with these words whose images are mounted in `tmp`.
fn command(world: &World, line: &str) -> Command {
    let mut command = world.command(line);
    command.env("TMPDIR", world.path("tmp"));
    command
}

/// Runs what must succeed.
fn ok(world: &World, line: &str) -> String {
    let ran = command(world, line).output().unwrap();
    let [out, err] = [ran.stdout, ran.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(ran.status.success(), "{line}: {out}{err}");
    assert_eq!(left(world), (0, 0), "{line}");
    out
}

/// The file systems that are mounted below `tmp`, and the folders in it.
fn left(world: &World) -> (usize, usize) {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let below = world.path("tmp").canonicalize().unwrap().display().to_string();
    (mounts.matches(&below).count(), world.names("tmp").len())
}

fn can_mount() -> bool {
    if !is_root() {
        host::unchecked("root", "only root can mount an image");
    }
    is_root()
}

#[test]
fn the_files_of_an_image_are_values() {
    if !can_mount() {
        return;
    }
    let world = made();
    let before = world.tree();
    for (kind, _) in KINDS {
        let image = format!("photos.{kind}");
        for target in [format!("{kind}:{image}"), image.clone()] {
            let out = ok(&world, &format!("run {target} in --rounds 1"));
            assert!(out.contains("40 keys") && out.contains(&target), "{out}");
        }
        let stat = ok(&world, &format!("stat {image}"));
        assert!(stat.contains("Number of entries:        40"), "{stat}");
        ok(&world, &format!("verify {kind}:{image} in"));
        ok(&world, &format!("copy {kind}:{image} files:out"));
        ok(&world, "verify in out");
        fs::remove_dir_all(world.path("out")).unwrap();
        let filled = ok(&world, &format!("run --data {kind}:{image} files: sqlite: --rounds 1"));
        assert!(filled.contains("40 keys"), "{filled}");
        let seen = ok(&world, &format!("cache {kind}:{image}"));
        assert!(seen.contains("Files: 40"), "{seen}");
    }
    assert_eq!(world.tree(), before);
}

#[test]
fn what_an_image_cannot_do_is_refused_in_a_line() {
    if !can_mount() {
        return;
    }
    let world = made();
    world.write("cut.squashfs", &fs::read(world.path("photos.squashfs")).unwrap()[..90]);
    world.write("text", "text");
    world.refuses([
        (
            "run squashfs:photos.squashfs --update",
            "photos.squashfs: is an image, which is only read",
        ),
        ("run squashfs:photos.erofs", "is an image of erofs: erofs:FILE"),
        ("run erofs:text", "is no image of erofs"),
        ("run squashfs:absent", "no such file"),
        ("run squashfs:", "names no image (accepted: squashfs:FILE)"),
        ("run squashfs:photos.squashfs?method=stored", "method"),
        ("run cut.squashfs", "cut.squashfs: mount failed"),
        (
            "copy in squashfs:photos.squashfs --force",
            "is an image, which is only read; copy into files:DIR",
        ),
        ("copy in photos.squashfs --in-place", "--in-place puts values into a table"),
        ("advise photos.squashfs", "--data IMAGE takes its values"),
        ("run squashf:photos.squashfs", "squashf"),
    ]);
}

#[test]
fn another_user_gets_a_line_that_only_root_mounts() {
    if !can_mount() {
        return;
    }
    let world = made();
    fs::set_permissions(world.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    let program = world.path("storemark");
    fs::copy(env!("CARGO_BIN_EXE_storemark"), &program).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program);
    let ran =
        command.args(["run", "squashfs:photos.squashfs"]).current_dir(world.path("")).output();
    let ran = ran.unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert_eq!((ran.status.code(), said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.contains("photos.squashfs: only root may mount an image"), "{said}");
}

#[test]
fn a_command_that_ends_in_the_middle_leaves_no_mount() {
    if !can_mount() {
        return;
    }
    for name in ["KILL", "INT"] {
        let world = made();
        let line =
            "run squashfs:photos.squashfs erofs:photos.erofs --rounds 100000 --json run.json";
        let mut command = command(&world, line);
        let mut child = command
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let measured = within(60, || world.count("run.json", SAMPLE) > 1);
        assert!(measured, "nothing was measured in 60 s");
        assert_eq!(left(&world), (2, 2));
        signal(child.id(), name);
        child.wait().unwrap();
        assert!(within(30, || left(&world) == (0, 0)), "{name}: {:?}", left(&world));
    }
}
