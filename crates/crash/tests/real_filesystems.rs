//! Compares the models with real file systems: the same work is done in a recorded folder, and on ext4,
//! XFS and btrfs in an image that is in a recorded folder. The power is cut under the image, the file
//! system is mounted again, and what is in it has to be a state of the models.
//!
//! As root: `cargo test -p storemark-crash --test real_filesystems -- --ignored --nocapture`.
//! `STATES` sets how many states of each file system are compared.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests")]

use std::{
    collections::BTreeMap,
    env,
    fs::{self, File},
    io::Write,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::Command,
};

use model::CrashModel;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use storemark_crash::{Loss, Operation, Record, Recorder, State};

/// What is in a folder: the content of each file.
type Found = BTreeMap<PathBuf, Vec<u8>>;

/// How often a state of `strict` is looked for, because it is in no other model.
const SEEDS: u64 = 400;
const FILES: [&str; 4] = ["a", "b", "dir/c", "dir/d"];

fn run(program: &str, arguments: &[&Path]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A step of the work. The same number gives the same step.
fn step(folder: &Path, random: &mut Xoshiro256PlusPlus, number: u8) {
    let mut below = |limit: u64| random.next_u64() % limit;
    let file = folder.join(FILES[below(4) as usize]);
    let other = folder.join(FILES[below(4) as usize]);
    let open = |path: &Path| File::options().create(true).truncate(false).write(true).open(path);
    match below(9) {
        0..3 => {
            let (block, blocks) = (below(4), 1 + below(3));
            let bytes = vec![b'a' + number % 26; (blocks * 4096) as usize];
            open(&file).unwrap().write_all_at(&bytes, block * 4096).unwrap();
        }
        3 => File::options()
            .create(true)
            .append(true)
            .open(&file)
            .unwrap()
            .write_all(&[b'0'; 700])
            .unwrap(),
        4 => drop(fs::rename(&file, &other)),
        5 => drop(fs::remove_file(&file)),
        6 => open(&file).unwrap().set_len(below(3) * 4096).unwrap(),
        7 => {
            let file = open(&file).unwrap();
            if below(2) == 0 { file.sync_all().unwrap() } else { file.sync_data().unwrap() }
        }
        _ => {
            let folder = if below(2) == 0 { folder.to_owned() } else { folder.join("dir") };
            File::open(folder).unwrap().sync_all().unwrap();
        }
    }
}

/// Does the work in `folder`, and calls `done` after each step. `flush` lets the system write at times
/// what was not flushed.
fn work(folder: &Path, seed: u64, steps: u8, recorder: &Recorder, is_real: bool) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut own = Xoshiro256PlusPlus::seed_from_u64(seed + 1);
    fs::create_dir(folder.join("dir")).unwrap();
    run("sync", &["-f".as_ref(), folder]);
    if is_real {
        run("sync", &["-f".as_ref(), recorder.folder()]);
    }
    recorder.set_prepared();
    for number in 0..steps {
        step(folder, &mut random, number);
        recorder.acknowledge(&number.to_string());
        if is_real && own.next_u64() % 4 == 0 {
            run("sync", &["-f".as_ref(), folder]);
        }
    }
}

/// An image on a loop device, mounted; both end with it.
struct Mounted {
    device: PathBuf,
    point: PathBuf,
}

impl Mounted {
    fn new(image: &Path, point: &Path, kind: &str) -> Option<Self> {
        let device = PathBuf::from(run("losetup", &["--find".as_ref(), "--show".as_ref(), image]));
        let mounted = Self { device, point: point.to_owned() };
        // Images of one file system have one identity.
        let options = if kind == "xfs" { "nouuid" } else { "rw" };
        let mut mount = Command::new("mount");
        mount.args(["-t", kind, "-o", options]).arg(&mounted.device).arg(point);
        mount.status().unwrap().success().then_some(mounted)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ =
            Command::new("umount").arg(&self.point).stderr(std::process::Stdio::null()).status();
        let _ = Command::new("losetup").arg("-d").arg(&self.device).status();
    }
}

fn list(folder: &Path, below: &Path, found: &mut Found) {
    for entry in fs::read_dir(folder).unwrap() {
        let (name, kind) =
            entry.map(|entry| (entry.file_name(), entry.file_type().unwrap())).unwrap();
        let (path, shown) = (folder.join(&name), below.join(&name));
        if name == "lost+found" {
            continue;
        }
        if kind.is_dir() {
            found.insert(shown.clone(), Vec::new());
            list(&path, &shown, found);
        } else {
            found.insert(shown, fs::read(&path).unwrap());
        }
    }
}

/// Returns the cuts at which `acknowledged` steps, no more, were done.
fn cuts(record: &Record, acknowledged: usize) -> std::ops::RangeInclusive<usize> {
    let steps = record.operations().iter().enumerate();
    let steps = steps.filter(|(_, operation)| matches!(operation, Operation::Acknowledge { .. }));
    let ends: Vec<_> = steps.map(|(number, _)| number).collect();
    let start = acknowledged.checked_sub(1).map_or(record.prepared(), |last| ends[last] + 1);
    start..=ends.get(acknowledged).copied().unwrap_or(record.operations().len())
}

/// Returns whether the model can leave what was found.
fn is_modelled(record: &Record, acknowledged: usize, found: &Found) -> bool {
    cuts(record, acknowledged).any(|cut| record.reaches(cut, found).unwrap())
}

/// Returns whether `strict` can leave what was found, as far as random choices find it.
fn is_strict(record: &Record, acknowledged: usize, found: &Found) -> bool {
    cuts(record, acknowledged).any(|cut| {
        (0..SEEDS).any(|seed| {
            let loss = Loss::choose(record, cut, CrashModel::Strict, seed);
            State::new(record, cut, &loss).read().unwrap() == *found
        })
    })
}

#[derive(Debug, Default)]
struct Counts {
    states: u32,
    modelled: u32,
    strict: u32,
    unmounted: u32,
}

/// Prints what was found, and the operations until then.
fn show(kind: &str, seed: u64, acknowledged: usize, found: &Found, record: &Record) {
    let block = |block: &[u8]| if block[0] == 0 { '.' } else { block[0] as char };
    let file = |(path, bytes): (&PathBuf, &Vec<u8>)| {
        let blocks: String = bytes.chunks(4096).map(block).collect();
        format!("{} {} {blocks}", path.display(), bytes.len())
    };
    let files: Vec<_> = found.iter().map(file).collect();
    eprintln!("{kind}: seed {seed}, after step {acknowledged}: {files:?}");
    for (number, operation) in record.operations().iter().enumerate() {
        if number <= *cuts(record, acknowledged).end()
            && !matches!(operation, Operation::Acknowledge { .. })
        {
            eprintln!("   {number} {}", record.describe(number));
        }
    }
}

fn compare(kind: &str, wanted: u32) -> Counts {
    let mut counts = Counts::default();
    let mut unexplained = 0;
    for seed in 0.. {
        if counts.states >= wanted {
            break;
        }
        let scratch = tempfile::tempdir().unwrap();
        let [plain, real] = ["plain", "real"].map(|name| scratch.path().join(name));
        fs::create_dir(&plain).unwrap();
        fs::create_dir(&real).unwrap();
        let steps = 14;
        let recorder = Recorder::mount(&plain, None).unwrap();
        work(recorder.folder(), seed, steps, &recorder, false);
        let (modelled, _) = recorder.finish().unwrap();

        let recorder = Recorder::mount(&real, None).unwrap();
        let image = recorder.folder().join("image");
        File::create(&image).unwrap().set_len(320 << 20).unwrap();
        // Blocks as those of a larger file system.
        let options: &[&str] = if kind == "ext4" { &["-q", "-b", "4096"] } else { &["-q"] };
        let options: Vec<_> = options.iter().map(Path::new).chain([&*image]).collect();
        run(&format!("mkfs.{kind}"), &options);
        let point = scratch.path().join("point");
        fs::create_dir(&point).unwrap();
        let mounted = Mounted::new(&image, &point, kind).unwrap();
        work(&point, seed, steps, &recorder, true);
        drop(mounted);
        let (record, _) = recorder.finish().unwrap();

        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed + 7);
        let end = cuts(&record, usize::from(steps)).start().to_owned();
        for _ in 0..25 {
            let first = record.prepared();
            let cut = first + (random.next_u64() % (end - first + 1) as u64) as usize;
            let model =
                if random.next_u64() % 4 == 0 { CrashModel::Kill } else { CrashModel::Ordered };
            let loss = Loss::choose(&record, cut, model, random.next_u64());
            let state = scratch.path().join("state");
            State::new(&record, cut, &loss).write(&state).unwrap();
            counts.states += 1;
            let found = Mounted::new(&state.join("image"), &point, kind).map(|mounted| {
                let mut found = Found::new();
                list(&mounted.point, Path::new(""), &mut found);
                found
            });
            fs::remove_dir_all(&state).unwrap();
            let Some(found) = found else {
                counts.unmounted += 1;
                continue;
            };
            let acknowledged = record.acknowledged(cut).count();
            if is_modelled(&modelled, acknowledged, &found) {
                counts.modelled += 1;
            } else if is_strict(&modelled, acknowledged, &found) {
                counts.strict += 1;
                show(kind, seed, acknowledged, &found, &modelled);
            } else {
                unexplained += 1;
                show(kind, seed, acknowledged, &found, &modelled);
            }
        }
    }
    eprintln!("{kind}: {counts:?}, in no model: {unexplained}");
    counts
}

#[test]
#[ignore = "takes minutes, and root"]
fn real_file_systems_stay_in_the_models() {
    let wanted = env::var("STATES").map_or(200, |states| states.parse().unwrap());
    let kinds = env::var("KINDS").unwrap_or("ext4 xfs btrfs".to_owned());
    for kind in kinds.split(' ') {
        let counts = compare(kind, wanted);
        assert_eq!((counts.modelled, counts.unmounted), (counts.states, 0), "{kind}");
    }
}
