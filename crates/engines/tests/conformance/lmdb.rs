//! What only LMDB does: a map of a fixed size, short keys, a lock file, one environment a process.

use std::{fs, path::Path};

use model::{Access, Batch, Error, ErrorKind, Key, KeyKind, Mode, Put};
use storemark_engines::registry;

use crate::{
    case::{Case, Ease, OwnedKey, StoreFolder, bytes, checked},
    neighbour::Neighbour,
};

fn case(pairs: &[(&str, &str)]) -> Case {
    let engine = registry::blobs("lmdb").unwrap();
    Case::new(engine, KeyKind::Integers, checked(engine, pairs))
}

/// What is said of a store that is not as LMDB leaves it. To say so changes nothing.
fn refused(path: &Path) -> Error {
    let data = || fs::read(path.join("data.mdb")).ok();
    let before = data();
    let [read, write] =
        [Access::Read, Access::Write].map(|access| case(&[]).open(path, access).err().unwrap());
    assert_eq!((read.to_string(), before), (write.to_string(), data()));
    read
}

#[test]
fn a_full_map_says_how_large_it_is_and_keeps_what_it_holds() {
    let place = StoreFolder::new().unwrap();
    let store = case(&[("map", "1MiB")]).create(&place.path).unwrap();
    let mut session = store.session().unwrap();
    session.write(&OwnedKey::Int(1), b"kept");
    let error = session.put(Key::Int(2), &bytes(2, 2_000_000), &Put::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failed);
    let says = error.to_string();
    assert!(says.contains("map=1048576, of which ") && says.contains("a larger map="), "{says}");
    session.write(&OwnedKey::Int(3), b"fits");
    assert_eq!(session.items().len(), 2);
}

#[test]
fn a_map_is_never_smaller_than_what_the_store_holds() {
    let place = StoreFolder::new().unwrap();
    let store = case(&[]).create(&place.path).unwrap();
    store.session().unwrap().write(&OwnedKey::Int(1), &bytes(1, 2_000_000));
    store.close().unwrap();
    let store = case(&[("map", "64KiB")]).open(&place.path, Access::Read).unwrap();
    assert!(store.in_effect().unwrap().0.parse::<u64>("map").unwrap() > 2_000_000);
    assert_eq!(store.session().unwrap().items().len(), 1);
}

#[test]
fn a_name_too_long_is_refused() {
    let place = StoreFolder::new().unwrap();
    let case = Case { keys: KeyKind::Names, ..case(&[]) };
    let store = case.create(&place.path).unwrap();
    let mut session = store.session().unwrap();
    session.write(&OwnedKey::Name(vec![b'n'; 511].into()), b"fits");
    for length in [0, 512, 5000] {
        let name = vec![b'n'; length];
        let error = session.put(Key::Name(&name), b"", &Put::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let says = error.to_string();
        assert!(says.ends_with(&format!("has {length} bytes; accepted: 1 to 511")), "{says}");
    }
    assert_eq!(session.items().len(), 1);
}

#[test]
fn beside_a_writer_in_the_process_it_is_refused() {
    let place = StoreFolder::new().unwrap();
    let store = case(&[]).filled(&place.path, 20).unwrap();
    for access in [Access::Read, Access::Write] {
        let error = case(&[]).open(&place.path, access).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("is open in this process already"), "{error}");
    }
    store.close().unwrap();
    case(&[]).open(&place.path, Access::Write).unwrap();
}

#[test]
fn opened_alike_to_read_it_may_be_open_twice_in_the_process() {
    for keys in [KeyKind::Integers, KeyKind::Names] {
        let [alike, unlike] =
            [&[][..], &[("readahead", "off")]].map(|pairs| Case { keys, ..case(pairs) });
        let place = StoreFolder::new().unwrap();
        alike.create_filled(&place.path, 20).unwrap();
        let [one, other] = [(); 2].map(|()| alike.open(&place.path, Access::Read).unwrap());
        let items = one.session().unwrap().items();
        one.close().unwrap();
        assert_eq!(other.session().unwrap().items(), items);
        let error = unlike.open(&place.path, Access::Read).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Usage);
        other.close().unwrap();
        unlike.open(&place.path, Access::Read).unwrap();
    }
}

#[test]
fn a_data_file_cut_short_or_of_another_kind_is_corrupt() {
    let place = StoreFolder::new().unwrap();
    case(&[]).create_filled(&place.path, 20).unwrap();
    let data = place.path.join("data.mdb");
    let good = fs::read(&data).unwrap();
    for length in [0, 20, 4096, 8192, good.len() / 2, good.len() - 1] {
        fs::write(&data, &good[..length]).unwrap();
        assert_eq!(refused(&place.path).kind(), ErrorKind::Corrupt, "{length} bytes");
    }
    fs::write(&data, "somebody's").unwrap();
    assert_eq!(refused(&place.path).kind(), ErrorKind::Corrupt);
    assert!(registry::recognise(&place.path).is_none(), "not a folder of files");
    fs::remove_file(&data).unwrap();
    assert_eq!(refused(&place.path).kind(), ErrorKind::Corrupt);
}

#[test]
fn pages_that_a_batch_gave_up_are_not_missed() {
    for close in [true, false] {
        let place = StoreFolder::new().unwrap();
        let store = case(&[]).filled(&place.path, 20).unwrap();
        let mut session = store.session().unwrap();
        session.begin(Mode::Write).unwrap();
        session.write(&OwnedKey::Int(99), &bytes(99, 1_000_000));
        assert!(session.delete(Key::Int(99)).unwrap());
        session.write(&OwnedKey::Int(3), b"other");
        session.commit().unwrap();
        drop(session);
        if close {
            store.close().unwrap();
        } else {
            drop(store);
        }
        let store = case(&[]).open(&place.path, Access::Read).unwrap();
        assert_eq!(store.session().unwrap().items().len(), 20);
    }
}

#[test]
fn beside_another_process_it_is_read_under_its_locks() {
    let place = StoreFolder::new().unwrap();
    case(&[]).create_filled(&place.path, 20).unwrap();
    let changes = || case(&[]).engine.reading_changes(&place.path, &case(&[]).settings, Batch::All);
    assert_eq!(changes(), None);
    let mut neighbour = Neighbour::with(&case(&[]), &place.path);
    if cfg!(unix) {
        assert!(changes().unwrap().contains("open elsewhere"));
    }
    let store = case(&[]).engine.join(&place.path, &case(&[]).options(Access::Write)).unwrap();
    let mut session = store.session().unwrap();
    assert_eq!(session.value(&OwnedKey::Int(0)).unwrap(), b"neighbour");
    session.write(&OwnedKey::Int(21), b"beside it");
    drop(session);
    if cfg!(target_os = "linux") {
        neighbour.is_waited_for(&*store);
    }
    store.close().unwrap();
    drop(neighbour);
    assert_eq!(changes(), None);
    let store = case(&[]).open(&place.path, Access::Read).unwrap();
    assert_eq!(store.session().unwrap().items().len(), 22);
}

#[test]
fn a_database_whose_name_no_target_can_have_is_named() {
    let place = StoreFolder::new().unwrap();
    let photos = Case { keys: KeyKind::Names, ..case(&[("database", "photos")]) };
    photos.create_filled(&place.path, 3).unwrap();
    let data = place.path.join("data.mdb");
    let mut bytes = fs::read(&data).unwrap();
    let found = bytes.windows(6).enumerate().filter(|(_, bytes)| *bytes == b"photos");
    let found: Vec<_> = found.map(|(at, _)| at).collect();
    for at in found {
        bytes[at..at + 6].copy_from_slice(b"ph\xfctos");
    }
    fs::write(&data, bytes).unwrap();
    let error = case(&[]).open(&place.path, Access::Read).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let said = error.to_string();
    assert!(said.contains("its database \"ph\\xfctos\" has a name that is not UTF-8"), "{said}");
}

#[test]
#[cfg(unix)]
fn a_lock_file_of_another_version_is_no_damage() {
    use std::os::unix::fs::FileExt;

    let place = StoreFolder::new().unwrap();
    case(&[]).create_filled(&place.path, 3).unwrap();
    let _neighbour = Neighbour::with(&case(&[]), &place.path);
    let lock =
        fs::OpenOptions::new().read(true).write(true).open(place.path.join("lock.mdb")).unwrap();
    // Its magic number has four bytes; the version of its format follows.
    let mut version = [0; 4];
    lock.read_exact_at(&mut version, 4).unwrap();
    lock.write_all_at(&version.map(|byte| !byte), 4).unwrap();
    let error = case(&[]).open(&place.path, Access::Read).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("another version of LMDB's format"), "{error}");
}
