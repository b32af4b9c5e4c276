//! What only redb does: one process alone unless it is told otherwise, commits that stay in memory,
//! and a repair after a killed writer.

use std::fs;

use model::{Access, Batch, Durability, ErrorKind, KeyKind};
use storemark_engines::registry;

use crate::{
    case::{Case, Ease, OwnedKey, StoreFolder, checked},
    neighbour::Neighbour,
};

fn case(pairs: &[(&str, &str)]) -> Case {
    let engine = registry::blobs("redb").unwrap();
    Case::new(engine, KeyKind::Integers, checked(engine, pairs))
}

#[test]
fn beside_a_process_that_writes_it_is_refused() {
    let place = StoreFolder::new().unwrap();
    case(&[]).create_filled(&place.path, 20).unwrap();
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
    let place = StoreFolder::new().unwrap();
    let shared = case(&[("share", "writers")]);
    case(&[("share", "writers")]).create_filled(&place.path, 20).unwrap();
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
    let place = StoreFolder::new().unwrap();
    case(&[]).create_filled(&place.path, 20).unwrap();
    let [one, other] = [(); 2].map(|()| case(&[]).open(&place.path, Access::Read).unwrap());
    assert_eq!(one.session().unwrap().items(), other.session().unwrap().items());
}

#[test]
fn commits_in_memory_and_several_processes_exclude_each_other() {
    for share in ["readers", "writers"] {
        let place = StoreFolder::new().unwrap();
        let error = case(&[("sync", "deferred"), ("share", share)]).create(&place.path);
        assert_eq!(error.err().unwrap().kind(), ErrorKind::Usage);
        assert!(!place.path.exists());
    }
}

/// What a killed process would leave: the file as it is now.
fn left(place: &StoreFolder) -> Vec<u8> {
    let copy = place.folder.join("copy");
    fs::copy(&place.path, &copy).unwrap();
    let store = case(&[]).open(&copy, Access::Write).unwrap();
    store.session().unwrap().value(&OwnedKey::Int(1)).unwrap()
}

#[test]
fn a_deferred_commit_is_in_the_file_once_it_is_settled() {
    let place = StoreFolder::new().unwrap();
    case(&[]).create_filled(&place.path, 20).unwrap();
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
        let place = StoreFolder::new().unwrap();
        case(&[]).create_filled(&place.path, 20).unwrap();
        let case = case(case(&[]).engine.durability_settings(class).unwrap().settings);
        let store = case.open(&place.path, Access::Write).unwrap();
        store.session().unwrap().write(&OwnedKey::Int(1), b"new");
        assert_eq!(left(&place), b"new", "{class}");
    }
}

#[test]
fn after_a_killed_writer_it_is_repaired_before_it_is_read() {
    let place = StoreFolder::new().unwrap();
    case(&[]).create_filled(&place.path, 20).unwrap();
    let copy = place.folder.join("copy");
    let store = case(&[]).open(&place.path, Access::Write).unwrap();
    store.session().unwrap().write(&OwnedKey::Int(21), b"last");
    fs::copy(&place.path, &copy).unwrap();
    let settings = case(&[]).settings;
    let why = case(&[]).engine.reading_changes(&copy, &settings, Batch::All).unwrap();
    assert!(why.contains("was killed"), "{why}");
    let error = case(&[]).open(&copy, Access::Read).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("opening it once to write repairs it"), "{error}");
    case(&[]).open(&copy, Access::Write).unwrap().close().unwrap();
    assert_eq!(case(&[]).engine.reading_changes(&copy, &settings, Batch::All), None);
    let store = case(&[]).open(&copy, Access::Read).unwrap();
    assert_eq!(store.session().unwrap().items().len(), 21);
}

#[test]
fn a_file_cut_short_or_of_another_kind_is_refused_and_stays() {
    let place = StoreFolder::new().unwrap();
    case(&[]).create_filled(&place.path, 20).unwrap();
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

/// Makes a database of another program with this table.
fn foreign<K: redb::Key + 'static, V: redb::Value + 'static>(
    path: &std::path::Path,
    name: &str,
    items: &[(K::SelfType<'_>, V::SelfType<'_>)],
) {
    let database = redb::Database::create(path).unwrap();
    let txn = database.begin_write().unwrap();
    let mut table = txn.open_table(redb::TableDefinition::<K, V>::new(name)).unwrap();
    for (key, value) in items {
        table.insert(key, value).unwrap();
    }
    drop(table);
    txn.commit().unwrap();
}

#[test]
fn a_table_of_another_program_is_read_by_its_own_types() {
    let place = StoreFolder::new().unwrap();
    foreign::<u64, &str>(&place.path, "u64", &[(7, "seven"), (3, "three"), (1 << 40, "large")]);
    foreign::<u32, &[u8]>(&place.path, "u32", &[(7, b"seven"), (u32::MAX, b"last")]);
    foreign::<i32, String>(&place.path, "i32", &[(-7, "seven".to_owned()), (7, String::new())]);
    foreign::<i64, &[u8]>(&place.path, "i64", &[(i64::MIN, b"least"), (0, b"")]);
    foreign::<&str, &[u8]>(&place.path, "texts", &[("b", b"2"), ("a/b", b"1"), ("", b"0")]);
    foreign::<&[u8], &str>(&place.path, "bytes", &[(b"\xFF", "2"), (b"", "1")]);
    foreign::<String, String>(&place.path, "strings", &[("k".to_owned(), "v".to_owned())]);
    let before = place.snapshot().unwrap();
    let read = |name: &str| {
        let store = case(&[("table", name)]).open(&place.path, Access::Read).unwrap();
        assert_eq!(store.in_effect().unwrap().0.get("table"), Some(name));
        let mut session = store.session().unwrap();
        let items = session.items();
        for (key, value) in &items {
            assert_eq!(session.value(key).as_ref(), Some(value), "{name}");
            assert!(session.items_from(key, 1)[0] == (key.clone(), value.clone()), "{name}");
            let put = session.put(key.as_key(), b"no", &model::Put::default());
            assert!(put.unwrap_err().to_string().contains("another program"), "{name}");
        }
        assert!(items.is_sorted_by_key(|(key, _)| key.clone()), "{name}");
        items
    };
    let integer = |key, value: &[u8]| (OwnedKey::Int(key), value.to_vec());
    assert_eq!(
        read("u64"),
        [integer(3, b"three"), integer(7, b"seven"), integer(1 << 40, b"large")]
    );
    assert_eq!(read("u32"), [integer(7, b"seven"), integer(u32::MAX.into(), b"last")]);
    assert_eq!(read("i32"), [integer(-7, b"seven"), integer(7, b"")]);
    assert_eq!(read("i64"), [integer(i64::MIN, b"least"), integer(0, b"")]);
    let name = |key: &[u8], value: &[u8]| (OwnedKey::Name(key.into()), value.to_vec());
    assert_eq!(read("texts"), [name(b"", b"0"), name(b"a/b", b"1"), name(b"b", b"2")]);
    assert_eq!(read("bytes"), [name(b"", b"1"), name(b"\xFF", b"2")]);
    assert_eq!(read("strings"), [name(b"k", b"v")]);
    // Keys that the type does not have.
    let store = case(&[("table", "u32")]).open(&place.path, Access::Read).unwrap();
    let mut session = store.session().unwrap();
    for absent in [-1, i64::MIN, 1 << 32, i64::MAX] {
        assert_eq!(session.value(&OwnedKey::Int(absent)), None);
    }
    assert_eq!(session.items_from(&OwnedKey::Int(-1), 9).len(), 2);
    assert_eq!(session.items_from(&OwnedKey::Int(1 << 32), 9).len(), 0);
    drop(session);
    drop(store);
    let several =
        registry::blobs("redb").unwrap().find_values(&place.path, &model::Settings::default());
    let said = several.unwrap_err().to_string();
    assert!(said.contains("7 of its parts") && said.contains("?table=texts' (3 values)"), "{said}");
    assert_eq!(place.snapshot().unwrap(), before);
}

#[test]
fn the_only_table_is_found_and_types_that_are_not_read_are_named() {
    let place = StoreFolder::new().unwrap();
    foreign::<&str, &[u8]>(&place.path, "photos", &[("a", b"1")]);
    let engine = registry::blobs("redb").unwrap();
    let found = engine.find_values(&place.path, &model::Settings::default()).unwrap().unwrap();
    assert_eq!(found.settings.get("table"), Some("photos"));
    let refused = |name: &str| {
        let opened = case(&[("table", name)]).open(&place.path, Access::Read);
        opened.err().unwrap().to_string()
    };
    assert!(refused("photo").contains("did you mean photos?"));
    foreign::<(u64, u64), &[u8]>(&place.path, "pairs", &[((1, 2), b"3")]);
    foreign::<u64, u64>(&place.path, "counts", &[(1, 2)]);
    foreign::<u64, &[u8]>(&place.path, "huge", &[(u64::MAX, b"")]);
    let said = refused("pairs");
    assert!(said.contains("keys of the type (u64,u64)") && said.contains("accepted: "), "{said}");
    assert!(refused("counts").contains("values of the type u64"));
    let store = case(&[("table", "huge")]).open(&place.path, Access::Read).unwrap();
    let mut session = store.session().unwrap();
    let scanned = session.scan(model::Scan::ALL, &mut |_| unreachable!("there is no other"));
    assert!(scanned.unwrap_err().to_string().contains("18446744073709551615"));
    let new = StoreFolder::new().unwrap();
    let said = case(&[("table", "photos")]).create(&new.path).err().unwrap().to_string();
    assert!(said.contains("table=photos") && !new.path.exists(), "{said}");
}
