//! Stores that age, seen by an engine that writes everything down.

use lab::{AgeRequest, Recorder, Request, ResolvedTarget, Silent, Stop};
use model::{
    Blobs, Cache, Durability, ErrorKind, FindingKind, Generated, Operation, Result, Rounds,
    record::{Ended, Record},
};
use tempfile::TempDir;

use crate::{
    run::spy,
    spy::{Event, Habits, RecordingEngine, Watching},
};

const SPEC: Generated =
    Generated { seed: 1, count: 20, size: 1000, variance: 500, random_percent: 100 };

fn spied(label: &str, spy: &'static RecordingEngine) -> ResolvedTarget<dyn Blobs> {
    ResolvedTarget::scratch(label, Box::leak(Box::new(Watching(spy))) as &dyn Blobs)
}

fn aged(
    targets: Vec<ResolvedTarget<dyn Blobs>>,
    data: Generated,
    rounds: u32,
) -> Result<(Record, Ended)> {
    // On a disk: what is in a file system in memory cannot be evicted.
    let scratch = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let part = AgeRequest {
        targets,
        data,
        ages: vec![0, 2, 3],
        caches: vec![Cache::DataCold, Cache::Warm],
    };
    let rounds = Rounds { min: 1, ..Rounds::exactly(rounds, 60.0) };
    let request = Request {
        durability: Some(Durability::None),
        scratch: Some(scratch.path().to_owned()),
        ..Request::new(part, rounds, data.seed)
    };
    let mut recorder = Recorder::new(None);
    let outcome = lab::measure(&request, &mut recorder, &Silent, &Stop::new());
    let left = std::fs::read_dir(scratch.path()).unwrap().count();
    assert_eq!(left, 0, "scratch stores are removed");
    outcome.map(|outcome| (recorder.record().unwrap().clone(), outcome.ended))
}

#[test]
fn every_target_lives_the_same_life() {
    let spies = [spy(Habits::default()), spy(Habits::default())];
    let (record, ended) = aged(vec![spied("a", spies[0]), spied("b", spies[1])], SPEC, 2).unwrap();
    assert_eq!(ended, Ended::Rounds);
    let ages: Vec<_> = record
        .header
        .plan
        .workloads
        .iter()
        .map(|w| (w.work.operation().unwrap(), w.work.age().unwrap()))
        .collect();
    let (fill, read, replace) = (Operation::Insert, Operation::Read, Operation::Update);
    assert_eq!(ages, [(fill, 0), (read, 0), (replace, 2), (read, 2), (replace, 3), (read, 3)]);
    // Each workload once for each target and round; reads in both states.
    assert_eq!(record.samples.len(), 2 * 2 * (3 + 3 * 2));
    let told = |target: usize| {
        let of = record.samples.iter().filter(move |sample| sample.target == target);
        let mut told: Vec<_> =
            of.map(|s| (s.round, s.workload, s.cache, s.operations, s.bytes)).collect();
        told.sort_unstable();
        told
    };
    assert_eq!(told(0), told(1));
    let rounds = [0, 1].map(|round| {
        record.samples.iter().filter(|s| s.round == round).map(|s| s.bytes).sum::<u64>()
    });
    assert_ne!(rounds[0], rounds[1], "each round draws a life of its own");
    for spy in spies {
        let same =
            spy.events().iter().filter(|e| matches!(e, Event::Put { same: true, .. })).count();
        assert_eq!(same, 0, "no object is replaced by itself");
    }
}

#[test]
fn the_store_lies_where_its_files_do_and_is_as_large() {
    let (record, _) = aged(vec![spied("a", spy(Habits::default()))], SPEC, 1).unwrap();
    for sample in &record.samples {
        let writes = record.header.plan.workloads[sample.workload].work.writes();
        assert_eq!((sample.files().is_some(), sample.fragments().is_some()), (writes, writes));
        if let (Some(files), Some(lies)) = (sample.files(), sample.fragments()) {
            // The spy keeps a byte for each value.
            assert_eq!((files.apparent, lies.files, lies.objects), (20, 20, 20));
            assert!((10_000..=30_000).contains(&lies.bytes), "{lies:?}");
            assert!(lies.extents.is_none_or(|pieces| pieces == 20), "{lies:?}");
            assert_eq!(lies.per_object(), None, "it tells nothing of its arrangement");
        }
    }
    let silent = record.samples.iter().any(|s| s.fragments().is_some_and(|f| f.extents.is_none()));
    let found =
        record.findings.iter().any(|f| matches!(f.kind, FindingKind::ExtentsUnknown { .. }));
    assert_eq!(silent, found);
}

#[test]
fn writes_take_their_bytes_from_the_pool() {
    let spy = spy(Habits::default());
    aged(vec![spied("a", spy)], SPEC, 1).unwrap();
    let addresses: Vec<usize> = spy
        .events()
        .iter()
        .filter_map(|event| match event {
            Event::Put { address, .. } => Some(*address),
            _ => None,
        })
        .collect();
    let (least, most) = (addresses.iter().min().unwrap(), addresses.iter().max().unwrap());
    // Slices of one pool of eight mebibytes.
    assert!(addresses.len() >= 50 && most - least <= (8 << 20) + 1500, "{}", most - least);
}

#[test]
fn a_lost_value_ends_the_life_of_its_store_only() {
    let bad = spy(Habits { lost: 1, ..Habits::default() });
    let good = spy(Habits::default());
    let (record, ended) = aged(vec![spied("good", good), spied("bad", bad)], SPEC, 1).unwrap();
    assert_eq!(ended, Ended::Rounds);
    let failed = record.findings.iter().find_map(|f| match &f.kind {
        FindingKind::TrialFailed { why } => Some((f.target.clone().unwrap(), why.clone())),
        _ => None,
    });
    let (target, why) = failed.unwrap();
    assert_eq!(target, "bad");
    assert!(why.contains(" 7"), "{why}");
    assert_eq!(record.samples.iter().filter(|s| s.target == 0).count(), 9);
    // What was measured before stays.
    assert!(record.samples.iter().any(|s| s.target == 1));
}

#[test]
fn what_is_kept_in_memory_is_read_warm_only_and_lies_nowhere() {
    let memory = engines::registry::blobs("memory").unwrap();
    let (record, _) = aged(vec![ResolvedTarget::scratch("memory", memory)], SPEC, 1).unwrap();
    assert_eq!(record.samples.len(), 6);
    assert!(record.samples.iter().all(|s| s.cache == Cache::Warm && s.fragments().is_none()));
}

#[test]
fn more_than_the_disk_holds_is_refused_with_both_figures() {
    let huge = Generated { count: 1 << 40, size: 100_000, ..SPEC };
    let error = aged(vec![spied("a", spy(Habits::default()))], huge, 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    let said = error.to_string();
    assert!(said.contains("110 PB") && said.contains(" free"), "{said}");
}
