//! A recorded folder behaves as any other, and a state in which nothing is lost equals it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{Read, Write},
    os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use model::CrashModel;
use rustix::fs::{CWD, FallocateFlags, RenameFlags, fallocate, renameat_with};
use storemark_crash::{Loss, Operation, Record, Recorder, State};

/// What a folder has: type and mode, links, and content or target.
type Seen = BTreeMap<PathBuf, (u32, u64, Vec<u8>)>;

fn see(folder: &Path, below: &Path, seen: &mut Seen) {
    for entry in fs::read_dir(folder.join(below)).unwrap() {
        let path = below.join(entry.unwrap().file_name());
        let full = folder.join(&path);
        let meta = fs::symlink_metadata(&full).unwrap();
        let content = if meta.is_symlink() {
            fs::read_link(&full).unwrap().into_os_string().into_encoded_bytes()
        } else if meta.is_file() {
            fs::read(&full).unwrap()
        } else {
            Vec::new()
        };
        let links = if meta.is_dir() { 0 } else { meta.nlink() };
        seen.insert(path.clone(), (meta.mode(), links, content));
        if meta.is_dir() {
            see(folder, &path, seen);
        }
    }
}

fn seen(folder: &Path) -> Seen {
    let mut seen = Seen::new();
    see(folder, Path::new(""), &mut seen);
    seen
}

/// Records what `work` does, and returns what it left with the record; `None` without FUSE.
fn recorded(scratch: &Path, work: impl FnOnce(&Path, &Recorder)) -> Option<(Record, Seen)> {
    let recorder = match Recorder::mount(scratch, None) {
        Ok(recorder) => recorder,
        Err(why) => {
            eprintln!("FUSE cannot be used here: {why}");
            return None;
        }
    };
    work(recorder.folder(), &recorder);
    let seen = seen(recorder.folder());
    let (record, _) = recorder.finish().unwrap();
    assert!(!fs::read_to_string("/proc/mounts").unwrap().contains(scratch.to_str().unwrap()));
    Some((record, seen))
}

fn everything(folder: &Path) {
    let at = |name: &str| folder.join(name);
    fs::create_dir_all(at("one/two")).unwrap();
    fs::write(at("one/a"), vec![1; 10_000]).unwrap();
    fs::hard_link(at("one/a"), at("one/two/b")).unwrap();
    symlink("one/a", at("link")).unwrap();
    let mut open = File::create(at("gone")).unwrap();
    fs::remove_file(at("gone")).unwrap();
    open.write_all(b"still here").unwrap();
    let file = File::options().write(true).open(at("one/a")).unwrap();
    file.write_all_at(&[2; 5000], 3000).unwrap();
    fallocate(&file, FallocateFlags::empty(), 9_000, 8_000).unwrap();
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(&file, punch, 100, 300).unwrap();
    fs::write(at("c"), "c").unwrap();
    fs::write(at("d"), "d").unwrap();
    renameat_with(CWD, at("c"), CWD, at("d"), RenameFlags::EXCHANGE).unwrap();
    let taken = renameat_with(CWD, at("c"), CWD, at("d"), RenameFlags::NOREPLACE);
    assert_eq!(taken.unwrap_err(), rustix::io::Errno::EXIST);
    fs::rename(at("one"), at("uno")).unwrap();
    fs::set_permissions(at("c"), fs::Permissions::from_mode(0o640)).unwrap();
    assert!(fs::remove_dir(at("uno")).is_err());
    rustix::fs::setxattr(at("d"), "user.x", b"y", rustix::fs::XattrFlags::empty()).unwrap();
    let mut text = String::new();
    File::open(at("d")).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "c");
}

#[test]
fn a_state_without_loss_equals_the_folder() {
    let scratch = tempfile::tempdir().unwrap();
    let Some((record, seen)) = recorded(scratch.path(), |folder, _| everything(folder)) else {
        return;
    };
    let cut = record.operations().len();
    let loss = Loss::choose(&record, cut, CrashModel::Kill, 0);
    assert!(loss.is_empty());
    let state = scratch.path().join("state");
    State::new(&record, cut, &loss).write(&state).unwrap();
    assert_eq!(self::seen(&state), seen);
    assert_eq!(seen.len(), 7, "{seen:?}");
    let mut value = [0; 8];
    let len = rustix::fs::getxattr(state.join("d"), "user.x", &mut value).unwrap();
    assert_eq!(&value[..len], b"y");
}

#[test]
fn what_was_flushed_is_in_every_state() {
    let scratch = tempfile::tempdir().unwrap();
    let flushed = |folder: &Path, recorder: &Recorder| {
        fs::write(folder.join("a"), "first").unwrap();
        File::open(folder.join("a")).unwrap().sync_all().unwrap();
        File::open(folder).unwrap().sync_all().unwrap();
        recorder.acknowledge("a");
        fs::write(folder.join("b"), "never flushed").unwrap();
    };
    let Some((record, _)) = recorded(scratch.path(), flushed) else { return };
    let is_acknowledged =
        |operation: &Operation| matches!(operation, Operation::Acknowledge { .. });
    let first = record.operations().iter().position(is_acknowledged).unwrap();
    let mut without = 0;
    for cut in first..=record.operations().len() {
        for (model, seed) in
            CrashModel::ALL.into_iter().flat_map(|model| (0..50).map(move |seed| (model, seed)))
        {
            let loss = Loss::choose(&record, cut, model, seed);
            let found = State::new(&record, cut, &loss).read().unwrap();
            assert_eq!(found.get(Path::new("a")).unwrap(), b"first", "{model} {seed}");
            let is_whole = found.get(Path::new("b")).is_some_and(|bytes| bytes == b"never flushed");
            without += u32::from(cut == record.operations().len() && !is_whole);
        }
    }
    assert!(without > 20, "{without}");
}

/// A page that was written to through a mapping is seen once the kernel writes it back.
#[test]
fn mappings_are_seen_when_they_are_written_back() {
    let scratch = tempfile::tempdir().unwrap();
    let mapped = |folder: &Path, recorder: &Recorder| {
        let script = "import mmap, os, sys, time
fd = os.open('m', os.O_CREAT | os.O_RDWR)
os.ftruncate(fd, 8192)
m = mmap.mmap(fd, 8192)
m[5000] = 7
os.system('sync -f .')
os.write(os.open('.storemark-ack', os.O_WRONLY), b'mapped\\n')
m[1] = 7
m.flush()";
        let mut python = Command::new("python3");
        assert!(python.args(["-c", script]).current_dir(folder).status().unwrap().success());
        recorder.acknowledge("end");
    };
    let Some((record, seen)) = recorded(scratch.path(), mapped) else { return };
    assert_eq!(seen.len(), 1);
    let position = |wanted: &str| {
        record.operations().iter().position(
            |operation| matches!(operation, Operation::Acknowledge { text } if text == wanted),
        )
    };
    let read = |cut: usize| {
        let loss = Loss::choose(&record, cut, CrashModel::Kill, 0);
        State::new(&record, cut, &loss).read().unwrap()[Path::new("m")].clone()
    };
    let early = read(position("mapped").unwrap());
    assert_eq!((early[5000], early[1]), (7, 0));
    let end = read(position("end").unwrap());
    assert_eq!((end[5000], end[1]), (7, 7));
}

/// A container that starts while a folder is recorded has a copy of the mount, and may keep it.
#[test]
fn a_copy_of_the_mount_in_another_namespace_does_not_keep_it_busy() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("this user may not make a mount namespace");
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let mut container = None;
    let work = |folder: &Path, _: &Recorder| {
        fs::write(folder.join("a"), "a").unwrap();
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", "echo started; exec sleep 600"]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = [0; 8];
        child.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
        assert!(mounts(child.id()).contains(folder.to_str().unwrap()));
        container = Some(child);
    };
    let is_recorded = recorded(scratch.path(), work).is_some();
    let Some(mut container) = container else { return };
    let left = mounts(container.id());
    container.kill().unwrap();
    container.wait().unwrap();
    assert!(is_recorded && !left.contains(scratch.path().to_str().unwrap()), "{left}");
}

fn mounts(process: u32) -> String {
    fs::read_to_string(format!("/proc/{process}/mounts")).unwrap()
}
