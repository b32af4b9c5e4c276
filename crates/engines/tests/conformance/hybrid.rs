//! What only a store of rows and files does: each row names a whole file, whenever its writer is killed,
//! and files that no row names are found, and removed by the next writer.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use model::{
    Access, Durability, Entry, EntryKind, ErrorKind, How, Key, KeyKind, Mode, Put, Removed, Store,
};
use storemark_engines::registry;

use crate::case::{Case, Ease, OwnedKey, StoreFolder, bytes, checked};

/// Larger values are files.
const INLINE: usize = 1000;
const KEYS: i64 = 12;
const WRITER: &str = "hybrid::writer";
const JOB: &str = "STOREMARK_TEST_HYBRID";

fn case(keys: KeyKind, class: Durability) -> Case {
    let engine = registry::blobs("hybrid").unwrap();
    let mut settings = checked(engine, engine.durability_settings(class).unwrap().settings);
    settings.set("inline", INLINE);
    Case::new(engine, keys, settings)
}

fn durable() -> Case {
    case(KeyKind::Integers, Durability::Durable)
}

/// A new store with keys 1 to 4, of which the even ones are files.
fn filled(case: &Case, place: &StoreFolder) -> Box<dyn Store> {
    let store = case.create(&place.path).unwrap();
    let mut session = store.session().unwrap();
    for n in 1..=4 {
        session.write(&case.key(n), &bytes(n, if n % 2 == 0 { 5000 } else { 500 }));
    }
    drop(session);
    store
}

/// The files that are values.
fn files(store: &Path) -> Vec<PathBuf> {
    fn walk(path: &Path, found: &mut Vec<PathBuf>) {
        for entry in path.read_dir().unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                walk(&entry.path(), found);
            } else {
                found.push(entry.path());
            }
        }
    }
    let mut found = Vec::new();
    walk(&store.join("hybrid.files"), &mut found);
    found.sort();
    found
}

fn complaints(store: &dyn Store) -> Vec<String> {
    store.integrity().unwrap().unwrap()
}

#[test]
fn a_value_is_a_row_up_to_the_limit_and_a_file_above() {
    for how in [How::Upsert, How::Update] {
        let (case, place) = (durable(), StoreFolder::new().unwrap());
        let store = case.create(&place.path).unwrap();
        let mut session = store.session().unwrap();
        session.write(&case.key(1), b"");
        for (length, count) in
            [(0, 0), (INLINE, 0), (INLINE + 1, 1), (INLINE, 0), (5000, 1), (6000, 1)]
        {
            let value = bytes(1, length);
            assert!(session.put(case.key(1).as_key(), &value, &Put::new(how)).unwrap());
            assert_eq!(files(&place.path).len(), count, "{how:?} {length}");
            assert_eq!(session.value(&case.key(1)).unwrap(), value);
        }
        assert!(session.delete(case.key(1).as_key()).unwrap());
        assert_eq!(files(&place.path), [""; 0].map(PathBuf::from));
    }
}

#[test]
fn a_replaced_value_has_a_new_file() {
    for class in [Durability::Consistent, Durability::Durable] {
        let (case, place) = (case(KeyKind::Names, class), StoreFolder::new().unwrap());
        let store = filled(&case, &place);
        let before = files(&place.path);
        store.session().unwrap().write(&case.key(2), &bytes(7, 5000));
        store.flush_writes().unwrap();
        let after = files(&place.path);
        assert_eq!(after.len(), 2);
        assert_eq!(after.iter().filter(|file| before.contains(file)).count(), 1);
    }
}

#[test]
fn what_is_forbidden_writes_no_file() {
    let (case, place) = (durable(), StoreFolder::new().unwrap());
    let store = filled(&case, &place);
    let before = files(&place.path);
    let mut session = store.session().unwrap();
    assert!(!session.put(case.key(2).as_key(), &bytes(9, 5000), &Put::new(How::Insert)).unwrap());
    assert!(!session.put(case.key(9).as_key(), &bytes(9, 5000), &Put::new(How::Update)).unwrap());
    assert!(!session.delete(case.key(9).as_key()).unwrap());
    assert_eq!(files(&place.path), before);
}

#[test]
fn the_limit_stays_that_of_the_store() {
    let (case, place) = (durable(), StoreFolder::new().unwrap());
    filled(&case, &place).close().unwrap();
    let other = Case { settings: checked(case.engine, &[("inline", "1")]), ..case };
    let store = other.open(&place.path, Access::Write).unwrap();
    assert_eq!(store.in_effect().unwrap().0.get("inline"), Some("1000"));
    store.session().unwrap().write(&other.key(1), &bytes(1, 500));
    assert_eq!(files(&place.path).len(), 2);
}

/// Another session's write between a reader's row and its file.
#[test]
fn a_reader_whose_file_was_replaced_reads_the_new_value() {
    let case = Case {
        settings: checked(
            durable().engine,
            &[("inline", "50"), ("journal", "wal"), ("sync", "full")],
        ),
        ..durable()
    };
    let place = StoreFolder::new().unwrap();
    let store = filled(&case, &place);
    let (mut reader, mut writer) = (store.session().unwrap(), store.session().unwrap());
    reader.begin(Mode::Read).unwrap();
    assert_eq!(reader.value(&case.key(1)).unwrap(), bytes(1, 500));
    writer.write(&case.key(2), &bytes(-2, 7000));
    writer.write(&case.key(3), b"short");
    assert!(writer.delete(case.key(4).as_key()).unwrap());
    assert_eq!(reader.value(&case.key(2)).unwrap(), bytes(-2, 7000));
    writer.write(&case.key(2), &bytes(-3, 7000));
    let items = reader.items();
    reader.commit().unwrap();
    let expected = [(1, bytes(1, 500)), (2, bytes(-3, 7000)), (3, b"short".to_vec())];
    assert_eq!(items, expected.map(|(n, value)| (case.key(n), value)));
}

#[test]
fn a_missing_or_shorter_file_is_damage() {
    for keys in [KeyKind::Integers, KeyKind::Names] {
        let (case, place) = (case(keys, Durability::Durable), StoreFolder::new().unwrap());
        filled(&case, &place).close().unwrap();
        let [first, second] = files(&place.path).try_into().unwrap();
        fs::write(&first, "short").unwrap();
        fs::remove_file(&second).unwrap();
        let store = case.open(&place.path, Access::Read).unwrap();
        let complaints = complaints(&*store);
        assert!(
            complaints.iter().any(|line| line.ends_with("has 5 of 5000 bytes")),
            "{complaints:?}"
        );
        assert!(complaints.iter().any(|line| line.ends_with("is missing")), "{complaints:?}");
        let mut session = store.session().unwrap();
        for n in [2, 4] {
            let error = session.get(case.key(n).as_key(), &mut [0; 8000]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
        }
        assert_eq!(session.value(&case.key(3)).unwrap(), bytes(3, 500));
    }
}

#[test]
fn files_that_no_row_names_are_reported_and_removed_by_the_next_writer() {
    let (case, place) = (durable(), StoreFolder::new().unwrap());
    filled(&case, &place).close().unwrap();
    let [first, _] = files(&place.path).try_into().unwrap();
    let orphan = first.with_file_name("77");
    fs::write(&orphan, "left").unwrap();
    let before = place.snapshot().unwrap();
    let store = case.open(&place.path, Access::Read).unwrap();
    let [Entry { name, kind, .. }] = store.left_out().unwrap().try_into().unwrap();
    assert_eq!(
        (kind, place.path.join(String::from_utf8(name).unwrap())),
        (EntryKind::Orphan, orphan)
    );
    assert_eq!(complaints(&*store), [""; 0]);
    store.close().unwrap();
    assert_eq!(place.snapshot().unwrap(), before);
    let store = case.open(&place.path, Access::Write).unwrap();
    assert_eq!(store.removed(), Removed { files: 1, bytes: 4 });
    assert_eq!(store.left_out().unwrap(), []);
    assert_eq!(files(&place.path).len(), 2);
    assert_eq!(store.session().unwrap().items().len(), 4);
    drop(store);
    assert_eq!(case.open(&place.path, Access::Write).unwrap().removed(), Removed::default());
}

/// One that opens the store for writing must not take the file of a batch under way for an orphan.
#[test]
fn a_file_whose_row_is_yet_to_come_is_no_orphan() {
    let (case, place) = (durable(), StoreFolder::new().unwrap());
    let store = filled(&case, &place);
    let mut session = store.session().unwrap();
    session.begin(Mode::Write).unwrap();
    session.write(&case.key(6), &bytes(6, 5000));
    std::thread::scope(|scope| {
        let other = scope.spawn(|| case.open(&place.path, Access::Write).map(drop));
        sleep(Duration::from_millis(50));
        session.commit().unwrap();
        other.join().unwrap().unwrap();
    });
    assert_eq!(session.value(&case.key(6)).unwrap(), bytes(6, 5000));
    assert_eq!(complaints(&*store), [""; 0]);
}

/// The process that is killed: puts and deletes, small and large, in batches and alone.
#[test]
#[ignore = "runs in a process of its own, started by the test below"]
fn writer() {
    let Ok(job) = env::var(JOB) else { return };
    let (class, path) = job.split_once(' ').unwrap();
    let case = case(KeyKind::Integers, class.parse().unwrap());
    let store = case.create(path.as_ref()).unwrap();
    let mut session = store.session().unwrap();
    fs::write(format!("{path}.started"), "").unwrap();
    for n in 0_i64.. {
        let batch = n % 3 == 0;
        if batch {
            session.begin(Mode::Write).unwrap();
        }
        for step in 0..if batch { KEYS } else { 1 } {
            let key = OwnedKey::Int((n * 7 + step) % KEYS);
            if (n + step) % 5 == 0 {
                session.delete(key.as_key()).unwrap();
            } else {
                session.write(&key, &value(n + step));
            }
        }
        if batch {
            session.commit().unwrap();
        }
    }
}

/// Up to 30 kB that show by themselves whether they are whole.
fn value(n: i64) -> Vec<u8> {
    let mut value = n.to_le_bytes().to_vec();
    value.extend(bytes(n, usize::try_from(n % 4).unwrap() * 10_000));
    value
}

fn whole(found: &[u8]) -> bool {
    found.first_chunk().is_some_and(|n| found == value(i64::from_le_bytes(*n)))
}

fn start(class: Durability, place: &StoreFolder) -> Child {
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", WRITER, "--ignored"])
        .env(JOB, format!("{class} {}", place.path.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let deadline = Instant::now() + Duration::from_secs(120);
    while !place.folder.join("store.started").exists() {
        assert!(Instant::now() < deadline, "the writer does not start");
        sleep(Duration::from_millis(1));
    }
    child.unwrap()
}

/// `STOREMARK_TORTURE` is how many are killed; each after another time, up to 0.4 s.
#[test]
fn a_killed_writer_leaves_no_row_without_its_file() {
    let kills = env::var("STOREMARK_TORTURE").map_or(6, |text| text.parse().unwrap());
    let (mut orphans, mut state) = (0, 1_u64);
    for n in 0..kills {
        let class = if n % 2 == 0 { Durability::Consistent } else { Durability::Durable };
        let (case, place) = (case(KeyKind::Integers, class), StoreFolder::new().unwrap());
        let mut child = start(class, &place);
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        sleep(Duration::from_micros((state >> 33) % 400_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let before = files(&place.path).len();
        let store = case.open(&place.path, Access::Write).unwrap();
        orphans += before - files(&place.path).len();
        assert_eq!(complaints(&*store), [""; 0], "kill {n}");
        assert_eq!(store.left_out().unwrap(), [], "kill {n}");
        let items = store.session().unwrap().items();
        assert!(items.iter().all(|(_, found)| whole(found)), "kill {n}: a torn value");
        let large = items.iter().filter(|(_, found)| found.len() > INLINE).count();
        assert_eq!(files(&place.path).len(), large, "kill {n}");
    }
    println!("torture: {kills} writers killed, {orphans} orphans removed");
}

#[test]
fn a_store_without_its_folder_is_refused() {
    let (case, place) = (durable(), StoreFolder::new().unwrap());
    filled(&case, &place).close().unwrap();
    fs::remove_dir_all(place.path.join("hybrid.files")).unwrap();
    let error = case.open(&place.path, Access::Read).err().unwrap();
    assert!(error.to_string().contains("hybrid.files"), "{error}");
    fs::create_dir(place.path.join("hybrid.files")).unwrap();
    let store = case.open(&place.path, Access::Read).unwrap();
    assert!(store.session().unwrap().get(Key::Int(2), &mut [0; 8000]).is_err());
}
