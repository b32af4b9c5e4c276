//! What is put is what is got.

use model::{Access, ErrorKind, How, Key, KeyKind, Mode, Put, Store};

use crate::case::{Case, Ease, OwnedKey, bytes, cases, each_store};

#[test]
fn a_value_is_put_got_and_deleted() {
    each_store(|case, store| {
        let mut session = store.session().unwrap();
        let key = case.key(1);
        assert_eq!(session.value(&key), None);
        session.write(&key, b"first");
        assert_eq!(session.value(&key).unwrap(), b"first");
        for value in [&b"other"[..], b"longer than before", b"short", b""] {
            session.write(&key, value);
            assert_eq!(session.value(&key).unwrap(), value);
        }
        assert!(session.delete(key.as_key()).unwrap());
        assert!(!session.delete(key.as_key()).unwrap());
        assert_eq!(session.value(&key), None);
    });
}

#[test]
fn insert_update_and_upsert_answer_whether_they_wrote() {
    each_store(|case, store| {
        let mut session = store.session().unwrap();
        let key = case.key(7);
        let mut put = |value: &[u8], how| {
            let answer = session.put(key.as_key(), value, &Put::new(how)).unwrap();
            (answer, session.value(&key))
        };
        assert_eq!(put(b"a", How::Update), (false, None));
        assert_eq!(put(b"b", How::Insert), (true, Some(b"b".to_vec())));
        assert_eq!(put(b"c", How::Insert), (false, Some(b"b".to_vec())));
        assert_eq!(put(b"d", How::Update), (true, Some(b"d".to_vec())));
        assert_eq!(put(b"e", How::Upsert), (true, Some(b"e".to_vec())));
    });
}

#[test]
fn sizes_around_pages_and_large_ones_come_back_whole() {
    each_store(|case, store| {
        let mut session = store.session().unwrap();
        for (n, length) in (1..).zip([0, 1, 4095, 4096, 4097, 1_000_000]) {
            session.write(&case.key(n), &bytes(n, length));
            assert_eq!(session.value(&case.key(n)).unwrap(), bytes(n, length), "{length} bytes");
        }
    });
}

#[test]
fn nothing_and_a_hundred_megabytes_come_back_whole() {
    let pattern = bytes(1, 1_000_003);
    let value: Vec<u8> = pattern.iter().copied().cycle().take(100_000_000).collect();
    let mut buffer = vec![0; value.len()];
    let mut check = |case: &Case, store: &dyn Store| {
        let mut session = store.session().unwrap();
        buffer.fill(0xAA);
        assert_eq!(session.get(case.key(1).as_key(), &mut buffer).unwrap(), Some(value.len()));
        assert!(buffer == value, "{case}");
        assert_eq!(session.get(case.key(2).as_key(), &mut buffer).unwrap(), Some(0), "{case}");
    };
    for case in cases().iter().filter(|case| case.engine.capabilities().retains) {
        if !case.settings.is_empty() || case.keys == KeyKind::Names {
            continue;
        }
        let place = case.place();
        let store = case.create(&place.path).unwrap();
        store.session().unwrap().write(&case.key(1), &value);
        store.session().unwrap().write(&case.key(2), b"");
        check(case, &*store);
        store.close().unwrap();
        if case.persistent() {
            check(case, &*case.open(&place.path, Access::Read).unwrap());
        }
    }
}

#[test]
fn a_short_buffer_stays_as_it_was_and_learns_the_length() {
    each_store(|case, store| {
        let mut session = store.session().unwrap();
        session.write(&case.key(1), &bytes(1, 5000));
        for room in [0, 1, 4999] {
            let mut buffer = vec![0xAA; room];
            assert_eq!(session.get(case.key(1).as_key(), &mut buffer).unwrap(), Some(5000));
            assert!(buffer.iter().all(|byte| *byte == 0xAA), "{room} bytes of room");
        }
        let mut buffer = vec![0xAA; 6000];
        assert_eq!(session.get(case.key(1).as_key(), &mut buffer).unwrap(), Some(5000));
        assert_eq!(buffer[..5000], bytes(1, 5000));
        assert!(buffer[5000..].iter().all(|byte| *byte == 0xAA));
    });
}

#[test]
fn a_length_is_that_of_the_value_also_within_a_batch() {
    each_store(|case, store| {
        let mut session = store.session().unwrap();
        let lengths = [0, 1, 4096, 150_000];
        for (n, length) in (1..).zip(lengths) {
            session.write(&case.key(n), &bytes(n, length));
        }
        for (n, length) in (1..).zip(lengths) {
            assert_eq!(session.length(case.key(n).as_key()).unwrap(), Some(length as u64));
        }
        session.begin(Mode::Write).unwrap();
        session.write(&case.key(1), &bytes(1, 70_000));
        assert!(session.delete(case.key(3).as_key()).unwrap());
        for (n, length) in [(1, Some(70_000)), (2, Some(1)), (3, None), (0, None), (9, None)] {
            assert_eq!(session.length(case.key(n).as_key()).unwrap(), length, "key {n}");
        }
        session.commit().unwrap();
        assert_eq!(session.length(case.key(1).as_key()).unwrap(), Some(70_000));
        assert_eq!(session.length(case.key(3).as_key()).unwrap(), None);
    });
}

#[test]
fn integers_of_any_size_and_sign_are_keys() {
    each_store(|case, store| {
        if case.keys == KeyKind::Names {
            return;
        }
        let mut session = store.session().unwrap();
        let keys = [i64::MIN, -1_234_567, -100, -1, 0, 1, 99, 100, 1_000_000, i64::MAX];
        for key in keys.iter().rev() {
            session.write(&OwnedKey::Int(*key), &key.to_le_bytes());
        }
        let items: Vec<_> =
            keys.iter().map(|key| (OwnedKey::Int(*key), key.to_le_bytes().to_vec())).collect();
        assert_eq!(session.items(), items);
        for gap in [-2, 2, 101, i64::MAX - 1, i64::MIN + 1] {
            assert_eq!(session.value(&OwnedKey::Int(gap)), None);
        }
    });
}

#[test]
fn a_key_of_the_other_kind_is_an_error() {
    each_store(|case, store| {
        let mut session = store.session().unwrap();
        let other = match case.keys {
            KeyKind::Integers => Key::Name(b"name"),
            KeyKind::Names => Key::Int(1),
        };
        let errors = [
            session.get(other, &mut []).err(),
            session.length(other).err(),
            session.put(other, b"", &Put::default()).err(),
            session.delete(other).err(),
        ];
        for error in errors {
            assert_eq!(error.unwrap().kind(), ErrorKind::Usage);
        }
    });
}
