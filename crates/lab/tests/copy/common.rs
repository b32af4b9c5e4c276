//! Stores to copy, and short ways to copy and look at them.

use std::{
    collections::BTreeMap,
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use lab::{Copied, CopyJob, Silent, Stop, StoreLocation, Verified};
use model::{
    Access, Error, Facet, Key, KeyKind, Meta, OpenOptions, Put, Result, Scan, Settings, TypedTarget,
};
use tempfile::TempDir;

/// A place from a target string.
pub(crate) fn place(target: &str) -> StoreLocation {
    let target = TypedTarget::parse(target);
    let engine = engines::registry::blobs(target.engine.as_deref().unwrap()).unwrap();
    let asked = target.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let settings = Settings::check(engine.settings(Facet::Blobs), asked).unwrap();
    StoreLocation { engine, path: target.location.into(), settings }
}

/// `engine:folder/name`
pub(crate) fn at(engine: &str, folder: &Path, name: &str) -> String {
    format!("{engine}:{}", folder.join(name).display())
}

pub(crate) fn job(from: &str, to: &str) -> CopyJob {
    CopyJob {
        from: place(from),
        to: place(to),
        force: false,
        resume: false,
        scratch: None,
        key_suffix: None,
    }
}

pub(crate) fn copy(from: &str, to: &str) -> Result<Copied> {
    run(&job(from, to))
}

pub(crate) fn force(from: &str, to: &str) -> Result<Copied> {
    run(&CopyJob { force: true, ..job(from, to) })
}

pub(crate) fn resume(from: &str, to: &str) -> Result<Copied> {
    run(&CopyJob { resume: true, ..job(from, to) })
}

pub(crate) fn run(job: &CopyJob) -> Result<Copied> {
    lab::copy(job, &Silent, &Stop::new())
}

pub(crate) fn verify(a: &str, b: &str) -> Verified {
    lab::verify([&place(a), &place(b)], None, None, &Silent, &Stop::new()).unwrap()
}

pub(crate) fn assert_equal(a: &str, b: &str) {
    let verified = verify(a, b);
    assert!(verified.is_equal(), "{a} and {b}: {verified:?}");
}

/// The one line of an error.
pub(crate) fn complaint<T>(result: Result<T>) -> (model::ErrorKind, String) {
    let error: Error = result.err().expect("an error");
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
    (error.kind(), error.to_string())
}

/// Bytes that depend on the key, from none to some 4 kB.
pub(crate) fn value(key: i64) -> Vec<u8> {
    let length = usize::try_from(key * 37 % 4001).unwrap();
    (0..length).map(|i| (i as u64 * 31 + key.unsigned_abs() * 17).to_le_bytes()[0]).collect()
}

/// Makes a store of keys 1 to `count`.
pub(crate) fn integers(target: &str, count: i64) {
    fill(target, KeyKind::Integers, |put| {
        for key in 1..=count {
            put(Key::Int(key), &value(key), None);
        }
    });
}

/// A folder with a pack of keys 1 to `count`.
pub(crate) fn source(count: i64) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let source = at("pack", folder.path(), "source");
    integers(&source, count);
    (folder, source)
}

/// Names with what tends to go wrong in them.
pub(crate) const NAMES: [&str; 8] =
    ["0/000001", "a b", "a-b", "a/b", "a/c/d", "empty", "ü/ß", "z'\"%_"];

/// Makes a store of named values, with modes and times where they are kept.
pub(crate) fn names(target: &str) {
    fill(target, KeyKind::Names, |put| {
        for (name, n) in NAMES.iter().zip(0..) {
            let meta = Meta {
                mode: 0o100_600 + (n % 2) * 0o44,
                seconds: 1_000_000_000 + i64::from(n),
                nanoseconds: 123_456_789,
            };
            let value = if *name == "empty" { Vec::new() } else { value(i64::from(n) + 40) };
            put(Key::Name(name.as_bytes()), &value, Some(meta));
        }
    });
}

type PutOne<'a> = dyn FnMut(Key<'_>, &[u8], Option<Meta>) + 'a;

fn fill(target: &str, keys: KeyKind, items: impl Fn(&mut PutOne<'_>)) {
    let place = place(target);
    let settings = place.settings.clone();
    let options = OpenOptions { settings, access: Access::Write, keys };
    let store = place.engine.create(&place.path, &options).unwrap();
    let mut session = store.session().unwrap();
    session.begin(model::Mode::Write).unwrap();
    items(&mut |key, value, meta| {
        assert!(session.put(key, value, &Put { meta, ..Put::default() }).unwrap());
    });
    session.commit().unwrap();
    drop(session);
    store.flush_writes().unwrap();
    store.close().unwrap();
}

/// Puts one value into an existing store.
pub(crate) fn put(target: &str, key: Key<'_>, value: &[u8]) {
    change(target, &mut |session| assert!(session.put(key, value, &Put::default()).unwrap()));
}

/// Takes one value out of an existing store.
pub(crate) fn delete(target: &str, key: Key<'_>) {
    change(target, &mut |session| assert!(session.delete(key).unwrap()));
}

fn change(target: &str, work: &mut dyn FnMut(&mut dyn model::Session)) {
    let place = place(target);
    let settings = place.settings.clone();
    let options = OpenOptions { settings, access: Access::Write, keys: KeyKind::Integers };
    let store = place.engine.open(&place.path, &options).unwrap();
    work(&mut *store.session().unwrap());
    store.close().unwrap();
}

/// Mode and seconds of every item.
pub(crate) fn metas(target: &str) -> BTreeMap<String, Meta> {
    let place = place(target);
    let settings = place.settings.clone();
    let options = OpenOptions { settings, access: Access::Read, keys: KeyKind::Names };
    let store = place.engine.open(&place.path, &options).unwrap();
    let mut all = BTreeMap::new();
    let mut session = store.session().unwrap();
    session
        .scan(Scan::ALL, &mut |item| {
            all.insert(item.key.to_string(), item.meta.unwrap());
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    all
}

/// The names in a folder, in order.
pub(crate) fn entries(folder: &Path) -> Vec<String> {
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

/// The folder in which a copy to `name` is made.
pub(crate) fn partial(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.storemark-partial"))
}
