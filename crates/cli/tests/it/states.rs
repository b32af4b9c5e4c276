//! Cache states: reached, proven, or said not to be.

use model::{Cache, Finding, FindingKind, Sample, record::Record};

use crate::world::{Ran, World, records};

pub(crate) fn is_root() -> bool {
    std::fs::OpenOptions::new().write(true).open("/proc/sys/vm/drop_caches").is_ok()
}

/// Other tests may drop the caches of the whole machine at any moment: a state that was not
/// reached is fine when it is said.
fn proven_or_found(record: &Record) {
    for sample in &record.samples {
        // A warm store from which nothing was fetched need not be looked at each time.
        let kept = sample.io.is_some_and(|io| io.device_read_bytes == Some(0));
        let looked = sample.before.is_some_and(|before| before.pages > 0) && sample.after.is_some();
        assert!(looked || (kept && sample.cache == Cache::Warm), "{sample:?}");
        let label = &record.header.plan.targets[sample.target].label;
        let found = record.findings.iter().any(|finding| {
            is_about_state(&finding.kind)
                && finding.target.as_ref() == Some(label)
                && finding.workload == Some(sample.workload)
                && finding.cache == Some(sample.cache)
                && finding.round == Some(sample.round)
        });
        assert!(found != record.in_state(sample), "{sample:?}");
        let names = sample.before.is_some_and(|before| before.names.is_some());
        assert_eq!(names, sample.cache == Cache::Cold, "{sample:?}");
    }
}

fn is_about_state(doubt: &FindingKind) -> bool {
    matches!(
        doubt,
        FindingKind::StateNotReached { .. }
            | FindingKind::StateFetched { .. }
            | FindingKind::StateNotFetched { .. }
    )
}

#[test]
fn every_trial_proves_its_state() {
    let world = World::new();
    let run = "run files: sqlite: pack: --keys 60 --size 5k --rounds 2 --json r.json";
    let out = world.ok(&format!("{run} --cache warm,data-cold")).out;
    assert!(
        out.contains("read, warm: ") && out.contains("read, data-cold: 60 operations"),
        "{out}"
    );
    assert!(out.contains("update, data-cold: "), "{out}");
    let record = world.record("r.json");
    assert_eq!(record.header.plan.caches, [Cache::Warm, Cache::DataCold]);
    assert_eq!(record.samples.len(), 3 * 2 * 2 * 2);
    proven_or_found(&record);
    for sample in &record.samples {
        // Steady passes go over the keys again; a store is cold only once.
        assert_eq!(sample.first_pass().is_some(), sample.cache == Cache::Warm, "{sample:?}");
    }
}

#[test]
fn a_database_that_is_longer_than_memory_is_measured_as_it_was_found() {
    let world = World::new();
    // Keys are listed from the index, which comes last: nothing has read the values.
    world.sqlite3(&[
        "long.db",
        "CREATE TABLE t (name TEXT NOT NULL, value BLOB);
         WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
         INSERT INTO t SELECT printf('key%05d', i), randomblob(5000) FROM n;
         CREATE UNIQUE INDEX names ON t (name);",
    ]);
    // What follows the last page is a hole, and no part of the database.
    let file = std::fs::OpenOptions::new().write(true).open(world.path("long.db")).unwrap();
    file.set_len(1 << 40).unwrap();
    world.ok("cache -e long.db");
    let leaves_memory = world.ok("cache long.db").out.contains("Resident Pages: 0/");
    let ran = world.ok("run long.db long.db?mmap=1GiB --rounds 2 --time 8s -v --json r.json");
    let record = world.record("r.json");
    assert_eq!(record.header.plan.caches, [Cache::AsFound]);
    assert!(ran.out.contains("read, as-found: "), "{}", ran.out);
    assert!(ran.out.contains("pages in memory when a trial started: long.db "), "{}", ran.out);
    let resident = |sample: &Sample| sample.before.unwrap().resident;
    let values = 20_000 * 5_000 / 4096;
    for sample in &record.samples {
        assert!(sample.as_found && sample.first_pass().is_none(), "{sample:?}");
        // All values were checked, and some are read in each trial. That has gone again.
        assert!(resident(sample) < values || !leaves_memory, "{sample:?}");
    }
}

#[test]
fn an_own_store_of_many_small_values_is_brought_into_memory() {
    let world = World::after(["init small.db --count 300000 --size 10"]);
    world.ok("copy small.db lmdb:small.lmdb");
    world.ok("cache -e small.lmdb");
    world.ok("run lmdb:small.lmdb small.db --rounds 2 --time 8s --json r.json");
    let record = world.record("r.json");
    assert!(!record.samples.is_empty());
    assert!(record.samples.iter().all(|sample| !sample.as_found), "{:?}", record.samples);
}

#[test]
fn an_own_store_that_stays_in_memory_as_it_came_there_is_named() {
    let world = World::after(["init own.db --count 5000 --size 10000"]);
    let named = |time| {
        let options = format!("--read --rounds 2 --time {time} --json r.json");
        world.ok(&format!("run own.db own.db?mmap=1GiB {options}"));
        let findings = world.record("r.json").findings.into_iter();
        let named = findings.filter(|finding| finding.kind == FindingKind::NotReadWhole);
        named.filter_map(|finding| finding.target).collect::<Vec<_>>()
    };
    // Reading 50 MB takes more than a twentieth of this. Another test may drop all pages meanwhile.
    assert!((0..5).any(|_| named("500ms") == ["own.db", "own.db?mmap=1GiB"]));
    assert!(named("10m").is_empty());
}

#[test]
fn the_cold_state_is_proven_or_its_lack_named() {
    let world = World::new();
    let ran = world.run("run files: pack: --read --keys 60 --rounds 2 --cache cold --json r.json");
    if is_root() {
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        proven_or_found(&world.record("r.json"));
    } else {
        assert_eq!(ran.code, Some(1));
        assert!(ran.err.contains("needs root") && ran.err.contains("data-cold"), "{}", ran.err);
    }
}

#[test]
fn without_root_other_states_are_measured_and_the_missing_one_is_named() {
    let world = World::new();
    let ran =
        as_ordinary_user(&world, "run files: --read --keys 60 --rounds 1 --cache warm,cold -v");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("read, warm: ") && !ran.out.contains("read, cold: "), "{}", ran.out);
    assert!(ran.out.contains("nothing was measured cold: "), "{}", ran.out);
    assert!(ran.out.contains("needs root") && ran.out.contains("data-cold"), "{}", ran.out);
    let ran = as_ordinary_user(&world, "run files: --read --keys 60 --rounds 1 --cache cold");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{}", ran.err);
    assert!(ran.err.contains("needs root") && ran.err.contains("data-cold"), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
}

/// mincore says of such a file that all of it is in memory.
#[test]
fn of_a_store_of_others_no_state_is_made_up() {
    let world = World::after(["init a.db --count 60 --size 5k"]);
    let ran = as_ordinary_user(&world, "run ../a.db --rounds 1 --json -");
    // An ordinary user runs in the world itself, whose files are all the same user's.
    let ran = if is_root() { ran } else { world.run("run a.db --rounds 1 --json -") };
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let record = records(&ran.out).remove(0);
    let before = record.samples[0].before.unwrap();
    let told = |finding: &Finding| matches!(finding.kind, FindingKind::StateUnproven { .. });
    assert_eq!(record.findings.iter().any(told), is_root(), "{}", ran.err);
    assert_eq!(before.unknown, if is_root() { before.pages } else { 0 }, "{before:?}");
    assert!(before.pages > 0 && (before.resident == 0 || !is_root()), "{before:?}");
}

/// Runs the binary as nobody when the tests run as root, from a place that nobody can reach.
pub(crate) fn as_ordinary_user(world: &World, line: &str) -> Ran {
    use std::os::unix::{fs::PermissionsExt, process::CommandExt};

    const NOBODY: u32 = 65_534;
    if !is_root() {
        return world.run(line);
    }
    let (binary, home) = (world.path("storemark"), world.path("home"));
    if !binary.exists() {
        // By another process: a child that a test beside this one starts would inherit the open file,
        // and no file is run that is open for writing.
        let mut copy = std::process::Command::new("cp");
        let copied = copy.arg(env!("CARGO_BIN_EXE_storemark")).arg(&binary).status().unwrap();
        assert!(copied.success());
        std::fs::create_dir(&home).unwrap();
        std::os::unix::fs::chown(&home, Some(NOBODY), Some(NOBODY)).unwrap();
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(world.path(""), open).unwrap();
    }
    let mut command = std::process::Command::new(&binary);
    command.args(line.split_whitespace()).current_dir(home).uid(NOBODY).gid(NOBODY);
    command.output().unwrap().into()
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_system_in_memory_is_never_cold_and_not_shown_as_that() {
    // Every user may write there, and it is tmpfs.
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let world = World::new();
    let run = "run files: pack: --read --keys 60 --rounds 5 --cache data-cold --verbose --scratch";
    let out = world.ok(&format!("{run} {}", folder.path().display())).words();
    assert!(out.contains("of the pages were in memory when a trial"), "{out}");
    assert!(out.contains("state not reached") && !out.contains("× faster"), "{out}");
}

#[test]
fn a_store_on_another_file_system_than_the_baseline_is_a_finding() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let world = World::after(["init here --count 60 --size 100"]);
    let there = folder.path().join("there");
    world.ok(&format!("copy here files:{}", there.display()));
    let run = format!("run here {} null: --read --rounds 1 --verbose", there.display());
    let out = world.ok(&run).words();
    assert!(out.contains("part of the difference may come from the file system or its device"));
    let place = "the store is on tmpfs (tmpfs, mounted on /dev/shm)";
    assert_eq!(out.matches(place).count(), 1, "{out}");
}

#[test]
fn what_has_no_files_is_measured_warm_only() {
    let world = World::new();
    let run = "run memory: files: --read --keys 60 --rounds 2 --cache warm,data-cold --json r.json";
    let out = world.ok(&format!("{run} --verbose")).words();
    assert!(out.contains("memory: measured as it is, never cold: it has no files"), "{out}");
    let record = world.record("r.json");
    let cold = record.samples.iter().filter(|sample| sample.cache == Cache::DataCold);
    assert!(cold.clone().count() == 2 && cold.clone().all(|sample| sample.target == 1));
}

#[test]
fn where_nothing_has_files_there_is_nothing_cold_to_measure() {
    let line = World::new().refused("run memory: null: --read --keys 60 --cache data-cold");
    assert!(line.contains("none of the targets has files"), "{line}");
}

#[test]
fn a_slip_in_a_state_is_answered_with_what_is_accepted() {
    let world = World::new();
    let line = world.refused("run files: --cache wram");
    assert!(line.contains("warm, data-cold, cold") && line.contains("warm?"), "{line}");
}

#[test]
fn the_same_bytes_written_again_are_noticed() {
    let world = World::new();
    // More keys than the pilot writes to.
    world.ok("init a.db --count 3000 --size 100");
    let update = "run a.db --update --in-place --rounds 1 --seed 5 --verbose";
    let out = world.ok(&format!("{update} --cache data-cold")).out;
    assert!(!out.contains("already held"), "{out}");
    let out = world.ok(&format!("{update} --cache data-cold")).words();
    assert!(out.contains("of the values looked at already held what was to be written"), "{out}");
}

#[test]
fn strict_fails_on_a_finding_above_a_note() {
    let world = World::new();
    // One round is a warning by itself.
    let ran = world.run("run files: pack: --read --keys 20 --rounds 1 --strict");
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.out.contains("read, warm") && ran.err.contains("--strict"), "{}", ran.err);
}
