//! A table of the user's own in SQLite, and a part of another store that a user named, keep values as
//! storemark's own do.

use model::{Access, How, KeyKind, OwnedKey, Put};
use storemark_engines::registry;

use crate::case::{Case, Ease, StoreFolder, bytes, checked};

fn case(keys: KeyKind, key: &str) -> Case {
    let engine = registry::blobs("sqlite").unwrap();
    let pairs = [("table", "my \"own\" table"), ("key", key), ("value", "the value")];
    Case::new(engine, keys, checked(engine, &pairs))
}

fn cases() -> impl Iterator<Item = Case> {
    use KeyKind::{Integers, Names};
    let tables = [case(Integers, "the key"), case(Names, "name"), case(Names, "first, second")];
    let parts = [
        ("lmdb", "database", "photos"),
        ("lmdb", "database", ""),
        ("fjall", "keyspace", "photos"),
        ("rocksdb", "family", "photos"),
        ("rocksdb", "family", "default"),
    ];
    let parts = parts.into_iter().filter_map(|(engine, word, name)| {
        let engine = registry::blobs(engine).ok()?;
        Some(Case::new(engine, Names, checked(engine, &[(word, name)])))
    });
    parts.chain(tables)
}

#[test]
fn values_come_back_in_the_order_of_their_keys() {
    for case in cases() {
        let place = StoreFolder::new().unwrap();
        case.create_filled(&place.path, 50).unwrap();
        let store = case.open(&place.path, Access::Read).unwrap();
        assert_eq!(store.keys(), case.keys);
        let mut session = store.session().unwrap();
        let mut wanted: Vec<_> = (1..=50).map(|n| (case.key(n), bytes(n, 100))).collect();
        wanted.sort();
        assert_eq!(session.items(), wanted, "{case}");
        for (key, value) in &wanted {
            assert_eq!(session.value(key).as_ref(), Some(value), "{case}");
            assert_eq!(session.length(key.as_key()).unwrap(), Some(100));
        }
        assert_eq!(session.value(&case.key(51)), None);
        let several = case.settings.get("key").is_some_and(|key| key.contains(','));
        if !several {
            assert_eq!(session.items_from(&wanted[20].0, 5), wanted[20..25], "{case}");
        }
    }
}

#[test]
fn each_put_does_what_it_may() {
    for case in cases() {
        let place = StoreFolder::new().unwrap();
        let store = case.filled(&place.path, 3).unwrap();
        let mut session = store.session().unwrap();
        let mut put = |n, how| {
            let key = case.key(n);
            session.put(key.as_key(), b"new", &Put::new(how)).unwrap()
        };
        assert!(!put(1, How::Insert) && put(1, How::Update) && put(2, How::Upsert), "{case}");
        assert!(!put(4, How::Update) && put(4, How::Insert) && put(5, How::Upsert), "{case}");
        assert!(session.delete(case.key(3).as_key()).unwrap());
        assert!(!session.delete(case.key(3).as_key()).unwrap());
        let mut wanted = [1, 2, 4, 5].map(|n| (case.key(n), b"new".to_vec()));
        wanted.sort();
        assert_eq!(session.items(), wanted, "{case}");
    }
}

#[test]
fn a_name_that_is_no_key_of_its_columns_is_refused() {
    let case = cases().last().unwrap();
    let place = StoreFolder::new().unwrap();
    let store = case.filled(&place.path, 1).unwrap();
    let key = OwnedKey::Name((*b"one").into());
    let said = store.check_item(key.as_key(), 1).unwrap_err().to_string();
    assert!(said.ends_with("keys are text/text"), "{said}");
    assert!(store.session().unwrap().put(key.as_key(), b"", &Put::default()).is_err());
}
