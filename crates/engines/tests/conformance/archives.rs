//! Archives: written once, and read as they are, whoever wrote them.

use std::fs;

use model::{Access, EntryKind, ErrorKind, How, Item, Key, KeyKind, Meta, Put, Scan, Store};
use proptest::prelude::*;
use storemark_engines::registry;

use crate::case::{Case, Ease, OwnedKey, StoreFolder, bytes, checked};

fn case(name: &str, pairs: &[(&str, &str)], keys: KeyKind) -> Case {
    let engine = registry::blobs(name).unwrap();
    Case::new(engine, keys, checked(engine, pairs))
}

/// Both engines with each of their settings and kinds of keys.
fn cases() -> Vec<Case> {
    let settings: [(&str, &[(&str, &str)]); 4] = [
        ("tar", &[]),
        ("zip", &[]),
        ("zip", &[("method", "stored")]),
        ("zip", &[("method", "deflated")]),
    ];
    let kinds = [KeyKind::Integers, KeyKind::Names];
    let of = |(name, pairs): &(&str, &[(&str, &str)])| kinds.map(|keys| case(name, pairs, keys));
    settings.iter().flat_map(of).collect()
}

fn opened(case: &Case, place: &StoreFolder) -> Box<dyn Store> {
    case.open(&place.path, Access::Read).unwrap()
}

#[test]
fn an_archive_holds_what_was_written_and_does_not_change() {
    for case in cases() {
        let place = StoreFolder::new().unwrap();
        let store = case.create(&place.path).unwrap();
        let mut session = store.session().unwrap();
        for n in 0..50 {
            let length = usize::try_from(n * 997).unwrap();
            session.write(&case.key(n), &bytes(n, length));
        }
        session.write(&case.key(50), &vec![7; 300_000]);
        let again = Put::new(How::Insert);
        assert!(!session.put(case.key(3).as_key(), b"no", &again).unwrap(), "{case}");
        assert!(session.put(case.key(3).as_key(), b"no", &Put::default()).is_err(), "{case}");
        drop(session);
        store.close().unwrap();

        let before = place.snapshot().unwrap();
        assert!(case.engine.recognises(&place.path));
        assert_eq!(registry::recognise(&place.path).unwrap().name(), case.engine.name());
        let store = opened(&case, &place);
        assert_eq!(store.keys(), case.keys);
        let (settings, _) = store.in_effect().unwrap();
        assert!(case.settings.0.iter().all(|(name, word)| settings.is(name, word)), "{settings}");
        let mut session = store.session().unwrap();
        for n in 0..50 {
            let length = usize::try_from(n * 997).unwrap();
            assert_eq!(session.value(&case.key(n)).unwrap(), bytes(n, length), "{case}");
            assert_eq!(session.length(case.key(n).as_key()).unwrap(), Some(length as u64));
        }
        assert_eq!(session.value(&case.key(50)).unwrap(), vec![7; 300_000]);
        assert_eq!(session.value(&case.key(51)), None);
        let all = session.items();
        assert!(all.len() == 51 && all.is_sorted_by_key(|(key, _)| key.clone()), "{case}");
        assert_eq!(session.items_from(&all[20].0, 7), all[20..27]);
        assert!(session.put(case.key(1).as_key(), b"no", &Put::default()).is_err());
        assert!(session.delete(case.key(1).as_key()).is_err());
        assert!(store.integrity().unwrap().is_none_or(|complaints| complaints.is_empty()));
        drop(session);
        store.close().unwrap();
        assert_eq!(place.snapshot().unwrap(), before, "{case}");
    }
}

#[test]
fn an_archive_without_values_is_one() {
    for case in cases() {
        let place = StoreFolder::new().unwrap();
        case.create_filled(&place.path, 0).unwrap();
        assert!(case.engine.recognises(&place.path), "{case}");
        assert_eq!(opened(&case, &place).session().unwrap().items(), []);
    }
}

#[test]
fn names_modes_and_times_come_back() {
    for name in ["tar", "zip"] {
        let case = case(name, &[], KeyKind::Names);
        let place = StoreFolder::new().unwrap();
        let store = case.create(&place.path).unwrap();
        let mut session = store.session().unwrap();
        let long = [&[b'd'; 200][..], b"/", &[b'n'; 200]].concat();
        let names: [&[u8]; 5] = [b"a b", b"\xFF\xFE", "ä/é".as_bytes(), &[b'x'; 100], &long];
        let seconds = [0, 1, 1_700_000_000, 2_147_483_647, 86_399];
        for (name, seconds) in names.iter().zip(seconds) {
            let meta = Some(Meta { mode: 0o104_751, seconds, nanoseconds: 0 });
            assert!(session.put(Key::Name(name), name, &Put { meta, ..Put::default() }).unwrap());
        }
        for bad in ["", "/a", "../a", "a/../b", "a//b", "./a", "a/"] {
            assert!(
                session.put(Key::Name(bad.as_bytes()), b"", &Put::default()).is_err(),
                "{bad:?}"
            );
        }
        drop(session);
        store.close().unwrap();
        let store = opened(&case, &place);
        let mut count = 0;
        let mut session = store.session().unwrap();
        let check = &mut |item: Item<'_>| {
            let at = names.iter().position(|name| Key::Name(name) == item.key).unwrap();
            let meta = Meta { mode: 0o104_751, seconds: seconds[at], nanoseconds: 0 };
            assert_eq!((item.value, item.meta), (names[at], Some(meta)));
            count += 1;
            Ok(std::ops::ControlFlow::Continue(()))
        };
        session.scan(Scan::ALL, check).unwrap();
        assert_eq!(count, names.len());
    }
}

#[test]
fn an_archive_cut_short_is_corrupt() {
    for case in cases() {
        let place = StoreFolder::new().unwrap();
        case.create_filled(&place.path, 12).unwrap();
        let good = fs::read(&place.path).unwrap();
        // A tar archive is whole with the first block of zeros.
        let end = if case.engine.name() == "tar" { 12 * 1024 + 512 } else { good.len() };
        for length in (0..end).step_by(61).chain([end - 1]) {
            fs::write(&place.path, &good[..length]).unwrap();
            let error = case.open(&place.path, Access::Read).err();
            let error = error.unwrap_or_else(|| panic!("{case}: {length} bytes of {}", good.len()));
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        }
    }
}

/// An archive of three values with every byte changed: it is refused, or read, or a value is named.
#[test]
fn a_changed_byte_is_no_panic_and_shows_in_a_zip() {
    for case in cases() {
        let place = StoreFolder::new().unwrap();
        case.create_filled(&place.path, 3).unwrap();
        let good = fs::read(&place.path).unwrap();
        let items = opened(&case, &place).session().unwrap().items();
        let has_checksums = case.engine.declaration().integrity.is_some();
        for at in (0..good.len().min(3000)).step_by(3) {
            let mut bad = good.clone();
            bad[at] ^= 0x55;
            fs::write(&place.path, &bad).unwrap();
            let Ok(store) = case.open(&place.path, Access::Read) else { continue };
            let mut found = Vec::new();
            let scanned = store.session().unwrap().scan(Scan::ALL, &mut |item| {
                found.push((OwnedKey::from(item.key), item.value.to_vec()));
                Ok(std::ops::ControlFlow::Continue(()))
            });
            let complaints = store.integrity().unwrap();
            assert_eq!(complaints.is_some(), has_checksums);
            if has_checksums && scanned.is_ok() {
                let of = |all: &[(OwnedKey, Vec<u8>)]| all.iter().map(|(_, v)| v.clone()).collect();
                let (found, good): (Vec<_>, Vec<_>) = (of(&found), of(&items));
                assert!(found.iter().all(|value| good.contains(value)), "{case}: byte {at}");
            }
        }
    }
}

#[test]
fn of_entries_of_one_name_the_last_counts_and_the_others_are_said() {
    let place = StoreFolder::new().unwrap();
    let mut one = Vec::new();
    for value in [&b"old"[..], b"new"] {
        let case = case("tar", &[], KeyKind::Names);
        let part = StoreFolder::new().unwrap();
        let store = case.create(&part.path).unwrap();
        store.session().unwrap().write(&OwnedKey::Name((*b"a").into()), value);
        store.close().unwrap();
        // The header and the block of the value.
        one.extend(&fs::read(&part.path).unwrap()[..1024]);
    }
    one.extend([0; 1024]);
    fs::write(&place.path, one).unwrap();
    let store = opened(&case("tar", &[], KeyKind::Names), &place);
    let name = OwnedKey::Name((*b"a").into());
    assert_eq!(store.session().unwrap().value(&name).unwrap(), b"new");
    let left_out = store.left_out().unwrap();
    assert_eq!(left_out.len(), 1);
    assert_eq!((left_out[0].kind, &*left_out[0].name), (EntryKind::Earlier, &b"a"[..]));
}

proptest! {
    #[test]
    fn any_values_come_back(values in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..2000), 0..6), run in 0..40_000_usize) {
        for case in cases() {
            let place = StoreFolder::new().unwrap();
            let store = case.create(&place.path).unwrap();
            let mut session = store.session().unwrap();
            let repeated = vec![9; run];
            for (n, value) in (1..).zip(values.iter().chain([&repeated])) {
                session.write(&case.key(n), value);
            }
            drop(session);
            store.close().unwrap();
            let store = opened(&case, &place);
            let mut session = store.session().unwrap();
            for (n, value) in (1..).zip(values.iter().chain([&repeated])) {
                prop_assert_eq!(&session.value(&case.key(n)).unwrap(), value);
            }
        }
    }
}
