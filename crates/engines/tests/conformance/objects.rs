//! What only object stores do: values in parts, and sums that find another value.
#![cfg(all(unix, feature = "s3"))]

use std::{fs, path::Path};

use model::{ErrorKind, KeyKind};

use crate::{
    case::{Case, Ease, StoreFolder, bytes, checked},
    servers::engine_unless_left_out,
};

fn case(pairs: &[(&str, &str)]) -> Option<Case> {
    let engine = engine_unless_left_out("s3")?;
    Some(Case::new(engine, KeyKind::Integers, checked(engine, pairs)))
}

/// The file in which rclone keeps an integer's value.
fn file(place: &StoreFolder, key: i64) -> std::path::PathBuf {
    place.path.join(Path::new("data/integers").join(format!("{key:019}")))
}

#[test]
fn a_value_in_parts_is_the_value() {
    for (concurrency, check) in [("1", "crc32"), ("4", "md5"), ("4", "none")] {
        let pairs = [("part", "5MiB"), ("concurrency", concurrency), ("check", check)];
        let Some(case) = case(&pairs) else { return };
        let place = StoreFolder::new().unwrap();
        let store = case.create(&place.path).unwrap();
        let mut session = store.session().unwrap();
        for (key, length) in [(1, 5 << 20), (2, (5 << 20) + 1), (3, 33_333_333)] {
            let value = bytes(key, length);
            session.write(&case.key(key), &value);
            assert!(fs::read(file(&place, key)).unwrap() == value, "{case}: put {length}");
            let mut room = vec![0; length + 7];
            assert_eq!(session.get(case.key(key).as_key(), &mut room).unwrap(), Some(length));
            assert!(room[..length] == value, "{case}: got {length}");
            let short = session.get(case.key(key).as_key(), &mut room[..length - 1]).unwrap();
            assert_eq!(short, Some(length));
        }
        drop(session);
        store.close().unwrap();
    }
}

/// Replaces the bytes of a file and leaves its time: rclone forgets the sum of one that has another.
fn damage(path: &Path, bytes: &[u8]) {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    fs::write(path, bytes).unwrap();
    fs::File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
}

#[test]
fn a_changed_value_is_found() {
    for check in ["crc32", "md5"] {
        let Some(case) = case(&[("check", check)]) else { return };
        let place = StoreFolder::new().unwrap();
        let store = case.create(&place.path).unwrap();
        let mut session = store.session().unwrap();
        session.write(&case.key(1), &bytes(1, 1000));
        damage(&file(&place, 1), &bytes(2, 1000));
        let error = session.get(case.key(1).as_key(), &mut [0; 1000]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("the value is damaged"), "{error}");
        drop(session);
        store.close().unwrap();
    }
}
