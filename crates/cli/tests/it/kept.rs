//! Repositories that are kept: nothing wrong is restored, nothing is lost, and no other user sees anything.
#![cfg(target_os = "linux")]

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::Write,
    os::unix::{
        ffi::OsStringExt,
        fs::{MetadataExt, PermissionsExt, symlink},
    },
    path::{Path, PathBuf},
    process::Command,
};

use crate::world::{Ran, World, is_root};

/// What another user must not read.
pub(crate) const SECRET: &str = "what-nobody-else-may-read";

/// Says why a part of a test is left out.
fn needs_root(what: &str) -> bool {
    if !is_root() {
        host::unchecked("root", format!("only root can do it: {what}"));
    }
    is_root()
}

/// A file system that is mounted as long as this lives.
pub(crate) struct Mounted(PathBuf);

impl Mounted {
    fn new(arguments: &[&OsStr], place: PathBuf) -> Option<Self> {
        if !needs_root("mounting a file system") {
            return None;
        }
        let ran = Command::new("mount").args(arguments).arg(&place).output().unwrap();
        if ran.status.success() {
            return Some(Self(place));
        }
        host::unchecked("root", String::from_utf8_lossy(&ran.stderr));
        None
    }

    pub(crate) fn image(image: &Path, place: PathBuf) -> Option<Self> {
        let options =
            if image.extension() == Some("squashfs".as_ref()) { "loop,ro" } else { "loop" };
        Self::new(&["-o".as_ref(), options.as_ref(), image.as_ref()], place)
    }

    /// A folder without the right to change it.
    fn read_only(folder: &Path, place: PathBuf) -> Option<Self> {
        let bound = Self::new(&["--bind".as_ref(), folder.as_ref()], place.clone())?;
        let options = ["-o", "remount,ro,bind"];
        let ran = Command::new("mount").args(options).arg(place).status().unwrap();
        assert!(ran.success());
        Some(bound)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let ran = Command::new("umount").arg("-l").arg(&self.0).status().unwrap();
        assert!(ran.success() || std::thread::panicking(), "{} is still mounted", self.0.display());
    }
}

fn run(program: &str, arguments: &[&OsStr]) {
    let ran = Command::new(program).args(arguments).output();
    let ran = ran.unwrap_or_else(|e| panic!("`make test` installs {program}: {e}"));
    assert!(ran.status.success(), "{program}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// Two images of file systems that differ in the bytes of files alone: inodes, times and lengths are the
/// same.
pub(crate) fn twins(world: &World, kind: &str) -> [PathBuf; 2] {
    let [one, other] = ["file-system-one", "file-system-two"];
    world.write("image/file", one.repeat(20));
    fs::hard_link(world.path("image/file"), world.path("image/second name")).unwrap();
    let images = ["one", "two"].map(|name| world.path(&format!("{name}.{kind}")));
    let folder = world.path("image");
    let (from, to) = (folder.as_os_str(), images[0].as_os_str());
    if kind == "squashfs" {
        let plain = ["-noI", "-noD", "-noF", "-noX", "-quiet", "-no-progress"].map(OsStr::new);
        run("mksquashfs", &[&[from, to], &plain[..]].concat());
    } else {
        let [quiet, force, filled, size] = ["-q", "-F", "-d", "2M"].map(OsStr::new);
        run("/sbin/mkfs.ext4", &[quiet, force, filled, from, to, size]);
    }
    let mut bytes = fs::read(&images[0]).unwrap();
    let (from, to) = (one.as_bytes(), other.as_bytes());
    let mut found = 0;
    for at in 0..bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
            found += 1;
        }
    }
    assert_eq!(found, 20, "the bytes of one file, as they are");
    fs::write(&images[1], bytes).unwrap();
    images
}

/// What hard links are recognised by is the same on both, and so is what tells an unchanged file.
#[test]
fn file_systems_with_equal_inodes_are_kept_apart() {
    for kind in ["squashfs", "ext4"] {
        let world = World::new();
        let images = twins(&world, kind);
        let places = ["src/1", "src/2"].map(|name| world.path(name));
        for place in &places {
            fs::create_dir_all(place).unwrap();
        }
        let mount = |number: usize| Mounted::image(&images[number], places[number].clone());
        let Some(first) = mount(0) else { return };
        let second = mount(1).expect("as the first");
        world.ok("backup src --keep kept");
        world.ok("backup restore kept restored");
        assert_restored(&world, "restored");
        let of = |name: &str| fs::metadata(world.path("restored").join(name)).unwrap().ino();
        assert_eq!(of("1/file"), of("1/second name"), "{kind}");
        assert_ne!(of("1/file"), of("2/file"), "{kind}");
        let again = world.ok("backup src --keep kept").out;
        assert!(again.contains("files read: 0 "), "{kind}: {again}");

        drop((first, second));
        let swapped = Mounted::image(&images[1], places[0].clone());
        world.ok("backup src --keep kept");
        world.ok("backup restore kept after");
        let now = fs::read_to_string(world.path("after/1/file")).unwrap();
        assert!(now.starts_with("file-system-two"), "{kind}: {now}");
        drop(swapped);

        // The benchmark's copy, too: it compares what it restores with that, and fails if it differs.
        let mounted = [mount(0), mount(1)];
        let ran = world.ok("backup src sqlite: --rounds 1 -q");
        assert!(!ran.out.contains("failed"), "{}", ran.out);
        drop(mounted);
    }
}

/// As rsync sees it: content, modes, owners, times, links of both kinds.
fn assert_restored(world: &World, to: &str) {
    let mut command = Command::new("rsync");
    command.args(["-aHAXnci", "--delete", "src/"]).arg(format!("{to}/"));
    let ran = Ran::from(command.current_dir(world.path("")).output().unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_repository_is_private_whatever_holds_its_catalogue() {
    let world = World::new();
    world.write("src/file", "x");
    for engine in ["sqlite", "lmdb", "redb", "fjall"] {
        fs::create_dir(world.path(engine)).unwrap();
        set_mode(&world.path(engine), 0o777);
        for _ in 0..2 {
            world.ok(&format!("backup src {engine}: --keep {engine}"));
        }
        for path in world.tree().into_keys().filter(|path| path.starts_with(world.path(engine))) {
            let allowed = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode(&path), allowed, "{}", path.display());
        }
        assert_eq!(mode(&world.path(engine)), 0o700);
    }
}

/// As root a server runs as another user, who has the store and nothing else.
#[test]
fn a_catalogue_in_a_server_is_kept_by_its_user() {
    let world = World::new();
    set_mode(&world.path(""), 0o711);
    world.write("src/file", "x");
    for engine in ["mariadb", "postgres", "valkey"] {
        let kept = format!("kept-{engine}");
        world.ok(&format!("backup src {engine}: --keep {kept}"));
        assert!(world.ok(&format!("backup src --keep {kept}")).out.starts_with("backup 2: "));
        world.ok(&format!("backup check {kept}"));
        world.ok(&format!("backup restore {kept} restored-{engine}"));
        assert_restored(&world, &format!("restored-{engine}"));
        let open = if is_root() { 0o711 } else { 0o700 };
        let parts =
            [("", open), ("catalogue", open), ("packs", 0o700), ("storemark-backup", 0o600)];
        for (part, allowed) in parts {
            assert_eq!(mode(&world.path(&kept).join(part)), allowed, "{engine} {part}");
        }
    }
}

/// The list of a file 0600 that lets one more user read it makes the system report 0660.
#[test]
fn an_access_list_opens_nothing_to_the_group() {
    let world = World::new();
    for (name, mode) in [("file", 0o600), ("both", 0o640), ("folder/in", 0o604)] {
        world.write(&format!("src/{name}"), "x");
        set_mode(&world.path("src").join(name), mode);
    }
    set_mode(&world.path("src/folder"), 0o700);
    for (name, list) in [("file", "u:65534:rw"), ("both", "u:65534:rwx"), ("folder", "u:65534:rwx")]
    {
        let path = world.path("src").join(name);
        run("setfacl", &["-m".as_ref(), list.as_ref(), path.as_ref()]);
    }
    assert_eq!(mode(&world.path("src/file")), 0o660, "as the system reports it");
    let saved = world.ok("backup src --keep kept");
    let quiet = world.ok("backup src --keep another --quiet");
    assert!(quiet.out.starts_with("backup 1: ") && quiet.err.is_empty(), "{}", quiet.err);
    assert!(saved.err.contains("access list (ACL), which is not backed up: 3"), "{}", saved.err);
    world.ok("backup restore kept restored");
    let modes = ["file", "both", "folder", "folder/in"]
        .map(|name| mode(&world.path("restored").join(name)));
    assert_eq!(modes, [0o600, 0o640, 0o700, 0o604]);
    world.ok("backup src sqlite: --rounds 1 -q");
}

#[test]
fn a_path_that_is_too_long_is_named_and_the_rest_is_restored() {
    let world = World::new();
    let long = "d".repeat(200);
    world.write(&format!("src/{long}/file"), "x");
    world.write(&format!("src/{long}/{long}/file"), "y");
    world.write("src/short", "z");
    world.ok("backup src --keep kept");
    let mut to = vec!["to"; 1];
    let part = "e".repeat(250);
    to.extend(std::iter::repeat_n(&*part, 15));
    let to = to.join("/");
    let ran = world.run(&format!("backup restore kept {to}"));
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("File name too long"), "{}", ran.err);
    assert!(ran.err.contains("paths that could not be restored as they were: 1\n"), "{}", ran.err);
    assert_eq!(fs::read(world.path(&to).join("short")).unwrap(), b"z");
    assert_eq!(fs::read(world.path(&to).join(&long).join("file")).unwrap(), b"x");
}

/// A user who may not give files away has them, and the group gets no more than others had.
#[test]
fn an_owner_that_cannot_be_set_is_named_and_costs_no_file() {
    let world = World::new();
    for name in ["foreign", "own"] {
        world.write(&format!("src/{name}"), "x");
    }
    if !needs_root("giving files to another user") {
        return;
    }
    std::os::unix::fs::chown(world.path("src/foreign"), Some(65534), Some(65534)).unwrap();
    set_mode(&world.path("src/foreign"), 0o6750);
    world.ok("backup src --keep kept");
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-chown", "--inh-caps=-chown", "--"]);
    command.arg(env!("CARGO_BIN_EXE_storemark")).args(["backup", "restore", "kept", "restored"]);
    let ran = Ran::from(command.current_dir(world.path("")).output().unwrap());
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    let named = "restored/foreign: owner, mode and time: Operation not permitted";
    assert!(ran.err.contains(named) && ran.err.contains(": 1\n"), "{}", ran.err);
    assert_eq!(mode(&world.path("restored/foreign")), 0o700);
    assert_eq!(world.names("restored"), ["foreign", "own"]);
}

/// Whatever holds the catalogue, also after a backup that was killed.
#[test]
fn a_repository_is_read_where_nothing_can_be_written() {
    let whole: &[&str] = &[];
    for (engine, left) in [
        ("sqlite", whole),
        ("lmdb", whole),
        ("redb", whole),
        ("fjall", whole),
        ("sqlite", &["wal", "shm"]),
        ("sqlite", &["wal"]),
    ] {
        let world = World::new();
        (0..50).for_each(|number| world.write(&format!("src/{number}"), vec![b'x'; number * 999]));
        world.ok(&format!("backup src {engine}: --keep kept"));
        if !left.is_empty() {
            leave(&world, left);
        }
        fs::create_dir(world.path("place")).unwrap();
        let mounted = Mounted::read_only(&world.path("kept"), world.path("place"));
        if mounted.is_some() {
            read_all(&world, "place", engine);
        }
        drop(mounted);
        // A file system without a free byte.
        let size = ["-t", "tmpfs", "-o", "size=24m", "tmpfs"].map(OsStr::new);
        if let Some(_mounted) = Mounted::new(&size, world.path("place")) {
            run("cp", &["-a".as_ref(), world.path("kept").as_ref(), world.path("place").as_ref()]);
            let mut filling = fs::File::create(world.path("place/filling")).unwrap();
            while filling.write_all(&[1; 4096]).is_ok() {}
            read_all(&world, "place/kept", engine);
        }
        // Without those rights, as other users are.
        set_mode(&world.path("kept/lock"), 0o400);
        read_all(&world, "kept", engine);
    }
}

/// Leaves what a killed writer leaves next to its database: these side files.
fn leave(world: &World, left: &[&str]) {
    let store = "kept/catalogue/store";
    let script = format!(
        "PRAGMA journal_mode=wal; CREATE TABLE more(x); INSERT INTO more VALUES(1);\n\
         .shell cp {store}-wal {store}-shm .\n"
    );
    world.write("script", script);
    world.sqlite3(&[store, ".read script"]);
    for side in left {
        let kept = world.path(&format!("{store}-{side}"));
        fs::copy(world.path(&format!("store-{side}")), kept).unwrap();
    }
    for name in ["script", "store-wal", "store-shm"] {
        fs::remove_file(world.path(name)).unwrap();
    }
}

fn read_all(world: &World, repository: &str, engine: &str) {
    let before = world.tree();
    let listed = world.ok(&format!("backup list {repository}")).out;
    assert!(listed.contains("51 entries"), "{engine}: {listed}");
    world.ok(&format!("backup check {repository}"));
    let after = world.tree();
    // SQLite notes readers in the index of a log that a killed writer left.
    let differs = before.iter().filter(|(path, was)| after.get(*path) != Some(was));
    let differs = differs
        .map(|(path, _)| path)
        .chain(after.keys().filter(|path| !before.contains_key(*path)));
    let differs = differs.filter(|path| !path.ends_with("catalogue/store-shm"));
    assert_eq!(
        differs.collect::<Vec<_>>(),
        Vec::<&PathBuf>::new(),
        "{engine}: reading changed something"
    );
    world.ok(&format!("backup restore {repository} restored"));
    assert_restored(world, "restored");
    fs::remove_dir_all(world.path("restored")).unwrap();
}

#[test]
fn what_another_user_prepared_is_not_followed() {
    for name in
        ["storemark-backup.new", "storemark-backup", "lock", "packs", "catalogue", "set-aside"]
    {
        let world = World::new();
        world.write("src/file", "x");
        world.write("victim", "as it was");
        fs::create_dir(world.path("folder")).unwrap();
        fs::create_dir(world.path("kept")).unwrap();
        let folder = ["packs", "catalogue", "set-aside"].contains(&name);
        let target = world.path(if folder { "folder" } else { "victim" });
        symlink(target, world.path("kept").join(name)).unwrap();
        let ran = world.run("backup src --keep kept");
        assert!(
            matches!(ran.code, Some(1 | 2)) && ran.err.lines().count() == 1,
            "{name}: {}",
            ran.err
        );
        assert_eq!(fs::read(world.path("victim")).unwrap(), b"as it was", "{name}");
        assert_eq!(world.names("folder"), Vec::<String>::new(), "{name}");
    }
    let world = World::new();
    world.write("src/file", "x");
    if !needs_root("giving a folder to another user") {
        return;
    }
    fs::create_dir(world.path("kept")).unwrap();
    std::os::unix::fs::chown(world.path("kept"), Some(65534), None).unwrap();
    let ran = world.run("backup src --keep kept");
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("kept: belongs to another user"), "{}", ran.err);
    assert_eq!(world.names("kept"), Vec::<String>::new());
}

#[test]
fn a_backup_is_added_with_the_store_that_the_repository_has() {
    let world = World::new();
    world.write("src/file", "x");
    let line = "backup src lmdb:?sync=full --keep kept";
    world.ok(line);
    world.ok(line);
    world.ok("backup src lmdb: --keep kept");
    world.refuses([
        ("backup src redb: --keep kept", "its catalogue is in lmdb:?"),
        ("backup src lmdb:?sync=data --keep kept", "leave out the store"),
        ("backup src lmdb: lmdb: --keep kept", "leave out the store"),
        (
            "backup src --keep kept --durability none",
            "--durability none: the catalogue of kept is in",
        ),
    ]);
    world.ok("backup src --keep kept --durability durable");
    assert_eq!(world.ok("backup list kept").out.lines().count(), 4);
}

/// A library would run as whoever reads the repository.
#[test]
fn a_repository_names_no_library_to_load() {
    let world = World::new();
    world.write("src/file", "x");
    world.ok("backup src --keep kept");
    world.write("library.so", "no library");
    let about = world.path("kept/storemark-backup");
    let text = fs::read_to_string(&about).unwrap();
    fs::write(&about, format!("{text}lib={}\n", world.path("library.so").display())).unwrap();
    for line in ["backup list kept", "backup check kept", "backup restore kept to"] {
        world.ok(line);
    }
    world.ok("backup src --keep kept");
    let asked = format!("backup src sqlite:?lib={} --keep kept", crate::world::systems_sqlite());
    world.ok(&asked);
    assert!(!fs::read_to_string(&about).unwrap().contains("lib="));
    let refused = world.refused("backup src sqlite:?lib=library.so --keep kept");
    assert!(refused.contains("library.so"), "{refused}");
}

/// Whatever name there is in what is printed, a terminal obeys none of it.
#[test]
fn no_control_character_of_a_name_is_printed() {
    let world = World::new();
    let hostile = |name: &str| {
        let bytes = [name.as_bytes(), b"\x1b[31m\x07\r\x9b\xc2\x9b1m\n\x7f\xff"].concat();
        OsString::from_vec(bytes)
    };
    let [source, kept, restored, none] = ["source", "kept", "restored", "none"].map(hostile);
    let at = |name: &OsStr| world.path("").join(name);
    fs::create_dir(at(&source)).unwrap();
    fs::write(at(&source).join(hostile("file")), "x").unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(at(&source).join(hostile("s"))).unwrap();
    let backup = |arguments: &[&OsStr], code: i32| {
        let mut command = world.command("backup");
        let output = command.args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        for text in [output.stdout, output.stderr] {
            let text = String::from_utf8(text).expect("names are shown as text");
            let bad = text.chars().find(|c| c.is_control() && *c != '\n');
            assert_eq!(bad, None, "{arguments:?}: {text:?}");
            assert!(text.lines().all(|line| !line.starts_with('\u{7f}')), "{text:?}");
        }
    };
    let [keep, list, check, restore, quick] =
        ["--keep", "list", "check", "restore", "-q"].map(OsStr::new);
    backup(&[&source, keep, &kept], 2);
    backup(&[list, &kept], 0);
    backup(&[check, &kept], 0);
    backup(&[restore, &kept, &restored], 0);
    backup(&[restore, &kept, &restored], 1);
    backup(&[list, &none], 1);
    backup(&[&source, "redb:".as_ref(), keep, &kept], 1);
    backup(&[&source, "sqlite:".as_ref(), "--rounds=1".as_ref(), quick], 0);
    fs::write(at(&kept).join("packs/00000001"), "damaged").unwrap();
    backup(&[check, &kept], 2);
    backup(&[restore, &kept, &hostile("again")], 2);
    fs::write(at(&kept).join("catalogue/store"), "damaged").unwrap();
    backup(&[list, &kept], 1);
    backup(&[&source, keep, &kept], 1);
    fs::write(at(&kept).join("storemark-backup"), "\x1b[31m").unwrap();
    backup(&[list, &kept], 1);
    backup(&[&none, keep, &kept], 1);
}

#[test]
fn what_is_measured_is_said_to_be_kept_nowhere() {
    let world = World::new();
    world.write("src/file", "x");
    let said = world.ok("backup src sqlite: --rounds 1 -q").words();
    assert!(said.contains("of a copy of src: 1 file, 1 B; nothing is kept (--keep DIR)"), "{said}");
}

/// The copy that is measured is as private as what it is a copy of, also where that is protected by a
/// folder above it.
#[test]
fn what_is_measured_is_private_while_it_is_measured() {
    let world = World::new();
    world.write("outer/src/file", SECRET);
    set_mode(&world.path("outer"), 0o700);
    let mut child = world.command("backup outer/src sqlite: --rounds 3 -q").spawn().unwrap();
    let mut seen = 0;
    while child.try_wait().unwrap().is_none() {
        let scratch =
            world.names("").into_iter().filter(|name| name.starts_with("storemark-scratch"));
        for folder in scratch {
            for inside in ["source", "0-0"] {
                let Ok(meta) = fs::metadata(world.path(&folder).join(inside)) else { continue };
                assert_eq!(meta.mode() & 0o077, 0, "{inside}");
                seen += 1;
            }
        }
    }
    assert!(child.wait().unwrap().success());
    assert!(seen > 0, "it was looked at while it was there");
}
