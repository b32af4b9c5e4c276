//! Any contents, from any engine to any other: a copy is the same in all that is compared, or it is
//! refused with one line and nothing is there.

use std::collections::BTreeMap;

use engines::registry;
use model::{
    Access, Blobs, EngineFacts, ErrorKind, Key, KeyKind, Meta, OpenOptions, Put, Settings,
    ValueType,
};
use proptest::{collection, prelude::*, sample::select};

use crate::common::*;

/// Those with files, without a server, that this build has.
fn engines() -> Vec<&'static str> {
    let on_disk = |engine: &&dyn Blobs| {
        engine.capabilities().persistent && engine.declaration().servers.is_none()
    };
    registry::all_blobs().filter(on_disk).map(EngineFacts::name).collect()
}

type Value = (Vec<u8>, ValueType, Option<Meta>);
type Contents = BTreeMap<Vec<u8>, Value>;

/// Few characters, so that some names start with others; sometimes what is hard to print or too long.
fn name() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => "[ab!]{1,2}(/[ab]{1,2}){0,2}".prop_map(String::into_bytes),
        1 => collection::vec(1..=255_u8, 1..6),
        1 => (250..260_usize).prop_map(|length| vec![b'n'; length]),
    ]
}

fn value(types: bool) -> impl Strategy<Value = (Vec<u8>, ValueType)> {
    let bytes = collection::vec(any::<u8>(), 0..300).prop_map(|value| (value, ValueType::Bytes));
    if !types {
        return bytes.boxed();
    }
    prop_oneof![
        6 => bytes,
        1 => "\\PC{0,20}".prop_map(|text| (text.into_bytes(), ValueType::Text)),
        1 => any::<i64>().prop_map(|n| (n.to_le_bytes().to_vec(), ValueType::Integer)),
        1 => (-1e9..1e9).prop_map(|n: f64| (n.to_le_bytes().to_vec(), ValueType::Real)),
        1 => Just((Vec::new(), ValueType::Null)),
    ]
    .boxed()
}

fn contents(types: bool) -> impl Strategy<Value = Contents> {
    let meta = (0..0o777_u32, -1_000_000_000..4_000_000_000_i64).prop_map(|(mode, seconds)| Meta {
        mode: 0o100_400 | mode,
        seconds,
        nanoseconds: 0,
    });
    let value = (value(types), meta).prop_map(|((value, of), meta)| (value, of, Some(meta)));
    collection::btree_map(name(), value, 0..12)
}

/// Engines, and what the first is filled with.
fn case() -> impl Strategy<Value = (&'static str, &'static str, Contents)> {
    (select(engines()), select(engines())).prop_flat_map(|(from, to)| {
        let types = registry::blobs(from).unwrap().capabilities().types;
        (Just(from), Just(to), contents(types))
    })
}

/// Puts what the engine takes into a new store, and returns that.
fn fill(target: &str, contents: &Contents) -> Contents {
    let place = place(target);
    let settings = Settings::default();
    let options = OpenOptions { settings, access: Access::Write, keys: KeyKind::Names };
    let store = place.engine.create(&place.path, &options).unwrap();
    let mut session = store.session().unwrap();
    let mut held = Contents::new();
    for (name, (value, of, meta)) in contents {
        let put = Put { value_type: *of, meta: *meta, ..Put::default() };
        let fits = store.check_item(Key::Name(name), value.len() as u64).is_ok();
        // A file stands in the way of a folder of its name.
        if fits && session.put(Key::Name(name), value, &put).is_ok_and(|put| put) {
            held.insert(name.clone(), (value.clone(), *of, *meta));
        }
    }
    drop(session);
    store.flush_writes().unwrap();
    store.close().unwrap();
    held
}

fn is_file_and_folder(contents: &Contents) -> bool {
    contents.keys().any(|name| {
        let folder = [&name[..], b"/"].concat();
        contents.keys().any(|other| other.starts_with(&folder))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_copy_is_the_same_or_is_not_there((from, to, contents) in case()) {
        let folder = tempfile::tempdir().unwrap();
        let source = at(from, folder.path(), "source") + settings(from);
        let copied = at(to, folder.path(), "copy") + settings(to);
        let held = fill(&source, &contents);
        let bytes: usize = held.values().map(|(value, ..)| value.len()).sum();
        let can = registry::blobs(to).unwrap().capabilities();
        match copy(&source, &copied) {
            Ok(done) => {
                prop_assert_eq!((done.count, done.bytes), (held.len() as u64, bytes as u64));
                let verified = verify(&source, &copied);
                prop_assert!(verified.is_equal(), "{} to {}: {:?}", from, to, verified);
                prop_assert_eq!(verified.same, held.len() as u64);
                prop_assert_eq!(verified.totals[0], verified.totals[1]);
                prop_assert_eq!(&verified.digests[0], &verified.digests[1]);
            }
            Err(error) => {
                prop_assert_eq!(error.to_string().lines().count(), 1);
                prop_assert!(!error.to_string().contains("--resume"), "{}", error);
                prop_assert!(matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::Usage));
                prop_assert_eq!(entries(folder.path()), ["source"]);
                let typed = held.values().any(|(_, of, _)| *of != ValueType::Bytes);
                let paths = is_file_and_folder(&held) || held.keys().any(|name| hard(name));
                let times = to == "zip" && held.values().any(|(.., meta)| meta.is_some_and(is_in_no_zip));
                // What an archive has can be unpacked.
                let takes_paths = can.paths || can.written_once;
                let refused = typed && !can.types || paths && takes_paths || times;
                prop_assert!(refused, "{}", error);
            }
        }
    }
}

/// The time in an entry of a zip archive is seconds since 1970 in 32 bits with a sign.
fn is_in_no_zip(meta: Meta) -> bool {
    !(0..=i64::from(i32::MAX)).contains(&meta.seconds)
}

/// What no file system takes, or not as a path below a folder.
fn hard(name: &[u8]) -> bool {
    let bad = |part: &[u8]| part.len() > 255 || matches!(part, b"" | b"." | b"..");
    name.split(|byte| *byte == b'/').any(bad)
}

/// Names may all look like kvtest's numbers, and half of the values are files.
fn settings(engine: &str) -> &'static str {
    match engine {
        "files" => "?layout=names",
        "hybrid" => "?inline=150",
        _ => "",
    }
}
