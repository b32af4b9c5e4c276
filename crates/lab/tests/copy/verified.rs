//! What comparing finds.

use lab::{Differences, Silent, Stop};
use model::{ErrorKind, Key};

use crate::common::*;

#[test]
fn missing_extra_and_different_keys_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["pack", "sqlite"].map(|engine| at(engine, folder.path(), engine));
    integers(&a, 1000);
    integers(&b, 1000);
    for key in [1, 500, 1000] {
        delete(&b, Key::Int(key));
    }
    for key in [-5, 2000] {
        put(&b, Key::Int(key), b"extra");
    }
    let mut longer = value(2);
    longer.push(0);
    put(&b, Key::Int(2), &longer);
    let mut other = value(300);
    other[7] ^= 1;
    put(&b, Key::Int(300), &other);
    let verified = verify(&a, &b);
    let of = |keys: &[i64]| Differences {
        count: keys.len() as u64,
        first: keys.iter().map(i64::to_string).collect(),
    };
    assert_eq!(verified.missing, of(&[1, 500, 1000]));
    assert_eq!(verified.extra, of(&[-5, 2000]));
    assert_eq!(verified.different, of(&[2, 300]));
    assert_eq!(verified.same, 995);
    assert!(!verified.is_equal());
    assert_ne!(verified.digests[0], verified.digests[1]);
}

#[test]
fn only_the_first_keys_are_named_but_all_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| at("pack", folder.path(), name));
    integers(&a, 1000);
    integers(&b, 0);
    let verified = verify(&a, &b);
    assert_eq!((verified.missing.count, verified.missing.first.len()), (1000, Differences::SHOWN));
    assert_eq!(verify(&b, &a).extra.count, 1000);
}

#[test]
fn the_digest_depends_on_the_data_and_not_on_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["files", "sqlite"].map(|engine| at(engine, folder.path(), engine));
    integers(&a, 2);
    integers(&b, 2);
    // As documented, spelt out.
    let mut whole = blake3::Hasher::new();
    for key in [1_i64, 2] {
        whole.update(&key.to_le_bytes());
        whole.update(&(value(key).len() as u64).to_le_bytes());
        whole.update(blake3::hash(&value(key)).as_bytes());
    }
    let digest = whole.finalize().to_hex().to_string();
    assert_eq!(verify(&a, &b).digests, [digest.clone(), digest]);
}

#[test]
fn names_and_integers_do_not_compare() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| at("pack", folder.path(), name));
    integers(&a, 2);
    names(&b);
    let result = lab::verify([&place(&a), &place(&b)], None, None, &Silent, &Stop::new());
    let (kind, line) = complaint(result);
    assert_eq!(kind, ErrorKind::Usage);
    assert!(line.contains("a holds integers and ") && line.contains("b holds names"), "{line}");
}

#[test]
fn comparing_can_be_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let a = at("pack", folder.path(), "a");
    integers(&a, 2);
    let stop = Stop::new();
    stop.set();
    let (kind, _) = complaint(lab::verify([&place(&a), &place(&a)], None, None, &Silent, &stop));
    assert_eq!(kind, ErrorKind::Interrupted);
}

#[test]
fn a_damaged_store_is_named_and_equals_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["pack", "sqlite"].map(|engine| at(engine, folder.path(), engine));
    integers(&a, 1000);
    integers(&b, 1000);
    let path = folder.path().join("sqlite");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
    let verified = verify(&a, &b);
    assert!(!verified.is_equal());
    let damage = verified.damage.unwrap();
    assert!(damage.starts_with(&*path.to_string_lossy()), "{damage}");
}

/// A whole second is a time like any other where other times have nanoseconds.
#[test]
fn nanoseconds_count_where_both_stores_keep_them() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, c] = [("files", "a"), ("files", "b"), ("sqlite", "c")]
        .map(|(engine, name)| at(engine, folder.path(), name));
    names(&a);
    names(&b);
    copy(&a, &c).unwrap();
    let file = std::fs::File::open(folder.path().join("b/a b")).unwrap();
    let time = file.metadata().unwrap().modified().unwrap();
    file.set_modified(time - std::time::Duration::from_nanos(123_456_789)).unwrap();
    for (one, other) in [(&a, &b), (&b, &a)] {
        let verified = verify(one, other);
        assert_eq!((verified.other_meta.count, &*verified.other_meta.first[0]), (1, "a b"));
    }
    // That one keeps whole seconds.
    assert_equal(&a, &c);
    assert_equal(&b, &c);
}
