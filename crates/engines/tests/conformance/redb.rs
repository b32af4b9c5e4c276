//! What only redb does: one process alone unless it is told otherwise, commits that stay in memory,
//! and a repair after a killed writer.

use std::fs;

use model::{Access, Durability, ErrorKind, KeyKind};
use storemark_engines::registry;

use crate::{
    case::{Case, Ease, OwnedKey, Place, checked},
    neighbour::Neighbour,
};

fn case(pairs: &[(&str, &str)]) -> Case {
    let engine = registry::blobs("redb").unwrap();
    Case { engine, keys: KeyKind::Integers, settings: checked(engine, pairs) }
}

#[test]
fn beside_a_process_that_writes_it_is_refused() {
    let place = Place::new();
    case(&[]).made(&place.path, 20);
    let neighbour = Neighbour::with(&case(&[]), &place.path);
    for access in [Access::Read, Access::Write] {
        let error = case(&[]).open(&place.path, access).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Usage);
        let says = error.to_string();
        assert!(says.contains("is open elsewhere") && says.contains("share=writers"), "{says}");
    }
    drop(neighbour);
    assert!(case(&[]).open(&place.path, Access::Write).is_ok());
}

#[test]
fn shared_by_all_it_is_written_beside_another_process() {
    let place = Place::new();
    let shared = case(&[("share", "writers")]);
    case(&[("share", "writers")]).made(&place.path, 20);
    let mut neighbour = Neighbour::with(&shared, &place.path);
    let store = shared.engine.join(&place.path, &shared.options(Access::Write)).unwrap();
    let mut session = store.session().unwrap();
    assert_eq!(session.value(&OwnedKey::Int(0)).unwrap(), b"neighbour");
    session.write(&OwnedKey::Int(21), b"beside it");
    assert_eq!(session.items().len(), 22);
    neighbour.is_waited_for(&*store);
}

#[test]
fn several_read_at_once() {
    let place = Place::new();
    case(&[]).made(&place.path, 20);
    let [one, other] = [(); 2].map(|()| case(&[]).open(&place.path, Access::Read).unwrap());
    assert_eq!(one.session().unwrap().items(), other.session().unwrap().items());
}

#[test]
fn commits_in_memory_and_several_processes_exclude_each_other() {
    for share in ["readers", "writers"] {
        let place = Place::new();
        let error = case(&[("sync", "deferred"), ("share", share)]).create(&place.path);
        assert_eq!(error.err().unwrap().kind(), ErrorKind::Usage);
        assert!(!place.path.exists());
    }
}

/// What a killed process would leave: the file as it is now.
fn left(place: &Place) -> Vec<u8> {
    let copy = place.dir.path().join("copy");
    fs::copy(&place.path, &copy).unwrap();
    let store = case(&[]).open(&copy, Access::Write).unwrap();
    store.session().unwrap().value(&OwnedKey::Int(1)).unwrap()
}

#[test]
fn a_deferred_commit_is_in_the_file_once_it_is_settled() {
    let place = Place::new();
    case(&[]).made(&place.path, 20);
    let case = case(&[("sync", "deferred")]);
    let store = case.open(&place.path, Access::Write).unwrap();
    let before = store.session().unwrap().value(&OwnedKey::Int(1)).unwrap();
    store.session().unwrap().write(&OwnedKey::Int(1), b"new");
    assert_eq!(left(&place), before);
    store.flush_writes().unwrap();
    assert_eq!(left(&place), b"new");
}

#[test]
fn other_commits_are_in_the_file_at_once() {
    for class in [Durability::None, Durability::Durable] {
        let place = Place::new();
        case(&[]).made(&place.path, 20);
        let case = case(case(&[]).engine.durability_settings(class).unwrap().settings);
        let store = case.open(&place.path, Access::Write).unwrap();
        store.session().unwrap().write(&OwnedKey::Int(1), b"new");
        assert_eq!(left(&place), b"new", "{class}");
    }
}

#[test]
fn after_a_killed_writer_it_is_repaired_before_it_is_read() {
    let place = Place::new();
    case(&[]).made(&place.path, 20);
    let copy = place.dir.path().join("copy");
    let store = case(&[]).open(&place.path, Access::Write).unwrap();
    store.session().unwrap().write(&OwnedKey::Int(21), b"last");
    fs::copy(&place.path, &copy).unwrap();
    let settings = case(&[]).settings;
    let why = case(&[]).engine.reading_changes(&copy, &settings).unwrap();
    assert!(why.contains("was killed"), "{why}");
    let error = case(&[]).open(&copy, Access::Read).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("opening it once to write repairs it"), "{error}");
    case(&[]).open(&copy, Access::Write).unwrap().close().unwrap();
    assert_eq!(case(&[]).engine.reading_changes(&copy, &settings), None);
    let store = case(&[]).open(&copy, Access::Read).unwrap();
    assert_eq!(store.session().unwrap().items().len(), 21);
}

#[test]
fn a_file_cut_short_or_of_another_kind_is_refused_and_stays() {
    let place = Place::new();
    case(&[]).made(&place.path, 20);
    let good = fs::read(&place.path).unwrap();
    for length in [0, 5, 100, 4096, good.len() / 2] {
        fs::write(&place.path, &good[..length]).unwrap();
        for access in [Access::Read, Access::Write] {
            let error = case(&[]).open(&place.path, access).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            assert_eq!(fs::read(&place.path).unwrap().len(), length, "{error}");
        }
    }
}
