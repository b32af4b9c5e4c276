//! What only a pack does: refusing files that are not whole packs.

use std::{fs, path::Path};

use model::{Access, Error, ErrorKind, KeyKind};
use storemark_engines::registry;

use crate::case::{Case, Ease, StoreFolder, checked};

fn case(io: &str) -> Case {
    let engine = registry::blobs("pack").unwrap();
    Case::new(engine, KeyKind::Integers, checked(engine, &[("io", io)]))
}

fn refused(path: &Path) -> Error {
    case("mmap").open(path, Access::Write).err().unwrap()
}

#[test]
fn a_pack_cut_short_or_changed_is_corrupt() {
    let place = StoreFolder::new().unwrap();
    case("pread").create_filled(&place.path, 10).unwrap();
    let good = fs::read(&place.path).unwrap();
    for length in [0, 5, 16, 40, good.len() / 2, good.len() - 1] {
        fs::write(&place.path, &good[..length]).unwrap();
        assert_eq!(refused(&place.path).kind(), ErrorKind::Corrupt, "{length} bytes");
    }
    for at in [0, good.len() - 1, good.len() - 30, good.len() - 60] {
        let mut bad = good.clone();
        bad[at] ^= 0x40;
        fs::write(&place.path, &bad).unwrap();
        assert_eq!(refused(&place.path).kind(), ErrorKind::Corrupt, "byte {at}");
    }
    let mut newer = good;
    newer[14] += 1;
    fs::write(&place.path, &newer).unwrap();
    assert_eq!(refused(&place.path).kind(), ErrorKind::Unsupported);
}

#[test]
fn a_pack_whose_writer_was_interrupted_says_so() {
    let place = StoreFolder::new().unwrap();
    let store = case("pread").filled(&place.path, 10).unwrap();
    store.flush_writes().unwrap();
    store.session().unwrap().write(&case("pread").key(11), b"not settled");
    let copy = place.folder.join("copy");
    fs::copy(&place.path, &copy).unwrap();
    let error = refused(&copy).to_string();
    assert!(error.contains("its writer was interrupted"), "{error}");
}

#[test]
fn values_written_behind_the_map_are_read_all_the_same() {
    let place = StoreFolder::new().unwrap();
    case("mmap").create(&place.path).unwrap().close().unwrap();
    let store = case("mmap").open(&place.path, Access::Write).unwrap();
    let mut session = store.session().unwrap();
    session.fill(&case("mmap"), 100);
    for n in 1..=100 {
        assert_eq!(session.value(&case("mmap").key(n)).unwrap(), crate::case::bytes(n, 100));
    }
}

#[test]
fn an_update_of_the_same_length_leaves_the_length_of_the_file() {
    let place = StoreFolder::new().unwrap();
    let store = case("pread").filled(&place.path, 10).unwrap();
    store.flush_writes().unwrap();
    let before = fs::metadata(&place.path).unwrap().len();
    store.session().unwrap().write(&case("pread").key(3), &[7; 100]);
    store.flush_writes().unwrap();
    assert_eq!(fs::metadata(&place.path).unwrap().len(), before);
}

#[test]
fn a_file_that_is_mapped_keeps_its_length_when_its_table_becomes_shorter() {
    let place = StoreFolder::new().unwrap();
    case("mmap").create_filled(&place.path, 10).unwrap();
    let before = fs::metadata(&place.path).unwrap().len();
    let store = case("mmap").open(&place.path, Access::Write).unwrap();
    let mut session = store.session().unwrap();
    (2..=10).for_each(|n| assert!(session.delete(case("mmap").key(n).as_key()).unwrap()));
    drop(session);
    store.flush_writes().unwrap();
    assert_eq!(fs::metadata(&place.path).unwrap().len(), before);
    let mut session = store.session().unwrap();
    session.write(&case("mmap").key(11), &[7; 100]);
    drop(session);
    store.close().unwrap();
    assert_eq!(fs::metadata(&place.path).unwrap().len(), before);
    let store = case("mmap").open(&place.path, Access::Read).unwrap();
    let mut session = store.session().unwrap();
    assert_eq!(session.value(&case("mmap").key(1)).unwrap(), crate::case::bytes(1, 100));
    assert_eq!(session.value(&case("mmap").key(11)).unwrap(), [7; 100]);
    assert!(session.value(&case("mmap").key(2)).is_none());
}
