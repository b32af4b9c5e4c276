//! Equal memory: the same cache for each engine, and a limit on everything where the system lets
//! this user set one; elsewhere it is said that there is none.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Child,
};

use model::{Cache, FindingKind, record::Record};

use crate::{
    running::{SAMPLE, signal, within},
    servers::{self, without},
    states::{as_ordinary_user, is_root},
    world::World,
};

/// A limit is in force and read back, or its lack is named; never both. Returns it.
fn limit(record: &Record) -> Option<u64> {
    let memory = record.header.plan.memory.expect("memory was asked for");
    let unlimited = record
        .findings
        .iter()
        .any(|finding| matches!(finding.kind, FindingKind::MemoryNotLimited { .. }));
    assert!(unlimited == memory.limit_bytes.is_none(), "{memory:?}");
    assert_eq!(memory.cache_bytes, memory.bytes / 2);
    let state = if unlimited { Cache::Warm } else { Cache::Limited };
    assert_eq!(record.header.plan.caches[0], state);
    memory.limit_bytes
}

#[test]
fn more_data_than_memory_is_measured_with_the_proof() {
    let world = World::new();
    let run = "run files: sqlite: pack: --keys 3000 --size 20k --memory 24MiB --rounds 1";
    let ran = world.ok(&format!("{run} --json r.json --explain -v"));
    let (out, words) = (&ran.out, ran.words());
    let record = world.record("r.json");
    let Some(limit) = limit(&record) else {
        assert!(out.contains("memory is not limited: "), "{out}");
        return;
    };
    assert_eq!(limit, 24 << 20);
    assert!(out.contains("read, limited: ") && out.contains("update, limited: "), "{out}");
    assert!(words.contains("pages in memory when a trial started: files "), "{out}");
    for sample in &record.samples {
        let before = sample.before.unwrap();
        assert!(before.pages * 4096 > 2 * limit, "{before:?}");
        let found = record.findings.iter().any(|finding| {
            matches!(finding.kind, FindingKind::StateNotReached { .. })
                && finding.round == Some(sample.round)
                && finding.workload == Some(sample.workload)
        });
        // Other tests that read nothing of this store cannot keep its pages in memory.
        assert!(!found && before.resident * 4096 <= limit, "{before:?}");
        assert!(record.in_state(sample) && sample.first_pass().is_some(), "{sample:?}");
        let fetched = sample.io.and_then(|io| io.device_read_bytes);
        let reads = sample.workload == 0;
        assert!(!reads || fetched.is_none_or(|fetched| fetched > sample.bytes / 4), "{sample:?}");
    }
}

#[test]
fn each_engine_has_the_same_cache_of_its_own() {
    let world = World::new();
    let run = "run files: sqlite: sqlite:?cache=1MiB sqlite:?cache_pages=100 --keys 50 --read";
    let out = world.ok(&format!("{run} --memory 64MiB --threads 4 --rounds 1 --json r.json")).out;
    let record = world.record("r.json");
    let cache = |target: usize| record.stores[target].in_effect.get("cache").map(str::to_owned);
    assert_eq!(cache(0), None);
    // Each of its four connections has one.
    assert_eq!(cache(1), Some((8 << 20).to_string()));
    assert_eq!(cache(2), Some((1 << 20).to_string()));
    let kept = record.findings.iter().filter(|finding| finding.kind == FindingKind::CacheKept);
    let kept: Vec<_> = kept.filter_map(|finding| finding.target.as_deref()).collect();
    assert_eq!(kept, ["sqlite cache=1MiB", "sqlite cache_pages=100"], "{out}");
    let differs = |finding: &model::Finding| {
        matches!(
            finding.kind,
            FindingKind::SettingNotInEffect { .. } | FindingKind::MemoryDiffers { .. }
        )
    };
    assert!(limit(&record).is_none() || !record.findings.iter().any(differs), "{out}");
}

#[test]
fn processes_share_the_limit() {
    let world = World::new();
    let run = "run files: sqlite: --keys 2000 --size 20k --read --memory 30MiB --processes 2";
    world.ok(&format!("{run} --rounds 1 --json r.json"));
    let record = world.record("r.json");
    let sqlite = record.stores[1].in_effect.get("cache").map(str::to_owned);
    assert_eq!(sqlite, Some((15 << 19).to_string()));
    assert!(limit(&record).is_none() || record.samples.iter().all(|s| record.in_state(s)));
}

#[test]
fn an_ordinary_user_is_told_that_there_is_no_limit() {
    if !is_root() {
        return more_data_than_memory_is_measured_with_the_proof();
    }
    let world = World::new();
    let run = "run files: sqlite: --keys 50 --read --memory 64MiB --rounds 1 --json r.json -v";
    let ran = as_ordinary_user(&world, run);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("memory is not limited: "), "{}", ran.out);
    assert!(ran.out.contains("only the engines' own caches are equal"), "{}", ran.out);
    assert_eq!(limit(&world.record("home/r.json")), None);
}

#[test]
fn a_limit_too_small_to_work_in_is_refused() {
    let world = World::new();
    let line = world.refused("run files: --keys 20 --memory 5MiB");
    assert!(line.contains("--memory 5.24 MB is too little to work in"), "{line}");
    let line = world.refused("run files: --keys 2 --size 50M --memory 64MiB");
    assert!(line.contains("is too little to work in"), "{line}");
    for wrong in ["--memory 0", "--memory x", "--memory=-5", "--memory 64MiB --cache-size 5"] {
        world.refused(&format!("run files: sqlite: --keys 20 {wrong}"));
    }
}

#[test]
fn a_target_that_needs_more_than_the_limit_is_named_and_the_others_are_measured() {
    if without("mariadb") {
        return;
    }
    let world = servers::world();
    let run = "run files: mariadb: --update --keys 100 --memory 36MiB --rounds 1 --json r.json";
    let ran = world.run(run);
    let record = world.record("r.json");
    if limit(&record).is_none() {
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        return;
    }
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("storemark: mariadb not measured to the end"), "{}", ran.err);
    let words = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("! mariadb: not measured: --memory 37.7 MB is too little"), "{words}");
    assert!(!record.samples.is_empty() && record.samples.iter().all(|s| s.target == 0));
}

/// Folders of control groups that the process `id` has made.
fn groups(id: u32) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let prefix = format!("storemark-memory-{id}-");
    let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let ours = entry.file_name().to_string_lossy().starts_with(&prefix);
                if ours { found.push(entry.path()) } else { folders.push(entry.path()) }
            }
        }
    }
    found
}

/// A long run under a limit; whether there is one.
fn under_way(world: &World) -> (Child, bool) {
    let run = "run files: --keys 200 --size 10k --read --memory 64MiB --rounds 100000";
    let line = format!("{run} --processes 2 --json r.json");
    let child = world.under_way(&line, "r.json", SAMPLE, 1);
    let limited = world.count("r.json", "memory-not-limited") == 0;
    assert_eq!(groups(child.id()).len(), usize::from(limited));
    (child, limited)
}

#[test]
fn a_group_goes_with_its_run_however_that_ends() {
    let world = World::new();
    let (mut child, limited) = under_way(&world);
    if limited {
        let folder = groups(child.id()).remove(0);
        let inside = fs::read_to_string(folder.join("cgroup.procs")).unwrap();
        assert_eq!(inside.lines().count(), 3, "itself and its two workers");
    }
    signal(child.id(), "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(groups(child.id()), [] as [&Path; 0]);

    fs::remove_file(world.path("r.json")).unwrap();
    let (mut child, _) = under_way(&world);
    signal(child.id(), "KILL");
    child.wait().unwrap();
    // Its workers end by themselves; until then the group stays.
    let removed = within(20, || groups(child.id()).is_empty());
    assert!(removed, "the group of a killed run was not removed");
}
