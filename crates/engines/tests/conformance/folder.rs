//! What only a folder of files does: finding its layout, and leaving alone what is no value.
#![cfg(unix)]

use std::{
    fs,
    ops::ControlFlow,
    os::unix::{fs::symlink, net::UnixListener},
};

use model::{Access, EntryKind, ErrorKind, How, Key, KeyKind, Put, Result, Scan, Store};
use storemark_engines::registry;

use crate::case::{Case, Ease, OwnedKey, StoreFolder, checked};

fn case(pairs: &[(&str, &str)]) -> Case {
    let engine = registry::blobs("files").unwrap();
    Case::new(engine, KeyKind::Integers, checked(engine, pairs))
}

fn folder(files: &[&str]) -> StoreFolder {
    let place = StoreFolder::new().unwrap();
    fs::create_dir(&place.path).unwrap();
    for file in files {
        let path = place.path.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    place
}

fn open(place: &StoreFolder, pairs: &[(&str, &str)]) -> Result<Box<dyn Store>> {
    case(pairs).open(&place.path, Access::Read)
}

fn layout(place: &StoreFolder) -> String {
    open(place, &[]).unwrap().in_effect().unwrap().0.get("layout").unwrap().to_owned()
}

fn keys(place: &StoreFolder, pairs: &[(&str, &str)]) -> Vec<String> {
    let store = open(place, pairs).unwrap();
    let items = store.session().unwrap().items();
    items.iter().map(|(key, _)| key.as_key().to_string()).collect()
}

#[test]
fn the_layout_is_found() {
    for (files, expected) in [
        (&["000001", "-00002", "1234567"][..], "flat"),
        (&["00/00/01", "1234/56/78", "-1/-23/-45"], "tree"),
        (&["a.jpg", "b/c.jpg"], "names"),
        (&["00/00/01", "00/readme"], "names"),
        (&["00/00/01", "00/00/001"], "names"),
        (&["1", "2"], "names"),
        (&[], "flat"),
    ] {
        assert_eq!(layout(&folder(files)), expected, "{files:?}");
    }
}

#[test]
fn names_that_are_asked_for_may_all_be_numbers() {
    for files in [&["000001", "000033"][..], &["00/00/01"], &["000001", "readme"]] {
        let place = folder(files);
        let names = Case { keys: KeyKind::Names, ..case(&[]) };
        let store = names.open(&place.path, Access::Read).unwrap();
        assert_eq!(store.keys(), KeyKind::Names, "{files:?}");
        assert_eq!(store.session().unwrap().items().len(), files.len(), "{files:?}");
    }
}

#[test]
fn kvtests_files_are_its_keys() {
    assert_eq!(keys(&folder(&["000010", "000009", "-00001"]), &[]), ["-1", "9", "10"]);
    assert_eq!(keys(&folder(&["00/01/00", "00/00/99"]), &[]), ["99", "100"]);
}

#[test]
fn a_mixture_is_refused_and_names_the_first_odd_file() {
    let place = folder(&["000001", "readme", "notes/a", "000002"]);
    for pairs in [&[][..], &[("layout", "flat")], &[("layout", "tree")]] {
        // A layout that is named is believed until the keys are listed.
        let listed = open(&place, pairs).and_then(|store| {
            store.session()?.scan(Scan::LENGTHS, &mut |_| Ok(ControlFlow::Continue(())))
        });
        let error = listed.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        let odd = if pairs == [("layout", "tree")] { "000001" } else { "notes" };
        let says = format!(
            "{} is no dataset: {odd} is among kvtest's numbered files; layout=names takes every file by its path",
            place.path.display()
        );
        assert_eq!(error.to_string(), says);
    }
    let all = ["000001", "000002", "notes/a", "readme"];
    assert_eq!(keys(&place, &[("layout", "names")]), all);
}

#[test]
fn a_layout_must_fit_the_keys() {
    let names = Case { keys: KeyKind::Names, ..case(&[("layout", "tree")]) };
    for case in [names, case(&[("layout", "names")])] {
        let place = StoreFolder::new().unwrap();
        assert_eq!(case.create(&place.path).err().unwrap().kind(), ErrorKind::Usage);
        assert!(!place.path.exists());
    }
}

fn with_strangers() -> StoreFolder {
    let place = folder(&["file", "sub/file"]);
    let at = |name: &str| place.path.join(name);
    symlink("file", at("link")).unwrap();
    symlink("sub", at("folder-link")).unwrap();
    symlink("nowhere", at("sub/dangling")).unwrap();
    fs::create_dir_all(at("empty/inner")).unwrap();
    UnixListener::bind(at("socket")).unwrap();
    let pipe = at("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    place
}

#[test]
fn links_and_special_files_are_no_keys_and_block_nothing() {
    let place = with_strangers();
    assert_eq!(keys(&place, &[]), ["file", "sub/file"]);
    let store = case(&[]).open(&place.path, Access::Write).unwrap();
    let mut session = store.session().unwrap();
    for name in ["link", "folder-link", "pipe", "socket", "sub", "sub/dangling", "file/x"] {
        assert_eq!(session.value(&OwnedKey::Name(name.as_bytes().into())), None, "{name}");
        assert!(!session.delete(Key::Name(name.as_bytes())).unwrap());
        let insert = Put::new(How::Insert);
        let inserted = session.put(Key::Name(name.as_bytes()), b"x", &insert);
        assert!(!inserted.unwrap_or(false), "{name}");
    }
    assert_eq!(fs::read(place.path.join("file")).unwrap(), b"file");
}

#[test]
fn what_is_left_out_is_reported() {
    let place = with_strangers();
    let names = |wanted| {
        let mut entries = open(&place, &[]).unwrap().left_out().unwrap();
        entries.retain(|entry| entry.kind == wanted);
        entries.sort();
        entries.iter().map(|entry| Key::Name(&entry.name).to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(EntryKind::Link), "folder-link link sub/dangling");
    assert_eq!(names(EntryKind::Special), "pipe socket");
    assert_eq!(names(EntryKind::EmptyFolder), "empty/inner");
    assert_eq!(open(&folder(&["a", "b/c"]), &[]).unwrap().left_out().unwrap(), []);
    // Without what files have besides their bytes.
    let mut all = open(&place, &[]).unwrap().left_out().unwrap();
    all.retain(|entry| !entry.kind.is_property());
    let mut others = storemark_engines::not_values(&place.path).unwrap();
    all.sort();
    others.sort();
    assert_eq!(others, all);
}

#[test]
fn names_that_leave_the_folder_are_refused() {
    let place = folder(&["inside"]);
    let store = case(&[]).open(&place.path, Access::Write).unwrap();
    let mut session = store.session().unwrap();
    for name in ["", "/etc/x", "../x", "a/../../x", "a//b", "./a", "a\0b"] {
        let error = session.put(Key::Name(name.as_bytes()), b"", &Put::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{name:?}");
    }
    assert_eq!(place.snapshot().unwrap().len(), 3);
}

#[test]
fn files_being_written_are_no_keys() {
    let place = folder(&["000001", ".storemark-1-2-3.tmp"]);
    assert_eq!(layout(&place), "flat");
    assert_eq!(keys(&place, &[]), ["1"]);
    assert_eq!(keys(&place, &[("layout", "names")]), ["000001"]);
}

#[test]
fn a_rename_that_fails_leaves_no_temporary_file() {
    let place = folder(&["sub/file"]);
    let case = Case { keys: KeyKind::Names, ..case(&[("write", "rename")]) };
    let store = case.open(&place.path, Access::Write).unwrap();
    let mut session = store.session().unwrap();
    assert!(session.put(Key::Name(b"sub"), b"over a folder", &Put::default()).is_err());
    session.write(&OwnedKey::Name((*b"sub/other").into()), b"fine");
    assert_eq!(place.path.read_dir().unwrap().count(), 1);
    assert_eq!(place.path.join("sub").read_dir().unwrap().count(), 2);
}
